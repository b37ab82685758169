package domain

import (
	"context"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Sizes of a re-check: so many look-ups at once, and so many domains read at a time.
const (
	recheckAtOnce = 16
	recheckBatch  = 256
)

// Recheck looks up the MX records of the verified domains whose time has come. A domain whose MX record was missing on
// policy.SuspendAfter checks in a row is suspended until Verify brings it back. Only an authoritative "no" counts: time-outs
// and failures of DNS neither count nor begin the count anew (decisions §2 Private domain).
func (s *Service) Recheck(ctx context.Context) error {
	for {
		due, err := many(ctx, s.db, selectDue, s.clock.Now().UnixMicro(), recheckBatch)
		if err != nil {
			return err
		}
		if err := s.recheckAll(ctx, due); err != nil || len(due) < recheckBatch {
			return err
		}
	}
}

func (s *Service) recheckAll(ctx context.Context, due []*Private) error {
	var workers sync.WaitGroup
	var once sync.Once
	var failed error
	queue := make(chan *Private)
	for range min(recheckAtOnce, len(due)) {
		workers.Go(func() {
			for p := range queue {
				if err := s.recheck(ctx, p); err != nil {
					once.Do(func() { failed = err })
				}
			}
		})
	}
	for _, p := range due {
		queue <- p
	}
	close(queue)
	workers.Wait()
	return failed
}

func (s *Service) recheck(ctx context.Context, p *Private) error {
	mx := s.findMX(ctx, p.Name)
	if err := ctx.Err(); err != nil { // what was found is that nobody waited for an answer
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		now, err := one(ctx, tx, selectByID, p.ID)
		if err != nil || now == nil || now.Status != Verified || !now.CheckedAt.Equal(p.CheckedAt) {
			return err // it went, or somebody has looked since
		}
		return s.judgeTx(ctx, tx, now, mx)
	})
}

// judgeTx writes what a re-check found, and suspends the domain where it was once too often.
func (s *Service) judgeTx(ctx context.Context, tx *db.Tx, p *Private, mx finding) error {
	now := s.clock.Now()
	p.note(finding{}, mx, now)
	switch {
	case mx.ok:
		p.misses = 0
	case mx.answered:
		p.misses++
	}
	p.nextCheck = s.nextCheck(now)
	if p.misses < s.policy.SuspendAfter {
		return saveTx(ctx, tx, p)
	}
	p.Status, p.nextCheck = Suspended, time.Time{}
	tx.AfterCommit(func() { s.forget(p.Name) })
	if err := saveTx(ctx, tx, p); err != nil {
		return err
	}
	return s.tellTx(ctx, tx, p, now, suspended)
}

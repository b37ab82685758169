package domain

import (
	"context"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Bounds of a re-check.
const (
	recheckWorkers = 16  // concurrent lookups
	recheckBatch   = 256 // domains read at once
)

// Recheck looks up the MX records of the verified domains that are due. It suspends a domain whose MX record was
// missing on Policy.SuspendAfter consecutive checks, until Verify verifies it again. Only authoritative answers count:
// timeouts and failures of DNS neither count nor reset the count (docs/spec/domains.md#re-check-and-suspension).
//
// It reads the due domains in batches, until a batch is not full. Several processes may run it at the same time: a domain
// that one of them has checked in the meantime is not stored again by another.
func (s *Service) Recheck(ctx context.Context) error {
	for {
		due, err := listPrivate(ctx, s.db, selectDue, s.clock.Now().UnixMicro(), recheckBatch)
		if err != nil {
			return err
		}
		if err := s.recheckAll(ctx, due); err != nil || len(due) < recheckBatch {
			return err
		}
	}
}

// recheckAll re-checks domains with at most recheckWorkers goroutines, which end before it returns. It continues after an
// error, and returns the first one.
func (s *Service) recheckAll(ctx context.Context, due []*Private) error {
	var workers sync.WaitGroup
	var once sync.Once
	var failed error
	queue := make(chan *Private)
	for range min(recheckWorkers, len(due)) {
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

// recheck looks up the MX record of a domain and stores the result. It does not look up the TXT record, which owners may
// remove after the verification.
func (s *Service) recheck(ctx context.Context, p *Private) error {
	mx := s.lookupMX(ctx, p.Name)
	if err := ctx.Err(); err != nil { // the lookup was canceled
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		current, err := getPrivate(ctx, tx, selectByID, p.ID)
		if err != nil || current == nil || current.Status != Verified || !current.CheckedAt.Equal(p.CheckedAt) {
			return err // it was deleted, or checked concurrently
		}
		return s.applyRecheckTx(ctx, tx, current, mx)
	})
}

// applyRecheckTx stores the result of a re-check, and suspends the domain if its MX record was missing too often. It sets
// nextCheck even if DNS failed, so that Recheck does not look up the same domain in a loop.
func (s *Service) applyRecheckTx(ctx context.Context, tx *db.Tx, p *Private, mx lookupResult) error {
	now := s.clock.Now()
	p.setResults(lookupResult{}, mx, now)
	switch {
	case mx.ok:
		p.failedChecks = 0
	case mx.authoritative:
		p.failedChecks++
	}
	p.nextCheck = s.nextCheck(now)
	if p.failedChecks < s.policy.SuspendAfter {
		return saveTx(ctx, tx, p)
	}
	p.Status, p.nextCheck = Suspended, time.Time{}
	tx.AfterCommit(func() { s.holderChanged(p.Name) })
	if err := saveTx(ctx, tx, p); err != nil {
		return err
	}
	if err := s.publishTx(ctx, tx, p, now, suspendedEvent); err != nil || s.onSuspended == nil {
		return err
	}
	return s.onSuspended(ctx, tx, p)
}

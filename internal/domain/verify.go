package domain

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// takeovers bounds how often Verify comes back after it has taken a suspended domain from its holder: once is enough
// unless others do the same at the same moment.
const takeovers = 3

// Verify looks up the records of a private domain and, where both prove it, makes it verified, whatever it was before.
// A holder that is suspended loses it to who proves it. boxes are told of the mailboxes that end with such a holder.
//
// Errors: domain.not_found; domain.verification_failed with a field for each record that failed, whose pointer is its
// place in the domain's records, or with a detail where another account has proven the domain.
func (s *Service) Verify(ctx context.Context, account id.Account, domain id.Domain, boxes Mailboxes) (*Private, error) {
	p, err := s.owned(ctx, s.db, account, domain)
	if err != nil {
		return nil, err
	}
	if s.own(p.Name) { // since it was claimed
		return nil, problem.Detailf(problem.DomainVerificationFailed, "it has become one of the service's own domains, or is below one")
	}
	txt, mx := s.lookup(ctx, p)
	if !txt.ok || !mx.ok {
		return nil, s.failed(ctx, p, txt, mx)
	}
	for range takeovers {
		verified, former, err := s.prove(ctx, account, domain)
		if err != nil || former == nil {
			return verified, err
		}
		if err := s.release(ctx, former.ID, boxes); err != nil {
			return nil, err
		}
	}
	return nil, taken()
}

func taken() error {
	return problem.Detailf(problem.DomainVerificationFailed, "the records are right, but another account has proven the domain")
}

// lookup asks for both records at the same time.
func (s *Service) lookup(ctx context.Context, p *Private) (txt, mx finding) {
	var both sync.WaitGroup
	both.Go(func() { txt = s.findTXT(ctx, p) })
	both.Go(func() { mx = s.findMX(ctx, p.Name) })
	both.Wait()
	return txt, mx
}

// failed notes what was found and says what is wrong with it.
func (s *Service) failed(ctx context.Context, p *Private, txt, mx finding) error {
	told := problem.New(problem.DomainVerificationFailed)
	for i, f := range []finding{txt, mx} {
		if !f.ok {
			told.Fields = append(told.Fields, problem.Field{Pointer: fmt.Sprintf("/records/%d", i), Message: f.message})
		}
	}
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := s.owned(ctx, tx, p.Account, p.ID) // it may have gone while DNS was asked
		if err != nil {
			return err
		}
		p.note(txt, mx, s.clock.Now())
		return saveTx(ctx, tx, p)
	})
	if err != nil {
		return err
	}
	return told
}

// note keeps what a look-up found; one without an answer says nothing about the record.
func (p *Private) note(txt, mx finding, now time.Time) {
	if txt.answered {
		p.txtOK = txt.ok
	}
	if mx.answered {
		p.mxOK = mx.ok
	}
	if txt.answered || mx.answered {
		p.CheckedAt = now.Truncate(time.Microsecond)
	}
}

// prove makes a domain verified whose records were found to be right. Where a suspended holder stands in the way it
// returns that one instead, on its way out, to be released first.
func (s *Service) prove(ctx context.Context, account id.Account, domain id.Domain) (p, former *Private, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		former = nil
		if p, err = s.owned(ctx, tx, account, domain); err != nil {
			return err
		}
		other, err := one(ctx, tx, selectProven, p.Name)
		switch {
		case err != nil:
			return err
		case other == nil || other.ID == p.ID:
			return s.proveTx(ctx, tx, p)
		case other.Status == Suspended:
			former = other
			return s.endTx(ctx, tx, other)
		}
		return taken()
	})
	return p, former, err
}

func (s *Service) proveTx(ctx context.Context, tx *db.Tx, p *Private) error {
	now := s.clock.Now().Truncate(time.Microsecond)
	news := p.Status != Verified
	if news {
		p.Status, p.VerifiedAt = Verified, now
	}
	p.CheckedAt, p.txtOK, p.mxOK, p.misses, p.nextCheck = now, true, true, 0, s.nextCheck(now)
	tx.AfterCommit(func() { s.forget(p.Name) })
	if err := saveTx(ctx, tx, p); err != nil || !news {
		return err
	}
	return s.tellTx(ctx, tx, p, now, verified)
}

// spread is the part of the time between two re-checks, one in so many, by which a next one may come early: domains that
// were verified together drift apart.
const spread = 10

// nextCheck is when a domain is looked up again that was looked up now.
func (s *Service) nextCheck(now time.Time) time.Time {
	early, err := rand.Int(rand.Reader, big.NewInt(int64(s.policy.RecheckEvery/spread)+1))
	if err != nil {
		panic(err) // crypto/rand ends the program itself before it fails
	}
	return now.Add(s.policy.RecheckEvery - time.Duration(early.Int64()))
}

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

// maxTakeovers limits how often Verify tries again after it has deleted the claim of a suspended holder. One attempt suffices unless
// other accounts verify the same domain concurrently.
const maxTakeovers = 3

// Verify looks up the records of a private domain and sets its status to verified if both are right. A suspended holder
// loses the domain, and its mailboxes there are destroyed.
//
// A verified domain may be verified again, which updates the results of the lookups and resets the count of failed checks.
// If its records are wrong it stays verified, since only Recheck suspends domains. Errors: domain.not_found;
// domain.verification_failed, with a field for each wrong record, whose pointer is the record's index in Records, or with
// a detail if another account has verified the domain.
func (s *Service) Verify(ctx context.Context, account id.Account, domain id.Domain, boxes Mailboxes) (*Private, error) {
	p, err := s.getOwned(ctx, s.db, account, domain)
	if err != nil {
		return nil, err
	}
	if s.isOwn(p.Name) { // the operator may have added a public domain since the claim
		return nil, problem.Detailf(problem.DomainVerificationFailed, "it has become one of the service's own domains, or a subdomain of one")
	}
	txt, mx := s.lookup(ctx, p)
	if !txt.ok || !mx.ok {
		return nil, s.verificationFailed(ctx, p, txt, mx)
	}
	for range maxTakeovers {
		verified, former, err := s.markVerified(ctx, account, domain)
		if err != nil || former == nil {
			return verified, err
		}
		if err := s.finishDeletion(ctx, former.ID, boxes); err != nil {
			return nil, err
		}
	}
	return nil, takenError()
}

// takenError returns domain.verification_failed for a domain that another account holds.
func takenError() error {
	return problem.Detailf(problem.DomainVerificationFailed, "the records are right, but another account has verified the domain")
}

// lookup looks up both records concurrently. Its two goroutines end before it returns.
func (s *Service) lookup(ctx context.Context, p *Private) (txt, mx lookupResult) {
	var both sync.WaitGroup
	both.Go(func() { txt = s.lookupTXT(ctx, p) })
	both.Go(func() { mx = s.lookupMX(ctx, p.Name) })
	both.Wait()
	return txt, mx
}

// verificationFailed stores the results of the lookups and returns domain.verification_failed.
func (s *Service) verificationFailed(ctx context.Context, p *Private, txt, mx lookupResult) error {
	failed := problem.New(problem.DomainVerificationFailed)
	for i, f := range []lookupResult{txt, mx} {
		if !f.ok {
			failed.Fields = append(failed.Fields, problem.Field{Pointer: fmt.Sprintf("/records/%d", i), Message: f.message})
		}
	}
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		p, err := s.getOwned(ctx, tx, p.Account, p.ID) // it may have been deleted during the lookups
		if err != nil {
			return err
		}
		p.setResults(txt, mx, s.clock.Now())
		return saveTx(ctx, tx, p)
	})
	if err != nil {
		return err
	}
	return failed
}

// setResults sets the fields for the results of lookups. A result that is not authoritative changes nothing; neither does the
// zero value, which stands for a record that was not looked up.
func (p *Private) setResults(txt, mx lookupResult, now time.Time) {
	if txt.authoritative {
		p.txtOK = txt.ok
	}
	if mx.authoritative {
		p.mxOK = mx.ok
	}
	if txt.authoritative || mx.authoritative {
		p.CheckedAt = now.Truncate(time.Microsecond)
	}
}

// markVerified sets the status of a domain whose records are right to verified. If a suspended domain of another account is in the
// way, it begins the deletion of that one instead and returns it as former: the caller must finish the deletion and call
// markVerified again.
func (s *Service) markVerified(ctx context.Context, account id.Account, domain id.Domain) (p, former *Private, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		former = nil
		if p, err = s.getOwned(ctx, tx, account, domain); err != nil {
			return err
		}
		other, err := getPrivate(ctx, tx, selectHolder, p.Name)
		switch {
		case err != nil:
			return err
		case other == nil || other.ID == p.ID:
			return s.markVerifiedTx(ctx, tx, p)
		case other.Status == Suspended:
			former = other
			return s.beginDeletionTx(ctx, tx, other)
		}
		return takenError()
	})
	return p, former, err
}

// markVerifiedTx stores that a domain is verified, and publishes the event if it was not verified before.
func (s *Service) markVerifiedTx(ctx context.Context, tx *db.Tx, p *Private) error {
	now := s.clock.Now().Truncate(time.Microsecond)
	isNew := p.Status != Verified
	if isNew {
		p.Status, p.VerifiedAt = Verified, now
	}
	p.CheckedAt, p.txtOK, p.mxOK, p.failedChecks, p.nextCheck = now, true, true, 0, s.nextCheck(now)
	tx.AfterCommit(func() { s.holderChanged(p.Name) })
	if err := saveTx(ctx, tx, p); err != nil || !isNew {
		return err
	}
	return s.publishTx(ctx, tx, p, now, verifiedEvent)
}

// jitterDivisor limits how much earlier than its interval a re-check may be: at random, by up to 1/jitterDivisor of the interval. Domains that
// were verified at the same time are thus not checked at the same time forever.
const jitterDivisor = 10

// nextCheck returns when a domain that was looked up now is due again.
func (s *Service) nextCheck(now time.Time) time.Time {
	early, err := rand.Int(rand.Reader, big.NewInt(int64(s.policy.RecheckEvery/jitterDivisor)+1))
	if err != nil {
		panic(err) // never, as crypto/rand documents
	}
	return now.Add(s.policy.RecheckEvery - time.Duration(early.Int64()))
}

package domain

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Status is how a private domain stands.
type Status string

// The statuses of decisions §2 Private domain.
const (
	Pending   Status = "pending"   // claimed, not proven; any number of accounts may claim the same domain
	Verified  Status = "verified"  // mail is taken, to every local part
	Suspended Status = "suspended" // its MX record went away; senders are told to try later

	ending Status = "ending" // its mailboxes are being destroyed; nobody sees it any more
)

// Private is a mail domain that an account has claimed (decisions §2 Private domain).
type Private struct {
	ID         id.Domain
	Account    id.Account
	Name       string // lower-case A-labels
	Status     Status
	CreatedAt  time.Time
	VerifiedAt time.Time // when it was last proven; zero: never
	CheckedAt  time.Time // when a look-up of its records last had an answer; zero: never

	proof       string
	txtOK, mxOK bool      // as of CheckedAt
	misses      int       // re-checks in a row that found no MX record
	nextCheck   time.Time // of a verified one; else zero
}

// Record is a DNS record that proves a private domain.
type Record struct {
	Type     string // TXT, MX
	Name     string // where it has to be, without a trailing dot
	Value    string
	Priority int  // of an MX record: a proposal, any other is as good; 0 else
	OK       bool // whether the last look-up that had an answer found it
}

// The records as the interface shows them.
const (
	proofLabel  = "_gonebox."
	proofPrefix = "gonebox-verify="
	mxPriority  = 10
)

// Records are what the owner of a private domain has to put into DNS: the proof first, then the way for mail.
func (s *Service) Records(p *Private) []Record {
	return []Record{
		{Type: "TXT", Name: proofLabel + p.Name, Value: proofPrefix + p.proof, OK: p.txtOK},
		{Type: "MX", Name: p.Name, Value: s.policy.Hostname, Priority: mxPriority, OK: p.mxOK},
	}
}

// Plans says what an account may have.
type Plans interface {
	DomainsMax(ctx context.Context, account id.Account) (int, error) // private domains
}

// Mailboxes are those on a private domain, which end with it.
type Mailboxes interface {
	// EndDomain ends every mailbox on a private domain before it returns. No new ones may come meanwhile.
	EndDomain(ctx context.Context, domain id.Domain) error
}

// Claim adds a private domain to an account, to be proven by Verify. A claim keeps nobody else from the domain.
//
// Errors: request.invalid, domain.not_allowed, domain.taken where the account has it or another has proven it,
// domain.limit_reached.
func (s *Service) Claim(ctx context.Context, account id.Account, name string) (*Private, error) {
	name, err := s.claimable(name)
	if err != nil {
		return nil, err
	}
	limit, err := s.plans.DomainsMax(ctx, account)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	p := &Private{ID: id.New[id.Domain](now), Account: account, Name: name, Status: Pending, CreatedAt: now, proof: newProof()}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := freeTx(ctx, tx, account, name); err != nil {
			return err
		}
		n, err := countTx(ctx, tx, account)
		if err != nil {
			return err
		}
		if n >= limit {
			return problem.Detailf(problem.DomainLimitReached, "the plan allows %d private domains and there are %d", limit, n)
		}
		return insertTx(ctx, tx, p)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// freeTx says whether an account may claim a domain. Who has suspended one does not keep it from others: they may have
// bought it since (docs/spec/domains.md#private-domains).
func freeTx(ctx context.Context, tx *db.Tx, account id.Account, name string) error {
	mine, err := one(ctx, tx, selectByName, account, name)
	if err != nil {
		return err
	}
	if mine != nil {
		return problem.Detailf(problem.DomainTaken, "the account has it already")
	}
	proven, err := one(ctx, tx, selectProven, name)
	if err != nil {
		return err
	}
	if proven != nil && proven.Status != Suspended {
		return problem.Detailf(problem.DomainTaken, "another account has proven it")
	}
	return nil
}

// proofBytes of chance make the TXT record of one account useless to every other.
const proofBytes = 16

func newProof() string {
	var b [proofBytes]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return hex.EncodeToString(b[:])
}

// List returns an account's private domains, newest first: those older than the one named before ("": from the newest
// on), at most max.
func (s *Service) List(ctx context.Context, account id.Account, before id.Domain, max int) ([]*Private, error) {
	last := string(before)
	if last == "" {
		last = beyond
	}
	return many(ctx, s.db, selectPage, account, last, max)
}

// beyond sorts behind every identifier.
const beyond = "~"

// Owns reports whether a private domain is an account's, proven or not.
func (s *Service) Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error) {
	p, err := s.owned(ctx, s.db, account, domain)
	if problem.Has(err, problem.DomainNotFound) {
		return false, nil
	}
	return p != nil, err
}

// owned reads an account's private domain. Another's is told like one that never was. Error: domain.not_found.
func (s *Service) owned(ctx context.Context, q db.Queryer, account id.Account, domain id.Domain) (*Private, error) {
	p, err := one(ctx, q, selectByID, domain)
	if err != nil {
		return nil, err
	}
	if p == nil || p.Account != account || p.Status == ending {
		return nil, problem.New(problem.DomainNotFound)
	}
	return p, nil
}

// Delete removes a private domain of an account and destroys its mailboxes: its mail is refused from the first moment
// on, and when Delete returns nil no mailbox is left. Where it breaks off, Sweep does the rest. Error: domain.not_found.
func (s *Service) Delete(ctx context.Context, account id.Account, domain id.Domain, boxes Mailboxes) error {
	var p *Private
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if p, err = s.owned(ctx, tx, account, domain); err != nil {
			return err
		}
		if p.Status == Pending { // it never had a mailbox
			_, err := tx.Exec(ctx, deletePrivate, p.ID)
			return err
		}
		return s.endTx(ctx, tx, p)
	})
	if err != nil || p.Status == Pending {
		return err
	}
	return s.release(ctx, p.ID, boxes)
}

// endTx makes a domain one that is on its way out: neither mail nor a new mailbox is taken. Nobody else can prove it
// until its mailboxes are gone, so that they never get the mail of its next owner.
func (s *Service) endTx(ctx context.Context, tx *db.Tx, p *Private) error {
	tx.AfterCommit(func() { s.forget(p.Name) })
	_, err := tx.Exec(ctx, updateEnding, p.ID)
	return err
}

// release destroys the mailboxes of a domain that is on its way out, and then its row.
func (s *Service) release(ctx context.Context, domain id.Domain, boxes Mailboxes) error {
	if err := boxes.EndDomain(ctx, domain); err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deletePrivate, domain)
		return err
	})
}

// Sweep finishes what a Delete that broke off has left.
func (s *Service) Sweep(ctx context.Context, boxes Mailboxes) error {
	left, err := many(ctx, s.db, selectEnding)
	if err != nil {
		return err
	}
	for _, p := range left {
		if err := s.release(ctx, p.ID, boxes); err != nil {
			return err
		}
	}
	return nil
}

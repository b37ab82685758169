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

// Status is the state of a private domain.
type Status string

// The statuses (docs/spec/domains.md#private-domains).
const (
	Pending   Status = "pending"   // claimed but not verified; any number of accounts may claim the same domain
	Verified  Status = "verified"  // accepts mail to every local part
	Suspended Status = "suspended" // its MX record is missing; senders get a temporary failure

	deleting Status = "ending" // its mailboxes are being destroyed; it is hidden from its owner
)

// Private is a mail domain that an account has claimed.
type Private struct {
	ID         id.Domain
	Account    id.Account
	Name       string // lower-case A-labels
	Status     Status
	CreatedAt  time.Time
	VerifiedAt time.Time // when it was last verified; zero: never
	CheckedAt  time.Time // last lookup with an authoritative answer; zero: never

	proof        string    // the random part of the TXT record
	txtOK, mxOK  bool      // as of CheckedAt
	failedChecks int       // consecutive re-checks without the MX record
	nextCheck    time.Time // zero unless verified
}

// Record is a DNS record that a private domain needs. It is what the owner must publish, and is shown together with
// what was found.
type Record struct {
	Type     string // TXT or MX
	Name     string // without a trailing dot
	Value    string
	Priority int  // of an MX record, any value is accepted; otherwise 0
	OK       bool // whether the lookup at CheckedAt found it
}

// Parts of the records.
const (
	// An underscored label (RFC 8552) cannot be a host, so the record does not interfere with others. The trailing dot
	// joins it to the name.
	proofLabel  = "_gonebox."
	proofPrefix = "gonebox-verify="
	// mxPriority is a suggestion: lookupMX accepts every preference.
	mxPriority = 10
)

// Records returns the DNS records that a private domain needs: the TXT record that proves it, and the MX record.
func (s *Service) Records(p *Private) []Record {
	return []Record{
		{Type: "TXT", Name: proofLabel + p.Name, Value: proofPrefix + p.proof, OK: p.txtOK},
		{Type: "MX", Name: p.Name, Value: s.policy.Hostname, Priority: mxPriority, OK: p.mxOK},
	}
}

// Plans gives the quotas of an account. Package app provides it from the plan in effect.
type Plans interface {
	DomainsMax(ctx context.Context, account id.Account) (int, error) // of private domains
}

// Mailboxes destroys the mailboxes of a private domain. Package mailbox implements it. It is a parameter and not a
// field, because mailboxes depend on domains.
type Mailboxes interface {
	// EndDomain destroys every mailbox of a private domain before it returns. No new ones may be created meanwhile.
	EndDomain(ctx context.Context, domain id.Domain) error
}

// Claim adds a private domain to an account, which Verify verifies. Other accounts may claim the same domain.
//
// The quota and the name are checked in the transaction of the insertion, which is serializable, so that concurrent
// claims cannot exceed the one or duplicate the other. Errors: request.invalid; domain.not_allowed; domain.taken, if
// the account has it or another has verified it; domain.limit_reached.
func (s *Service) Claim(ctx context.Context, account id.Account, name string) (*Private, error) {
	name, err := s.checkClaimable(name)
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
		if err := checkFreeTx(ctx, tx, account, name); err != nil {
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

// checkFreeTx checks that an account may claim a domain. The holder of a suspended domain does not block others, who may have
// bought it since (docs/spec/domains.md#private-domains). Error: domain.taken.
func checkFreeTx(ctx context.Context, tx *db.Tx, account id.Account, name string) error {
	mine, err := getPrivate(ctx, tx, selectByName, account, name)
	if err != nil {
		return err
	}
	if mine != nil {
		return problem.Detailf(problem.DomainTaken, "the account has it already")
	}
	holder, err := getPrivate(ctx, tx, selectHolder, name)
	if err != nil {
		return err
	}
	if holder != nil && holder.Status != Suspended {
		return problem.Detailf(problem.DomainTaken, "another account has verified it")
	}
	return nil
}

// proofBytes is how many random octets the proof has, so that the TXT record of one account is useless to another.
const proofBytes = 16

// newProof returns a random proof of proofBytes octets in hexadecimal.
func newProof() string {
	var b [proofBytes]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return hex.EncodeToString(b[:])
}

// List returns at most max of an account's private domains, newest first, that are older than before; "" is the beginning.
func (s *Service) List(ctx context.Context, account id.Account, before id.Domain, max int) ([]*Private, error) {
	last := string(before)
	if last == "" {
		last = maxID
	}
	return listPrivate(ctx, s.db, selectPage, account, last, max)
}

// maxID sorts after every identifier.
const maxID = "~"

// Owns reports whether an account has claimed a private domain, verified or not. It is false without an error if there
// is no such domain.
func (s *Service) Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error) {
	p, err := s.getOwned(ctx, s.db, account, domain)
	if problem.Has(err, problem.DomainNotFound) {
		return false, nil
	}
	return p != nil, err
}

// getOwned reads an account's private domain. A domain that is ending is gone for its owner. Error: domain.not_found, also
// for a domain of another account.
func (s *Service) getOwned(ctx context.Context, q db.Queryer, account id.Account, domain id.Domain) (*Private, error) {
	p, err := getPrivate(ctx, q, selectByID, domain)
	if err != nil {
		return nil, err
	}
	if p == nil || p.Account != account || p.Status == deleting {
		return nil, problem.New(problem.DomainNotFound)
	}
	return p, nil
}

// Delete deletes a private domain of an account and destroys its mailboxes: its mail is rejected from the start, and
// when Delete returns nil no mailbox is left. If it fails midway, Sweep finishes it. A pending domain is deleted with
// one statement. Error: domain.not_found.
func (s *Service) Delete(ctx context.Context, account id.Account, domain id.Domain, boxes Mailboxes) error {
	var p *Private
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if p, err = s.getOwned(ctx, tx, account, domain); err != nil {
			return err
		}
		if p.Status == Pending { // it never had a mailbox
			_, err := tx.Exec(ctx, deletePrivate, p.ID)
			return err
		}
		return s.beginDeletionTx(ctx, tx, p)
	})
	if err != nil || p.Status == Pending {
		return err
	}
	return s.finishDeletion(ctx, p.ID, boxes)
}

// beginDeletionTx sets the status ending: the domain accepts neither mail nor new mailboxes. Other accounts cannot verify it until its
// mailboxes are gone, so that those never get mail of the next owner.
func (s *Service) beginDeletionTx(ctx context.Context, tx *db.Tx, p *Private) error {
	tx.AfterCommit(func() { s.holderChanged(p.Name) })
	_, err := tx.Exec(ctx, updateDeleting, p.ID)
	return err
}

// finishDeletion destroys the mailboxes of a domain with the status ending, and then deletes its row. It may be repeated, by
// this or another process: each step does nothing if it is done already.
func (s *Service) finishDeletion(ctx context.Context, domain id.Domain, boxes Mailboxes) error {
	if err := boxes.EndDomain(ctx, domain); err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deletePrivate, domain)
		return err
	})
}

// Sweep finishes deletions that failed midway. A periodic job calls it. The first failure ends it; the next call
// continues.
func (s *Service) Sweep(ctx context.Context, boxes Mailboxes) error {
	left, err := listPrivate(ctx, s.db, selectDeleting)
	if err != nil {
		return err
	}
	for _, p := range left {
		if err := s.finishDeletion(ctx, p.ID, boxes); err != nil {
			return err
		}
	}
	return nil
}

package domain

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
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

	deleting Status = "ending" // its mailboxes are being destroyed; it is hidden from its owner, but still blocks the name
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
	txtOK, mxOK  bool      // whether the records were right at CheckedAt
	failedChecks int       // consecutive re-checks that did not find the MX record
	nextCheck    time.Time // when Recheck is due; zero unless verified
}

// Record is a DNS record that the owner of a private domain must publish.
type Record struct {
	Type     string // TXT or MX
	Name     string // without a trailing dot
	Value    string
	Priority int  // of an MX record, any value is accepted; otherwise 0
	OK       bool // whether the lookup at CheckedAt found it
}

// Parts of the records.
const (
	// proofLabel is put in front of the domain. A name with an underscore cannot be a host (RFC 8552), so the record does
	// not interfere with others.
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

// Plans returns the quotas of an account. Package app implements it with the plan that is in effect.
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
// The quota and the name are checked in the transaction of the insertion. It is serializable, so that concurrent claims
// can neither exceed the quota nor insert the same name twice. Errors: request.invalid; domain.not_allowed; domain.taken,
// if the account has claimed the domain already or another account has verified it; domain.limit_reached.
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

// checkFreeTx checks that an account may claim a domain. A suspended domain may be claimed by other accounts, since the domain may
// have been sold (docs/spec/domains.md#private-domains). Error: domain.taken.
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

// proofBytes is how many random octets a proof has. Accounts have different proofs, so that the TXT record of one account does not verify
// the claim of another.
const proofBytes = 16

// newProof returns a random proof of proofBytes octets in hexadecimal.
func newProof() string {
	var b [proofBytes]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return hex.EncodeToString(b[:])
}

// List returns at most max of an account's private domains, newest first, beginning behind before, or with the newest if before is "".
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

// getOwned reads a private domain of an account. Error: domain.not_found, also for a domain of another account and for one
// that is being deleted.
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

// Delete deletes a private domain of an account and destroys its mailboxes. It first makes the domain reject mail; when it
// returns nil, no mailbox is left. If it fails midway, Sweep finishes the deletion. Error: domain.not_found.
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

// beginDeletionTx sets the status deleting, with which the domain accepts neither mail nor new mailboxes. Other accounts cannot verify
// the domain before its mailboxes are destroyed, so that these never receive mail for the next holder.
func (s *Service) beginDeletionTx(ctx context.Context, tx *db.Tx, p *Private) error {
	tx.AfterCommit(func() { s.holderChanged(p.Name) })
	_, err := tx.Exec(ctx, updateDeleting, p.ID)
	return err
}

// finishDeletion destroys the mailboxes of a domain with the status deleting, and then deletes its row. It may be called again, by
// this or another process: steps that have been done already do nothing.
func (s *Service) finishDeletion(ctx context.Context, domain id.Domain, boxes Mailboxes) error {
	if err := boxes.EndDomain(ctx, domain); err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deletePrivate, domain)
		return err
	})
}

// Sweep finishes deletions that failed midway. A periodic job calls it. It returns at the first error, and the next call
// continues.
func (s *Service) Sweep(ctx context.Context, boxes Mailboxes) error {
	unfinished, err := listPrivate(ctx, s.db, selectDeleting)
	if err != nil {
		return err
	}
	for _, p := range unfinished {
		if err := s.finishDeletion(ctx, p.ID, boxes); err != nil {
			return err
		}
	}
	return nil
}

// EraseTx begins to delete all private domains of an account that leaves. Sweep finishes it once their mailboxes are destroyed.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	all, err := listPrivate(ctx, tx, selectOwned, account)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Status == Pending {
			_, err = tx.Exec(ctx, deletePrivate, p.ID)
		} else {
			err = s.beginDeletionTx(ctx, tx, p)
		}
		if err != nil {
			return fmt.Errorf("delete the domain %s: %w", p.ID, err)
		}
	}
	return nil
}

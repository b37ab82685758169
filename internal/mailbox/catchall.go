package mailbox

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// A private domain is a catch-all: mail for an unused local part, even a reserved one, opens a mailbox of the domain's owner
// (docs/spec/domains.md#catch-all). The mailbox is created together with its first message, never without one.

// CheckCatchAll returns the limits of an account if mail for an unused local part could open one of its mailboxes now. It opens none.
// Errors: mail.mailbox_unknown for a local part that no mailbox can have, mail.mailbox_full, mail.daily_cap.
func (s *Service) CheckCatchAll(ctx context.Context, account id.Account, local string) (Limits, error) {
	if !isUsableLocalPart(local) {
		return Limits{}, problem.New(problem.MailMailboxUnknown)
	}
	limits, err := s.plans.MailboxLimits(ctx, account)
	if err != nil {
		return limits, err
	}
	today, err := dayCountOf(ctx, s.db, account)
	if err != nil {
		return limits, err
	}
	if err := s.checkQuota(&Mailbox{account: today}, limits, 0); err != nil {
		return limits, err
	}
	live, err := liveOf(ctx, s.db, account)
	if err != nil || live < limits.LiveMax {
		return limits, err
	}
	live, err = unexpiredOf(ctx, s.db, account, s.clock.Now())
	if err == nil && live >= limits.LiveMax {
		err = noFreeMailbox()
	}
	return limits, err
}

// noFreeMailbox returns the problem of an account that has as many mailboxes as its plan allows.
func noFreeMailbox() error {
	return problem.Detailf(problem.MailMailboxFull, "the plan of the domain's owner has no room for one more mailbox")
}

// localMax is the longest local part in octets (RFC 5321 §4.5.3.1.1).
const localMax = 64

// isUsableLocalPart reports whether the mailbox that mail to a catch-all creates may have a local part: at most localMax octets,
// and no need of quotes (Dot-string of RFC 5321 §4.1.2, RFC 6531 §3.3). Quoted local parts are legal, but addresses with them do not work everywhere.
func isUsableLocalPart(local string) bool {
	if len(local) > localMax || !utf8.ValidString(local) {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool { return !isAtext(r) }) {
			return false
		}
	}
	return true
}

// isAtext reports whether a character is atext (RFC 5322 §3.2.3), or a graphic character outside ASCII.
func isAtext(r rune) bool {
	switch {
	case r >= utf8.RuneSelf:
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	}
	return strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

// catchAllTx adds an unopened mailbox for each address of the batch that has no live mailbox and is on a private domain. Without such
// an address it runs at most one statement.
func (b *Batch) catchAllTx(ctx context.Context, tx *db.Tx) error {
	unused := make(map[string][]*batchBox) // by domain
	for address, box := range b.boxes {
		local, domain := split(address)
		if box != nil && box.Live(b.now) || !isUsableLocalPart(local) {
			continue
		}
		unused[domain] = append(unused[domain], &batchBox{unopened: true, Mailbox: &Mailbox{
			ID: id.New[id.Mailbox](b.now), Address: address, LocalPart: local, Domain: domain, Source: CatchAll,
			CreatedAt: b.now.Truncate(time.Microsecond), epoch: 1,
		}})
	}
	if len(unused) == 0 {
		return nil
	}
	ready, err := b.setOwnersTx(ctx, tx, unused)
	if err != nil || len(ready) == 0 {
		return err
	}
	if err := b.readAccountsTx(ctx, tx, ready); err != nil {
		return err
	}
	wanted := make(map[id.Account]int)
	for _, box := range ready {
		if err := b.vacateTx(ctx, tx, box); err != nil {
			return err
		}
		box.ExpiresAt = box.CreatedAt.Add(box.limits.TTLDefault)
		wanted[box.Owner.Account]++
		b.boxes[box.Address] = box
	}
	for _, owner := range slices.Sorted(maps.Keys(wanted)) {
		if err := b.countFreeTx(ctx, tx, owner, wanted[owner]); err != nil {
			return err
		}
	}
	return nil
}

// setOwnersTx sets the owners of those mailboxes that are on private domains, and returns these. unused is by domain.
func (b *Batch) setOwnersTx(ctx context.Context, tx *db.Tx, unused map[string][]*batchBox) (ready []*batchBox, err error) {
	names := make([]string, 0, len(unused))
	for name := range unused {
		names = append(names, name)
	}
	err = b.s.domains.HoldersTx(ctx, tx, names, func(name string, owner id.Account, private id.Domain) {
		for _, box := range unused[name] {
			box.Owner = Owner{Account: owner, Domain: private}
			ready = append(ready, box)
		}
	})
	return ready, err
}

// split splits the address of a mailbox at its @.
func split(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:at], address[at+1:]
}

// vacateTx ends an expired mailbox that still has the address of a new one.
func (b *Batch) vacateTx(ctx context.Context, tx *db.Tx, box *batchBox) error {
	former := b.boxes[box.Address]
	if former == nil {
		return nil
	}
	whole, err := one(ctx, tx, selectByID, former.ID) // the batch has not read the columns that its event needs
	if err != nil || whole == nil {
		return err
	}
	return b.s.expireTx(ctx, tx, b.now, whole)
}

// countFreeTx sets how many mailboxes an account's catch-all may open. Where these are fewer than the batch wants, it first ends
// expired mailboxes of the account, at most endBatch.
func (b *Batch) countFreeTx(ctx context.Context, tx *db.Tx, owner id.Account, wanted int) error {
	a := b.accounts[owner]
	live, err := lockLiveTx(ctx, tx, owner)
	if err != nil {
		return err
	}
	if live+wanted > a.limits.LiveMax {
		expired, err := many(ctx, tx, locked(selectAccountExpired, tx.Engine()), owner, b.now.UnixMicro(), endBatch)
		if err != nil {
			return err
		}
		if err := b.s.expireTx(ctx, tx, b.now, expired...); err != nil {
			return err
		}
		live -= len(expired)
	}
	a.free = max(0, a.limits.LiveMax-live)
	return nil
}

// freeAfter returns how many mailboxes the catch-all of box's account may still open once it has opened the unopened ones among boxes.
func (b *Batch) freeAfter(boxes []*batchBox, box *batchBox) int {
	free := b.accounts[box.Owner.Account].free
	for _, other := range boxes {
		if other.unopened && other.Source == CatchAll && other.Owner.Account == box.Owner.Account {
			free--
		}
	}
	return max(0, free)
}

// open marks an unopened mailbox to be inserted. It does nothing for others.
func (b *Batch) open(box *batchBox) {
	if !box.unopened {
		return
	}
	box.unopened = false
	if box.Source == CatchAll {
		b.accounts[box.Owner.Account].free--
	}
	b.opened = append(b.opened, box)
}

// insertOpenedTx inserts the mailboxes that mail opened.
func (b *Batch) insertOpenedTx(ctx context.Context, tx *db.Tx) error {
	opened := make([]*Mailbox, len(b.opened))
	for i, box := range b.opened {
		if err := tx.Queue(ctx, deleteHold, b.s.hold.hash(box.Address)); err != nil {
			return err
		}
		if err := insert(ctx, tx, box.Mailbox); err != nil {
			return err
		}
		if err := countTx(ctx, tx, box.Mailbox, 1); err != nil {
			return err
		}
		opened[i] = box.Mailbox
	}
	return b.s.publishCreatedTx(ctx, tx, opened...)
}

// checkDomainTx checks that the private domain of a new mailbox still belongs to its owner. The owner may have deleted the domain, and
// with it its mailboxes, since it was chosen. Error: mailbox.domain_unavailable.
func (s *Service) checkDomainTx(ctx context.Context, tx *db.Tx, m *Mailbox) error {
	if m.Owner.Domain == "" {
		return nil
	}
	held := false
	err := s.domains.HoldersTx(ctx, tx, []string{m.Domain}, func(_ string, _ id.Account, private id.Domain) {
		held = private == m.Owner.Domain
	})
	if err == nil && !held {
		err = problem.New(problem.MailboxDomainUnavailable)
	}
	return err
}

// EndDomain ends every mailbox on a private domain. Their tokens are void when it returns, their contents are erased within a minute.
// It works in transactions of at most endBatch mailboxes, so that mail is not kept waiting.
func (s *Service) EndDomain(ctx context.Context, private id.Domain) error {
	return s.inBatches(ctx, nil, func(ctx context.Context, tx *db.Tx) (bool, error) {
		boxes, err := many(ctx, tx, selectPrivate, private, endBatch)
		if err != nil {
			return false, err
		}
		now := s.clock.Now()
		var expired []*Mailbox
		for _, m := range boxes {
			if !m.Live(now) { // its tokens keep getting mailbox.expired
				expired = append(expired, m)
			} else if err := s.endTx(ctx, tx, m, m.epoch+1, now); err != nil {
				return false, err
			}
		}
		return len(boxes) < endBatch, s.expireTx(ctx, tx, now, expired...)
	})
}

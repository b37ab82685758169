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

// A private domain is a catch-all: mail to an unused local part, a reserved one too, opens a mailbox of the domain's
// owner (decisions §2 Private domain). It comes into being with its first message and never without one.

// Opens says whether mail to an unused local part may open a mailbox of an account now, and what the account may have. It
// opens none. Errors: mail.mailbox_unknown for what no mailbox can be called, mail.mailbox_full, mail.daily_cap.
func (s *Service) Opens(ctx context.Context, account id.Account, local string) (Limits, error) {
	if !openable(local) {
		return Limits{}, problem.New(problem.MailMailboxUnknown)
	}
	limits, err := s.plans.MailboxLimits(ctx, account)
	if err != nil {
		return limits, err
	}
	today, err := tallyOf(ctx, s.db, account)
	if err != nil {
		return limits, err
	}
	if err := s.takes(&Mailbox{account: today}, limits, 0); err != nil {
		return limits, err
	}
	live, err := liveOf(ctx, s.db, account)
	if err != nil || live < limits.LiveMax {
		return limits, err
	}
	var expired int
	if err := s.db.QueryRow(ctx, countAccountExpired, account, s.clock.Now().UnixMicro()).Scan(&expired); err != nil {
		return limits, err
	}
	if live-expired >= limits.LiveMax {
		return limits, noRoom()
	}
	return limits, nil
}

func noRoom() error {
	return problem.Detailf(problem.MailMailboxFull, "the plan of the domain's owner has no room for one more mailbox")
}

// localMax is the longest local part in octets (RFC 5321 §4.5.3.1.1).
const localMax = 64

// openable reports whether a local part can be a mailbox's: what needs no quotes (RFC 5321 Dot-string, RFC 6531 §3.3).
// Local parts that must be quoted are legal, but no address that is written like that works everywhere else.
func openable(local string) bool {
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

// isAtext is atext of RFC 5322 §3.2.3, and of what lies beyond ASCII that which can be seen.
func isAtext(r rune) bool {
	switch {
	case r >= utf8.RuneSelf:
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	}
	return strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

// catchAllTx makes ready a mailbox for each of the set's addresses that has none and lies on a private domain. Sets
// without such an address pay nothing for it.
func (in *Intake) catchAllTx(ctx context.Context, tx *db.Tx) error {
	unused := make(map[string][]*booked) // by domain
	for address, b := range in.boxes {
		local, domain := split(address)
		if b != nil && b.Live(in.now) || !openable(local) {
			continue
		}
		unused[domain] = append(unused[domain], &booked{unopened: true, Mailbox: &Mailbox{
			ID: id.New[id.Mailbox](in.now), Address: address, LocalPart: local, Domain: domain, Source: CatchAll,
			CreatedAt: in.now.Truncate(time.Microsecond), epoch: 1,
		}})
	}
	if len(unused) == 0 {
		return nil
	}
	ready, err := in.ownedTx(ctx, tx, unused)
	if err != nil || len(ready) == 0 {
		return err
	}
	if err := in.accountsTx(ctx, tx, ready); err != nil {
		return err
	}
	wanted := make(map[id.Account]int)
	for _, b := range ready {
		if err := in.vacateTx(ctx, tx, b); err != nil {
			return err
		}
		b.ExpiresAt = b.CreatedAt.Add(b.limits.TTLDefault)
		wanted[b.Owner.Account]++
		in.boxes[b.Address] = b
	}
	for _, owner := range slices.Sorted(maps.Keys(wanted)) {
		if err := in.makeRoomTx(ctx, tx, owner, wanted[owner]); err != nil {
			return err
		}
	}
	return nil
}

// ownedTx gives the mailboxes that lie on private domains their owners, and leaves the others out.
func (in *Intake) ownedTx(ctx context.Context, tx *db.Tx, unused map[string][]*booked) (ready []*booked, err error) {
	names := make([]string, 0, len(unused))
	for name := range unused {
		names = append(names, name)
	}
	err = in.s.domains.HoldersTx(ctx, tx, names, func(name string, owner id.Account, private id.Domain) {
		for _, b := range unused[name] {
			b.Owner = Owner{Account: owner, Domain: private}
			ready = append(ready, b)
		}
	})
	return ready, err
}

// split takes the address of a mailbox apart.
func split(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:at], address[at+1:]
}

// vacateTx ends the expired mailbox that still has the address of a new one.
func (in *Intake) vacateTx(ctx context.Context, tx *db.Tx, b *booked) error {
	former := in.boxes[b.Address]
	if former == nil {
		return nil
	}
	whole, err := one(ctx, tx, selectByID, former.ID) // with what an event tells
	if err != nil || whole == nil {
		return err
	}
	return in.s.expireTx(ctx, tx, in.now, whole)
}

// makeRoomTx finds out how many mailboxes an account's catch-all may open. Where that is too few for a set, expired ones
// are ended first.
func (in *Intake) makeRoomTx(ctx context.Context, tx *db.Tx, owner id.Account, wanted int) error {
	a := in.accounts[owner]
	live, err := lockLiveTx(ctx, tx, owner)
	if err != nil {
		return err
	}
	if live+wanted > a.limits.LiveMax {
		expired, err := many(ctx, tx, locked(selectAccountExpired, tx.Engine()), owner, in.now.UnixMicro(), endBatch)
		if err != nil {
			return err
		}
		if err := in.s.expireTx(ctx, tx, in.now, expired...); err != nil {
			return err
		}
		live -= len(expired)
	}
	a.room = max(0, a.limits.LiveMax-live)
	return nil
}

// room is how many mailboxes the catch-all of b may still open, when a message also opens those of the boxes before b.
func (in *Intake) room(boxes []*booked, b *booked) int {
	room := in.accounts[b.Owner.Account].room
	for _, other := range boxes {
		if other.unopened && other.Owner.Account == b.Owner.Account {
			room--
		}
	}
	return max(0, room)
}

// open makes a mailbox that was made ready one to be written; one that is there already stays as it is.
func (in *Intake) open(b *booked) {
	if !b.unopened {
		return
	}
	b.unopened = false
	in.accounts[b.Owner.Account].room--
	in.opened = append(in.opened, b)
}

// openTx writes the mailboxes that messages opened.
func (in *Intake) openTx(ctx context.Context, tx *db.Tx) error {
	opened := make([]*Mailbox, len(in.opened))
	for i, b := range in.opened {
		if err := tx.Queue(ctx, deleteHold, in.s.hold.hash(b.Address)); err != nil {
			return err
		}
		if err := insert(ctx, tx, b.Mailbox); err != nil {
			return err
		}
		if err := countLiveTx(ctx, tx, b.Owner.Account, 1); err != nil {
			return err
		}
		opened[i] = b.Mailbox
	}
	return in.s.tellCreatedTx(ctx, tx, opened...)
}

// heldTx makes sure that the private domain of a new mailbox is still its owner's: it may have gone since it was chosen,
// and its mailboxes with it. Error: mailbox.domain_unavailable.
func (s *Service) heldTx(ctx context.Context, tx *db.Tx, m *Mailbox) error {
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

// EndDomain ends every mailbox on a private domain: their tokens are void when it returns, their contents are erased
// within a minute. It goes in steps that each hold the writer for a few milliseconds.
func (s *Service) EndDomain(ctx context.Context, private id.Domain) error {
	return s.batches(ctx, func(ctx context.Context, tx *db.Tx) (bool, error) {
		boxes, err := many(ctx, tx, selectPrivate, private, endBatch)
		if err != nil {
			return false, err
		}
		now := s.clock.Now()
		var expired []*Mailbox
		for _, m := range boxes {
			if !m.Live(now) { // its tokens go on saying so
				expired = append(expired, m)
			} else if err := s.endTx(ctx, tx, m, m.epoch+1, now); err != nil {
				return false, err
			}
		}
		return len(boxes) < endBatch, s.expireTx(ctx, tx, now, expired...)
	})
}

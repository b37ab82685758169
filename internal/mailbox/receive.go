package mailbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Find returns the live mailbox at an address (lower case, without a tag), as far as Takes and filters need it, and what
// its owner may have, or nil.
func (s *Service) Find(ctx context.Context, address string) (*Mailbox, Limits, error) {
	now := s.clock.Now()
	known, epoch := s.recent.get(address, now)
	if known != nil && known.Live(now) {
		limits, err := s.plans.MailboxLimits(ctx, known.Owner.Account)
		if err != nil || s.Takes(known, limits) == nil {
			return known, limits, err
		}
	}
	m, err := forMail(ctx, s.db, address)
	if err != nil || m == nil || !m.Live(now) {
		return nil, Limits{}, err
	}
	limits, err := s.plans.MailboxLimits(ctx, m.Owner.Account)
	if err == nil && m.Owner.Account != "" {
		m.account, err = tallyOf(ctx, s.db, m.Owner.Account)
	}
	if err == nil {
		s.recent.put(m, epoch, now)
	}
	return m, limits, err
}

// Takes says whether the mailbox takes one more message now: nil, mail.mailbox_full or mail.daily_cap.
func (s *Service) Takes(m *Mailbox, l Limits) error { return s.takes(m, l, 0) }

// takes is Takes where a number of messages is already on its way to whom the daily cap counts.
func (s *Service) takes(m *Mailbox, l Limits, coming int) error {
	if m.MessageCount >= s.policy.MaxMessages {
		return problem.Detailf(problem.MailMailboxFull, "the mailbox holds %d messages", m.MessageCount)
	}
	if today := m.capped().on(day(s.clock.Now())); today+coming >= l.DailyMail {
		return problem.Detailf(problem.MailDailyCap, "%d messages came today, which is what the plan allows", today)
	}
	return nil
}

// microsPerMilli converts between the precision of stored times and that of the interface's.
const microsPerMilli = 1000

// Slot is the place that a message gets in one mailbox.
type Slot struct {
	Box     id.Mailbox
	Address string // the mailbox's, without a tag
	Message id.Message
	At      time.Time // later than every earlier message of the mailbox: of the same transaction by a microsecond, else by a millisecond
	RawFor  time.Duration
	Account id.Account // whose the mailbox is; "": a guest's
	Domain  id.Domain  // the private domain it is on; "": none
}

// Intake books a set of messages into their mailboxes inside one transaction: all mailboxes are read at once, each
// message is admitted or refused whole, and what changed is written once a mailbox.
type Intake struct {
	s        *Service
	now      time.Time
	boxes    map[string]*booked
	accounts map[id.Account]*accountBook // nil until a mailbox of an account is met
	changed  []*booked
	opened   []*booked // by a catch-all
}

type booked struct {
	*Mailbox
	limits   Limits
	dirty    bool
	unopened bool // a catch-all's: it comes into being with its first message
}

// lookupMax bounds how many addresses one statement looks up.
const lookupMax = 512

// IntakeTx reads the mailboxes of a set's addresses.
func (s *Service) IntakeTx(ctx context.Context, tx *db.Tx, addresses []string) (*Intake, error) {
	in := &Intake{s: s, now: s.clock.Now(), boxes: make(map[string]*booked, len(addresses))}
	asked := make([]string, 0, len(addresses))
	for _, a := range addresses {
		if _, twice := in.boxes[a]; !twice {
			in.boxes[a] = nil
			asked = append(asked, a)
		}
	}
	slices.Sort(asked) // the order of the locks
	for some := range slices.Chunk(asked, lookupMax) {
		if err := in.readTx(ctx, tx, some); err != nil {
			return nil, err
		}
	}
	return in, in.catchAllTx(ctx, tx)
}

func (in *Intake) readTx(ctx context.Context, tx *db.Tx, addresses []string) error {
	list, args := db.In(1, addresses)
	boxes, err := db.Collect(ctx, tx, scanBooking, selectByAddresses+list+byAddress(tx.Engine()), args...)
	if err != nil {
		return fmt.Errorf("read the mailboxes of a set: %w", err)
	}
	guests, err := in.s.plans.MailboxLimits(ctx, "")
	if err != nil {
		return err
	}
	found := make([]*booked, len(boxes))
	for i, m := range boxes {
		found[i] = &booked{Mailbox: m, limits: guests}
		in.boxes[m.Address] = found[i]
	}
	return in.accountsTx(ctx, tx, found)
}

// Book gives a message its slots, one a mailbox however many of the addresses lead there, or the problem that keeps it
// out of one of them and so of all: mail.mailbox_unknown, mail.mailbox_full, mail.daily_cap.
func (in *Intake) Book(addresses []string) ([]Slot, error) {
	boxes := make([]*booked, 0, len(addresses))
	for _, a := range addresses {
		b := in.boxes[a]
		if b == nil || !b.Live(in.now) {
			return nil, problem.New(problem.MailMailboxUnknown)
		}
		if slices.Contains(boxes, b) {
			continue
		}
		if err := in.s.takes(b.Mailbox, b.limits, coming(boxes, b)); err != nil {
			return nil, err
		}
		if b.unopened && in.room(boxes, b) == 0 {
			return nil, noRoom()
		}
		boxes = append(boxes, b)
	}
	slots := make([]Slot, 0, len(boxes))
	for _, b := range boxes {
		slots = append(slots, in.book(b))
	}
	return slots, nil
}

// coming is how many of the boxes that a message is for come before b in the count of the same account.
func coming(boxes []*booked, b *booked) (n int) {
	if b.account == nil {
		return 0
	}
	for _, other := range boxes {
		if other.account == b.account {
			n++
		}
	}
	return n
}

func (in *Intake) book(b *booked) Slot {
	today := day(in.now)
	b.own.add(today)
	if a := in.accounts[b.Owner.Account]; a != nil {
		a.tally.add(today)
		a.dirty = true
	}
	in.open(b)
	b.MessageCount++
	b.UnreadCount++
	// Strictly later than the last one, whatever the machine's clock does: a reader that asks for what came after a
	// message it has seen must find everything that was committed later. What an earlier transaction committed may have been
	// seen, with a time in milliseconds: later than that is the next millisecond.
	if b.dirty {
		b.lastAt++
	} else {
		b.dirty = true
		in.changed = append(in.changed, b)
		b.lastAt = max(in.now.UnixMicro(), (b.lastAt/microsPerMilli+1)*microsPerMilli)
	}
	at := time.UnixMicro(b.lastAt).UTC()
	return Slot{Box: b.ID, Address: b.Address, Message: id.New[id.Message](at), At: at, RawFor: b.limits.RawFor, Account: b.Owner.Account, Domain: b.Owner.Domain}
}

// SaveTx writes the mailboxes that Book opened and changed.
func (in *Intake) SaveTx(ctx context.Context, tx *db.Tx) error {
	if err := in.openTx(ctx, tx); err != nil {
		return err
	}
	var boxes db.Texts
	var messages, unread, last, days, dayCounts db.Numbers
	for _, b := range in.changed {
		boxes, last = append(boxes, string(b.ID)), append(last, b.lastAt)
		messages, unread = append(messages, int64(b.MessageCount)), append(unread, int64(b.UnreadCount))
		days, dayCounts = append(days, b.own.day), append(dayCounts, int64(b.own.count))
	}
	if err := tx.QueueEach(ctx, updateReceived.On(tx.Engine()), boxes, messages, unread, last, days, dayCounts); err != nil {
		return fmt.Errorf("count mail of %d mailboxes: %w", len(boxes), err)
	}
	tx.AfterCommit(func() { in.s.recent.received(in.changed, in.now) })
	return in.saveTalliesTx(ctx, tx)
}

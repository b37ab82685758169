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

// Find returns the live mailbox at an address (lower case, without a tag) and what its owner may have, or nil.
func (s *Service) Find(ctx context.Context, address string) (*Mailbox, Limits, error) {
	m, err := one(ctx, s.db, selectByAddress, address)
	if err != nil || m == nil || !m.Live(s.clock.Now()) {
		return nil, Limits{}, err
	}
	limits, err := s.plans.MailboxLimits(ctx, m.Owner.Account)
	return m, limits, err
}

// Takes says whether the mailbox takes one more message now: nil, mail.mailbox_full or mail.daily_cap.
func (s *Service) Takes(m *Mailbox, l Limits) error {
	if m.MessageCount >= s.policy.MaxMessages {
		return problem.Detailf(problem.MailMailboxFull, "the mailbox holds %d messages", m.MessageCount)
	}
	if m.day == day(s.clock.Now()) && m.today >= l.DailyMail {
		return problem.Detailf(problem.MailDailyCap, "the mailbox had %d messages today", m.today)
	}
	return nil
}

// Slot is the place that a message gets in one mailbox.
type Slot struct {
	Box     id.Mailbox
	Address string // the mailbox's, without a tag
	Message id.Message
	At      time.Time // later than every earlier message of the mailbox, to the microsecond
	RawFor  time.Duration
}

// Intake books a set of messages into their mailboxes inside one transaction: all mailboxes are read at once, each
// message is admitted or refused whole, and what changed is written once a mailbox.
type Intake struct {
	s       *Service
	now     time.Time
	boxes   map[string]*booked
	changed []*booked
}

type booked struct {
	*Mailbox
	limits Limits
	dirty  bool
}

// lookupMax bounds how many addresses one statement looks up.
const lookupMax = 512

// IntakeTx reads the mailboxes of a set's addresses.
func (s *Service) IntakeTx(ctx context.Context, tx *db.Tx, addresses []string) (*Intake, error) {
	in := &Intake{s: s, now: s.clock.Now(), boxes: make(map[string]*booked, len(addresses))}
	args := make([]any, 0, len(addresses))
	for _, a := range addresses {
		if _, twice := in.boxes[a]; !twice {
			in.boxes[a] = nil
			args = append(args, a)
		}
	}
	for some := range slices.Chunk(args, lookupMax) {
		if err := in.readTx(ctx, tx, some); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (in *Intake) readTx(ctx context.Context, tx *db.Tx, addresses []any) error {
	list, size := db.In(1, len(addresses))
	boxes, err := many(ctx, tx, selectByAddresses+list, db.Fill(addresses, size)...)
	if err != nil {
		return err
	}
	for _, m := range boxes {
		limits, err := in.s.plans.MailboxLimits(ctx, m.Owner.Account)
		if err != nil {
			return err
		}
		in.boxes[m.Address] = &booked{Mailbox: m, limits: limits}
	}
	return nil
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
		if err := in.s.Takes(b.Mailbox, b.limits); err != nil {
			return nil, err
		}
		boxes = append(boxes, b)
	}
	slots := make([]Slot, 0, len(boxes))
	for _, b := range boxes {
		if len(slots) == 0 || !holds(slots, b.ID) {
			slots = append(slots, in.book(b))
		}
	}
	return slots, nil
}

func holds(slots []Slot, box id.Mailbox) bool {
	for _, s := range slots {
		if s.Box == box {
			return true
		}
	}
	return false
}

func (in *Intake) book(b *booked) Slot {
	if today := day(in.now); b.day != today {
		b.day, b.today = today, 0
	}
	b.today++
	b.MessageCount++
	b.UnreadCount++
	// Strictly later than the last one, whatever the machine's clock does: a reader that asks for what came after a
	// message it has seen must find everything that was committed later.
	b.lastAt = max(in.now.UnixMicro(), b.lastAt+1)
	if !b.dirty {
		b.dirty = true
		in.changed = append(in.changed, b)
	}
	at := time.UnixMicro(b.lastAt).UTC()
	return Slot{Box: b.ID, Address: b.Address, Message: id.New[id.Message](at), At: at, RawFor: b.limits.RawFor}
}

// SaveTx writes the mailboxes that Book changed.
func (in *Intake) SaveTx(ctx context.Context, tx *db.Tx) error {
	for _, b := range in.changed {
		_, err := tx.Exec(ctx, updateReceived, b.ID, b.MessageCount, b.UnreadCount, b.lastAt, b.day, b.today)
		if err != nil {
			return fmt.Errorf("count mail of %s: %w", b.ID, err)
		}
	}
	return nil
}

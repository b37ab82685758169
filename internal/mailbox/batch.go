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

// Find returns the live mailbox at an address (lower case, without a tag) and its limits, or nil if there is none. Only the
// fields that CheckQuota and filters need are set.
func (s *Service) Find(ctx context.Context, address string) (*Mailbox, Limits, error) {
	now := s.clock.Now()
	known, epoch := s.recent.get(address, now)
	if known != nil && known.Live(now) {
		limits, err := s.plans.MailboxLimits(ctx, known.Owner.Account)
		limits = s.limitsOf(known, limits)
		if err != nil || s.CheckQuota(known, limits) == nil {
			return known, limits, err
		}
	}
	m, err := forMail(ctx, s.db, address)
	if err != nil || m == nil || !m.Live(now) {
		return nil, Limits{}, err
	}
	limits, err := s.plans.MailboxLimits(ctx, m.Owner.Account)
	limits = s.limitsOf(m, limits)
	if err == nil && m.Owner.Account != "" {
		m.account, err = dayCountOf(ctx, s.db, m.Owner.Account)
	}
	if err == nil {
		s.recent.put(m, epoch, now)
	}
	return m, limits, err
}

// FindAnew is Find for a caller that got another mailbox than it expected: one that is cached may have ended in another process.
func (s *Service) FindAnew(ctx context.Context, address string) (*Mailbox, Limits, error) {
	s.recent.forget(address)
	return s.Find(ctx, address)
}

// CheckQuota returns nil if the mailbox can receive one more message now, otherwise mail.account_disabled, mail.mailbox_full or
// mail.daily_cap.
func (s *Service) CheckQuota(m *Mailbox, l Limits) error { return s.checkQuota(m, l, 0) }

// checkQuota is CheckQuota with pending messages already counted against the daily cap.
func (s *Service) checkQuota(m *Mailbox, l Limits, pending int) error {
	if l.Disabled {
		return problem.New(problem.MailAccountDisabled)
	}
	if m.MessageCount >= s.maxMessages(m) {
		return problem.Detailf(problem.MailMailboxFull, "the mailbox holds %d messages", m.MessageCount)
	}
	if today := m.dailyCount().on(day(s.clock.Now())); today+pending >= l.DailyMail {
		return problem.Detailf(problem.MailDailyCap, "%d messages came today, which is what the plan allows", today)
	}
	return nil
}

// microsPerMilli converts between the precision of stored times and that of the API.
const microsPerMilli = 1000

// Reservation is a message reserved for one recipient of a batch: quotas were checked and the message got its identifier, but nothing is stored.
type Reservation struct {
	Box     id.Mailbox
	Address string // of the mailbox, without a tag
	Message id.Message
	At      time.Time     // later than all earlier messages of the mailbox: by a microsecond within a batch, otherwise by a millisecond or more
	RawFor  time.Duration // retention of the raw message
	Account id.Account    // owner of the mailbox; "": a guest
	Members []id.Account  // the accounts that read the mailbox beside its owner
	Domain  id.Domain     // the private domain that the mailbox is on; "": a public one
}

// Batch reserves mailbox quota for a batch of mails inside one transaction. It reads all mailboxes at once, accepts or rejects each mail as a
// whole, and writes each changed mailbox once. It belongs to the goroutine of the transaction.
type Batch struct {
	s        *Service
	now      time.Time
	boxes    map[string]*batchBox         // by address; nil for an address without a mailbox
	accounts map[id.Account]*accountQuota // nil until a mailbox of an account is met
	changed  []*batchBox
	opened   []*batchBox // by mail
}

// batchBox is a mailbox in a batch, with the changes that SaveTx will write.
type batchBox struct {
	*Mailbox
	limits   Limits
	dirty    bool // is in Batch.changed
	unopened bool // a mailbox of a catch-all, the sink or staff that is created with its first message
	members  []id.Account
}

// lookupMax bounds the addresses in one statement.
const lookupMax = 512

// BatchTx reads the mailboxes at addresses. Where others can write at the same time it locks them (db.DB.UpdateLocked): all
// batches lock mailboxes in the order of their addresses, then private domains, accounts and expired mailboxes (sql.go).
// sink maps those of the addresses that the sink accepted to its account; it may be nil.
func (s *Service) BatchTx(ctx context.Context, tx *db.Tx, addresses []string, sink map[string]id.Account) (*Batch, error) {
	b := &Batch{s: s, now: s.clock.Now(), boxes: make(map[string]*batchBox, len(addresses))}
	distinct := make([]string, 0, len(addresses))
	for _, a := range addresses {
		if _, duplicate := b.boxes[a]; !duplicate {
			b.boxes[a] = nil
			distinct = append(distinct, a)
		}
	}
	slices.Sort(distinct) // the order of the locks
	for some := range slices.Chunk(distinct, lookupMax) {
		if err := b.readTx(ctx, tx, some); err != nil {
			return nil, err
		}
	}
	if err := b.catchAllTx(ctx, tx); err != nil {
		return nil, err
	}
	if err := b.addStaff(ctx); err != nil {
		return nil, err
	}
	return b, b.sinkTx(ctx, tx, sink)
}

// readTx reads the mailboxes at addresses, and their accounts.
func (b *Batch) readTx(ctx context.Context, tx *db.Tx, addresses []string) error {
	list, args := db.In(1, addresses)
	boxes, err := db.Collect(ctx, tx, scanForMail, selectByAddresses+list+byAddress(tx.Engine()), args...)
	if err != nil {
		return fmt.Errorf("read the mailboxes of a batch: %w", err)
	}
	guests, err := b.s.plans.MailboxLimits(ctx, "")
	if err != nil {
		return err
	}
	found := make([]*batchBox, len(boxes))
	for i, m := range boxes {
		found[i] = &batchBox{Mailbox: m, limits: b.s.limitsOf(m, guests)}
		b.boxes[m.Address] = found[i]
	}
	if err := b.readAccountsTx(ctx, tx, found); err != nil {
		return err
	}
	return b.readMembersTx(ctx, tx, found)
}

// Reserve reserves a message in each mailbox that its addresses lead to, one for a mailbox that occurs more than once. It fails
// if any of the mailboxes rejects the mail, and then reserves none. Errors: mail.mailbox_unknown, mail.mailbox_full, mail.daily_cap.
func (b *Batch) Reserve(addresses []string) ([]Reservation, error) {
	boxes := make([]*batchBox, 0, len(addresses))
	for _, a := range addresses {
		box := b.boxes[a]
		if box == nil || !box.Live(b.now) {
			b.s.recent.forget(a) // another process has ended it: a sender that tries again gets the reply at RCPT
			return nil, problem.New(problem.MailMailboxUnknown)
		}
		if slices.Contains(boxes, box) {
			continue
		}
		if err := b.s.checkQuota(box.Mailbox, box.limits, sharingCount(boxes, box)); err != nil {
			return nil, err
		}
		if box.unopened && box.Source == CatchAll && b.freeAfter(boxes, box) == 0 {
			return nil, noFreeMailbox()
		}
		boxes = append(boxes, box)
	}
	reservations := make([]Reservation, 0, len(boxes))
	for _, box := range boxes {
		reservations = append(reservations, b.reserve(box))
	}
	return reservations, nil
}

// sharingCount returns how many of the boxes share the account's daily count with box. The same mail will count for each of them.
func sharingCount(boxes []*batchBox, box *batchBox) (n int) {
	if box.account == nil {
		return 0
	}
	for _, other := range boxes {
		if other.account == box.account {
			n++
		}
	}
	return n
}

// reserve counts a message in a mailbox and gives it a time and an identifier.
func (b *Batch) reserve(box *batchBox) Reservation {
	today := day(b.now)
	box.own.add(today)
	if a := b.accounts[box.Owner.Account]; a != nil {
		a.dayCount.add(today)
		a.dirty = true
	}
	b.open(box)
	box.MessageCount++
	box.UnreadCount++
	// The time is later than that of the mailbox's last message, whatever the clock of this machine says: a client that asks for
	// messages after one it has seen must find everything that was committed since. Messages of an earlier transaction may have
	// been seen, with times in milliseconds, so the next one gets at least the next millisecond.
	if box.dirty {
		box.lastAt++
	} else {
		box.dirty = true
		b.changed = append(b.changed, box)
		box.lastAt = max(b.now.UnixMicro(), (box.lastAt/microsPerMilli+1)*microsPerMilli)
	}
	if a := b.accounts[box.Owner.Account]; a != nil { // the same for the account, whose event streams resume after a message
		box.lastAt = max(box.lastAt, a.lastAt+1)
		a.lastAt = box.lastAt
	}
	for _, member := range box.members {
		box.lastAt = max(box.lastAt, b.accounts[member].lastAt+1)
	}
	for _, member := range box.members {
		a := b.accounts[member]
		a.lastAt, a.dirty = box.lastAt, true
	}
	if a := b.accounts[box.Owner.Account]; a != nil && len(box.members) > 0 {
		a.lastAt = box.lastAt
	}
	at := time.UnixMicro(box.lastAt).UTC()
	return Reservation{
		Box: box.ID, Address: box.Address, Message: id.New[id.Message](at), At: at, RawFor: box.limits.RawFor,
		Account: box.Owner.Account, Members: box.members, Domain: box.Owner.Domain,
	}
}

// SaveTx writes the mailboxes that Reserve created or changed.
func (b *Batch) SaveTx(ctx context.Context, tx *db.Tx) error {
	if err := b.insertOpenedTx(ctx, tx); err != nil {
		return err
	}
	var boxes db.Texts
	var messages, unread, last, days, dayCounts db.Numbers
	for _, box := range b.changed {
		boxes, last = append(boxes, string(box.ID)), append(last, box.lastAt)
		messages, unread = append(messages, int64(box.MessageCount)), append(unread, int64(box.UnreadCount))
		days, dayCounts = append(days, box.own.day), append(dayCounts, int64(box.own.count))
	}
	if err := tx.QueueEach(ctx, updateReceived.On(tx.Engine()), boxes, messages, unread, last, days, dayCounts); err != nil {
		return fmt.Errorf("count mail of %d mailboxes: %w", len(boxes), err)
	}
	tx.AfterCommit(func() { b.s.recent.received(b.changed, b.now) })
	return b.saveDayCountsTx(ctx, tx)
}

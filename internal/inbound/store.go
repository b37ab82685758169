package inbound

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"syscall"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// storeBatch stores mails together, or one by one where the batch failed because of one of them.
func (s *Service) storeBatch(mails []*mail) error {
	err := s.store(mails)
	if err == nil || len(mails) == 1 || errors.Is(err, db.ErrUnavailable) {
		return err
	}
	s.Logger.Warn("batch failed, storing its mails one by one", "mails", len(mails), "error", err)
	for _, m := range mails {
		m.err, m.deliveries = nil, nil
		if err := s.store([]*mail{m}); err != nil { // writes the raw message again, too
			m.err = err
		}
	}
	return nil
}

// store starts to write the raw messages of a batch, inserts its rows in the meantime, and commits them once the raw messages are
// on stable storage. It uses no sender's context: a sender that disconnects must not fail the other mails.
//
// An error is that of the whole batch. A mail that a mailbox rejected has its own in mail.err, and is left out.
func (s *Service) store(mails []*mail) error {
	waitSynced, err := s.appendRaw(mails)
	if err != nil {
		return err
	}
	return s.DB.UpdateLocked(context.Background(),
		func(ctx context.Context, tx *db.Tx) error {
			if err := s.storeTx(ctx, tx, mails); err != nil {
				return err
			}
			return waitSynced()
		},
		func(ctx context.Context, q db.Queryer) (bool, error) { return s.isStored(ctx, q, mails) })
}

// appendRaw starts to write the raw messages of those mails that are not staged. waitSynced returns when they are on stable storage.
func (s *Service) appendRaw(mails []*mail) (waitSynced func() error, err error) {
	if s.DB.Full() {
		return nil, db.ErrFull
	}
	pending, _, records := unstaged(mails)
	if len(records) == 0 {
		return func() error { return nil }, nil
	}
	refs, wait, err := s.RawMessages.Append(s.Clock.Now(), records)
	if err != nil {
		return nil, fmt.Errorf("write the raw messages: %w: %w", diskError(err), err)
	}
	for i, m := range pending {
		m.ref = refs[i]
	}
	return func() error {
		if err := wait(); err != nil {
			return fmt.Errorf("sync the raw messages: %w: %w", diskError(err), err)
		}
		return nil
	}, nil
}

// diskError returns the kind of an error of the disk that holds the raw messages: db.ErrFull or db.ErrUnavailable. In both
// cases the mail was not stored, and its sender may try again.
func diskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return db.ErrFull
	}
	return db.ErrUnavailable
}

// isStored reports whether a batch was committed, after the connection was lost during its commit. Either all of its messages
// were stored or none, so it returns true at the first one it finds. It continues where one is missing, since a client may have
// deleted that one in the meantime.
func (s *Service) isStored(ctx context.Context, q db.Queryer, mails []*mail) (bool, error) {
	empty := true
	for _, m := range mails {
		for _, d := range m.deliveries {
			empty = false
			if stored, err := s.Messages.Stored(ctx, q, d.Box, d.Message); stored || err != nil {
				return stored, err
			}
		}
	}
	return empty, nil // if every mail was rejected, there was nothing to commit
}

// storeTx inserts the rows of a batch, in the order in which rows must be locked: see mailbox.Service.BatchTx. It may run more than once,
// so it first resets what an earlier run has set.
func (s *Service) storeTx(ctx context.Context, tx *db.Tx, mails []*mail) error {
	var addresses []string
	var sinkAccounts map[string]id.Account
	for _, m := range mails {
		m.err, m.deliveries = nil, nil
		addresses = append(addresses, m.keys...)
		if m.sinkAccounts != nil && sinkAccounts == nil {
			sinkAccounts = make(map[string]id.Account)
		}
		maps.Copy(sinkAccounts, m.sinkAccounts)
	}
	if err := s.insertRawTx(ctx, tx, mails); err != nil {
		return err
	}
	boxes, err := s.Mailboxes.BatchTx(ctx, tx, addresses, sinkAccounts)
	if err != nil {
		return err
	}
	before, err := s.checkMarksTx(ctx, tx, mails)
	if err != nil {
		return err
	}
	w := writes{copies: make([]message.Copy, 0, len(addresses)), wakeKeys: make([]string, 0, 2*len(addresses))}
	for _, m := range mails {
		if m.isStaged() && s.Clock.Now().Sub(m.stagedAt) > stagedFor {
			m.err = fmt.Errorf("a large mail waited longer than %v for its rows: %w", stagedFor, db.ErrUnavailable)
			continue
		}
		reservations, err := m.reserve(boxes, before)
		if err != nil {
			m.err = err // rejects this mail alone
			continue
		}
		w.add(m, reservations)
	}
	if err := s.Messages.InsertTx(ctx, tx, w.copies); err != nil {
		return err
	}
	if len(w.arrivals) > 0 {
		if err := s.SinkMails.InsertTx(ctx, tx, w.arrivals); err != nil {
			return err
		}
	}
	if before != nil {
		if err := s.Once.SaveTx(ctx, tx, before); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { s.Wake.Wake(w.wakeKeys...) })
	if err := boxes.SaveTx(ctx, tx); err != nil {
		return err
	}
	if err := s.trimProjectsTx(ctx, tx, w.ofProjects); err != nil || len(w.events) == 0 || s.Outbox == nil {
		return err
	}
	return s.Outbox.PublishTx(ctx, tx, w.events...)
}

// writes is what a batch stores and publishes.
type writes struct {
	copies   []message.Copy
	arrivals []sink.Arrival
	events   []event.Event
	wakeKeys []string

	ofProjects map[id.Mailbox]int // the messages of each project's mailbox; nil: there are none
}

// add adds a mail whose mailboxes have accepted it, and assigns its deliveries.
func (w *writes) add(m *mail, reservations []mailbox.Reservation) {
	m.assign(reservations)
	if a, ok := m.arrival(reservations); ok {
		w.arrivals = append(w.arrivals, a)
	}
	w.events = m.appendEvents(w.events, reservations)
	w.wakeKeys = appendAccountKeys(w.wakeKeys, reservations)
	for _, d := range m.deliveries {
		w.copies, w.wakeKeys = append(w.copies, message.Copy{Draft: m.draft, Delivery: d}), append(w.wakeKeys, mailbox.WakeKey(d.Box))
	}
	if m.project != nil {
		if w.ofProjects == nil {
			w.ofProjects = make(map[id.Mailbox]int)
		}
		w.ofProjects[m.project.Mailbox]++
	}
}

// checkMarksTx finds out which mails of a batch were stored before. It returns nil if none of them is stored once. It is called when the
// mailboxes are locked, so that it sees the marks of any other batch with the same mail.
func (s *Service) checkMarksTx(ctx context.Context, tx *db.Tx, mails []*mail) (*once.Check, error) {
	var marks []once.Mark
	for _, m := range mails {
		marks = append(marks, m.marks...)
	}
	if len(marks) == 0 {
		return nil, nil
	}
	return s.Once.CheckTx(ctx, tx, marks)
}

// reserve reserves a place in each mailbox of a mail. Error: once.ErrRepeated; those of mailbox.Batch.Reserve, mail.mailbox_unknown also where
// the project of the mail has ended.
func (m *mail) reserve(boxes *mailbox.Batch, before *once.Check) ([]mailbox.Reservation, error) {
	if before != nil && before.Has(m.marks) {
		return nil, once.ErrRepeated
	}
	if !m.ofProject(boxes) {
		return nil, problem.New(problem.MailMailboxUnknown)
	}
	reservations, err := boxes.Reserve(m.keys)
	if err == nil && before != nil {
		before.Add(m.marks)
	}
	return reservations, err
}

// appendAccountKeys appends the keys on which the event streams of the reservations' accounts wait.
func appendAccountKeys(wakeKeys []string, reservations []mailbox.Reservation) []string {
	for _, r := range reservations {
		if r.Account != "" {
			wakeKeys = append(wakeKeys, mailbox.AccountWakeKey(r.Account))
		}
		for _, member := range r.Members {
			wakeKeys = append(wakeKeys, mailbox.AccountWakeKey(member))
		}
	}
	return wakeKeys
}

// insertRawTx inserts the raw messages of a batch where they are kept in the database. This happens before the mailboxes are locked, so
// that their locks are held for less time. The raw message of a mail that is then rejected remains, out of reach of clients, until its
// partition is emptied.
func (s *Service) insertRawTx(ctx context.Context, tx *db.Tx, mails []*mail) error {
	_, refs, records := unstaged(mails)
	if len(records) == 0 {
		return nil
	}
	if err := s.RawMessages.InsertTx(ctx, tx, refs, records); err != nil {
		return fmt.Errorf("store the raw messages: %w", err)
	}
	return nil
}

// assign sets the deliveries of a mail, one for each reservation.
func (m *mail) assign(reservations []mailbox.Reservation) {
	m.deliveries = make([]message.Delivery, 0, len(reservations))
	for _, r := range reservations {
		d := message.Delivery{
			Box: r.Box, Message: r.Message, ReceivedAt: r.At, To: m.paths[r.Address],
			Raw: m.ref, RawUntil: r.At.Add(r.RawFor), OTP: m.codes[r.Address],
		}
		if m.project != nil {
			d.RawUntil = r.At.Add(m.project.Retention)
		}
		if r.Address == mailbox.StaffAddress {
			d.Client = m.client
		}
		if m.sinkAccounts[r.Address] != "" || m.project != nil {
			d.Tags = m.sinkDraft.Tags
		}
		m.deliveries = append(m.deliveries, d)
	}
}

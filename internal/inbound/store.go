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
	var wakeKeys []string
	var events []event.Event
	var copies []message.Copy
	var arrivals []sink.Arrival
	for _, m := range mails {
		if m.isStaged() && s.Clock.Now().Sub(m.stagedAt) > stagedFor {
			m.err = fmt.Errorf("a large mail waited longer than %v for its rows: %w", stagedFor, db.ErrUnavailable)
			continue
		}
		reservations, err := boxes.Reserve(m.keys)
		if err != nil {
			m.err = err // rejects this mail alone
			continue
		}
		m.assign(reservations)
		if a, ok := m.arrival(reservations); ok {
			arrivals = append(arrivals, a)
		}
		if s.Outbox != nil {
			events = m.appendEvents(events, reservations)
		}
		wakeKeys = appendAccountKeys(wakeKeys, reservations)
		for _, d := range m.deliveries {
			copies, wakeKeys = append(copies, message.Copy{Draft: m.draft, Delivery: d}), append(wakeKeys, mailbox.WakeKey(d.Box))
		}
	}
	if err := s.Messages.InsertTx(ctx, tx, copies); err != nil {
		return err
	}
	if len(arrivals) > 0 {
		if err := s.Sink.Mails.InsertTx(ctx, tx, arrivals); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { s.Wake.Wake(wakeKeys...) })
	if err := boxes.SaveTx(ctx, tx); err != nil || len(events) == 0 {
		return err
	}
	return s.Outbox.PublishTx(ctx, tx, events...)
}

// appendAccountKeys appends the keys on which the event streams of the reservations' accounts wait.
func appendAccountKeys(wakeKeys []string, reservations []mailbox.Reservation) []string {
	for _, r := range reservations {
		if r.Account != "" {
			wakeKeys = append(wakeKeys, mailbox.AccountWakeKey(r.Account))
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
	for _, r := range reservations {
		m.deliveries = append(m.deliveries, message.Delivery{
			Box: r.Box, Message: r.Message, ReceivedAt: r.At, To: m.paths[r.Address],
			Raw: m.ref, RawUntil: r.At.Add(r.RawFor), OTP: m.codes[r.Address],
		})
	}
}

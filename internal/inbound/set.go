package inbound

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/raw"
)

// A set holds at most this many mails and octets of what is written: enough to share a sync among all who wait, little
// enough that the first of them is not kept waiting.
const (
	setMax      = 512 // where Parts say nothing else
	setMaxBytes = 8 << 20
)

// mail is one mail on its way into a set.
type mail struct {
	draft   *message.Draft
	record  raw.Record
	room    *[]byte                 // where draft and record are
	keys    []string                // the recipients' mailboxes
	paths   map[string][]string     // by key, the forward-paths that led there
	codes   map[string]*message.OTP // by key, what a filter of the recipient's owner found; nil: none has any
	ref     raw.Ref
	staged  time.Time       // when the raw message was stored, ahead of the set; zero: it was not
	places  []message.Place // where it was put
	err     error
	settled chan struct{}
}

// Run collects the mails that are waiting and delivers them in sets until ctx ends; then those that wait are delivered
// still. There is no timer: a lone mail is delivered at once, many share what a set costs.
//
// The rows of a set are made while its raw messages are on their way to stable storage, and committed only when those are there,
// so that nobody is shown a mail that may yet be refused (docs/decisions/0002, 0035). What arrives meanwhile is the next set.
func (s *Service) Run(ctx context.Context) {
	defer close(s.ended)
	var lanes sync.WaitGroup
	for range lanesOf(s.DB.Engine()) {
		lanes.Go(func() { s.deliverSets(ctx) })
	}
	lanes.Wait()
}

// lanesOf is how many sets are stored at the same time. SQLite has one writer. PostgreSQL takes the raw messages of a set while it
// commits the set before, or all of it where the two have no mailbox in common (docs/decisions/0031).
func lanesOf(e db.Engine) int {
	if e == db.Postgres {
		return 2
	}
	return 1
}

// deliverSets delivers one set after the other.
func (s *Service) deliverSets(ctx context.Context) {
	for {
		select {
		case m := <-s.queue:
			s.deliverSet(m)
		case <-ctx.Done():
			for {
				select {
				case m := <-s.queue:
					s.deliverSet(m)
				default:
					return
				}
			}
		}
	}
}

// deliverSet stores a mail together with what waits behind it, and answers all of them.
func (s *Service) deliverSet(first *mail) {
	n := s.gather(first)
	s.observe(len(n.mails))
	err := s.storeAll(n.mails)
	s.settle(n.mails, err)
	if errors.Is(err, db.ErrUnavailable) && s.DB.Engine() == db.Postgres {
		s.deferWaiting(err)
	}
}

// deferWaiting answers the mails that wait behind a set which the database did not take in time. Each would else wait for a try
// of its own behind all others, longer than its sender was promised.
func (s *Service) deferWaiting(err error) {
	for {
		select {
		case m := <-s.queue:
			s.settle([]*mail{m}, err)
		default:
			return
		}
	}
}

// set is what is stored together.
type set struct {
	mails  []*mail
	most   int // mails
	octets int // that are written
}

func (n *set) add(m *mail) {
	n.mails, n.octets = append(n.mails, m), n.octets+len(m.record.Data)+m.draft.Octets(len(m.keys))
}

func (n *set) full() bool { return len(n.mails) >= n.most || n.octets >= setMaxBytes }

func (s *Service) observe(mails int) {
	if s.ObserveSet != nil {
		s.ObserveSet(mails)
	}
}

// gather makes a set of a mail and of what waits already, as far as there is room.
func (s *Service) gather(first *mail) *set {
	n := &set{most: s.SetMax}
	n.add(first)
	// Senders whose mails are nearly ready go first: where the processor is what is scarce, they then share this set instead
	// of paying for one of their own. Where it is not, nobody is waiting to run and this costs nothing.
	runtime.Gosched()
	for !n.full() {
		select {
		case m := <-s.queue:
			n.add(m)
		default:
			return n
		}
	}
	return n
}

// write begins to write the raw messages of a set.
func (s *Service) write(set []*mail) (Synced, error) {
	if s.DB.Full() {
		return nil, db.ErrFull
	}
	mails, _, records := unstaged(set)
	if len(records) == 0 {
		return stored{}, nil
	}
	refs, synced, err := s.RawMessages.Append(s.Clock.Now(), records)
	if err != nil {
		return nil, fmt.Errorf("write the raw messages: %w: %w", unavailable(err), err)
	}
	for i, m := range mails {
		m.ref = refs[i]
	}
	return synced, nil
}

// stored is the Synced of raw messages that are on stable storage.
type stored struct{}

// Wait returns at once.
func (stored) Wait() error { return nil }

// unavailable is what an error of the raw messages' disk means for the mail: nothing is stored, and it may come again.
func unavailable(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return db.ErrFull
	}
	return db.ErrUnavailable
}

// durable waits until raw messages are on stable storage.
func durable(written Synced) error {
	if err := written.Wait(); err != nil {
		return fmt.Errorf("sync the raw messages: %w: %w", unavailable(err), err)
	}
	return nil
}

// alone stores a mail that shares nothing, beside others that are stored likewise.
func (s *Service) alone(m *mail) {
	s.observe(1)
	only := []*mail{m}
	s.settle(only, s.store(only))
}

// storeAll stores mails together, or each alone where one of them may be at fault.
func (s *Service) storeAll(mails []*mail) error {
	err := s.store(mails)
	if err == nil || len(mails) == 1 || errors.Is(err, db.ErrUnavailable) {
		return err
	}
	s.Logger.Warn("a set of mails failed, trying each alone", "mails", len(mails), "error", err)
	for _, m := range mails {
		m.err, m.places = nil, nil
		if err := s.store([]*mail{m}); err != nil { // its raw message, too, has shared something
			m.err = err
		}
	}
	return nil
}

// settle answers each mail of a set; err is of the whole set.
func (s *Service) settle(set []*mail, err error) {
	for _, m := range set {
		if err != nil {
			m.err = err
		}
		close(m.settled)
	}
}

// store writes the raw messages of a set, and commits its rows once those are on stable storage. A sender who goes away does not
// stop the others, so no sender's context is used.
func (s *Service) store(set []*mail) error {
	written, err := s.write(set)
	if err != nil {
		return err
	}
	return s.DB.UpdateLocked(context.Background(),
		func(ctx context.Context, tx *db.Tx) error {
			if err := s.storeTx(ctx, tx, set); err != nil {
				return err
			}
			return durable(written)
		},
		func(ctx context.Context, q db.Queryer) (bool, error) { return s.stored(ctx, q, set) })
}

// stored tells whether a set was committed of which nobody heard: all of it is there, or nothing.
func (s *Service) stored(ctx context.Context, q db.Queryer, set []*mail) (bool, error) {
	placed := false
	for _, m := range set {
		for _, p := range m.places {
			placed = true
			if there, err := s.Messages.Stored(ctx, q, p.Box, p.Message); there || err != nil {
				return there, err
			}
		}
	}
	return !placed, nil // where none may enter there is nothing to commit
}

func (s *Service) storeTx(ctx context.Context, tx *db.Tx, set []*mail) error {
	var addresses []string
	for _, m := range set {
		m.err, m.places = nil, nil // it may have been run before, and undone
		addresses = append(addresses, m.keys...)
	}
	if err := s.keepRawTx(ctx, tx, set); err != nil {
		return err
	}
	intake, err := s.Mailboxes.IntakeTx(ctx, tx, addresses)
	if err != nil {
		return err
	}
	var wake []string
	var events []event.Event
	var copies []message.Copy
	for _, m := range set {
		if m.isStaged() && s.Clock.Now().Sub(m.staged) > stagedFor {
			m.err = fmt.Errorf("a large mail waited too long: %w", db.ErrUnavailable)
			continue
		}
		slots, err := intake.Book(m.keys)
		if err != nil {
			m.err = err // it is left out; its sender alone hears of it
			continue
		}
		m.place(slots)
		if s.Outbox != nil {
			events = m.tell(events, slots)
		}
		for _, p := range m.places {
			copies, wake = append(copies, message.Copy{Draft: m.draft, Place: p}), append(wake, mailbox.WakeKey(p.Box))
		}
	}
	if err := s.Messages.InsertTx(ctx, tx, copies); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.Wake.Wake(wake...) })
	if err := intake.SaveTx(ctx, tx); err != nil || len(events) == 0 {
		return err
	}
	return s.Outbox.PublishTx(ctx, tx, events...)
}

// keepRawTx stores the raw messages of a set, where that is done together with its rows. Those of mails that may not
// enter are no use to anybody, and go with the others.
func (s *Service) keepRawTx(ctx context.Context, tx *db.Tx, set []*mail) error {
	_, refs, records := unstaged(set)
	if len(records) == 0 {
		return nil
	}
	if err := s.RawMessages.KeepTx(ctx, tx, refs, records); err != nil {
		return fmt.Errorf("store the raw messages: %w", err)
	}
	return nil
}

// place puts a mail into its slots.
func (m *mail) place(slots []mailbox.Slot) {
	for _, slot := range slots {
		m.places = append(m.places, message.Place{
			Box: slot.Box, Message: slot.Message, ReceivedAt: slot.At, To: m.paths[slot.Address],
			Raw: m.ref, RawUntil: slot.At.Add(slot.RawFor), OTP: m.codes[slot.Address],
		})
	}
}

// messageIDs lists what a mail became, for the log.
func (m *mail) messageIDs() []id.Message {
	ids := make([]id.Message, len(m.places))
	for i, p := range m.places {
		ids[i] = p.Message
	}
	return ids
}

package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/original"
)

// A set holds at most this many mails and octets of originals: enough to share a sync among all who wait, little
// enough that the first of them is not kept waiting.
const (
	setMax      = 512
	setMaxBytes = 8 << 20
)

// mail is one mail on its way into a set.
type mail struct {
	draft   *message.Draft
	record  original.Record
	keys    []string            // the recipients' mailboxes
	paths   map[string][]string // by key, the forward-paths that led there
	ref     original.Ref
	places  []message.Place // where it was put
	err     error
	settled chan struct{}
}

// Run collects the mails that are waiting and delivers them in sets until ctx ends; then those that wait are delivered
// still. There is no timer: a lone mail is delivered at once, many share what a set costs.
func (s *Service) Run(ctx context.Context) {
	defer close(s.ended)
	for {
		select {
		case m := <-s.queue:
			s.deliver(s.collect(m))
		case <-ctx.Done():
			for {
				select {
				case m := <-s.queue:
					s.deliver(s.collect(m))
				default:
					return
				}
			}
		}
	}
}

func (s *Service) collect(first *mail) []*mail {
	set, size := []*mail{first}, len(first.record.Data)
	for len(set) < setMax && size < setMaxBytes {
		select {
		case m := <-s.queue:
			set, size = append(set, m), size+len(m.record.Data)
		default:
			return set
		}
	}
	return set
}

// deliver puts a set on stable storage and answers each of its mails.
func (s *Service) deliver(set []*mail) {
	err := s.store(set)
	if err != nil && len(set) > 1 && !errors.Is(err, db.ErrUnavailable) {
		s.Logger.Warn("a set of mails failed, trying each alone", "mails", len(set), "error", err)
		for _, m := range set {
			m.err, m.places = nil, nil
			if err := s.store([]*mail{m}); err != nil {
				m.err = err
			}
			close(m.settled)
		}
		return
	}
	for _, m := range set {
		if err != nil {
			m.err = err
		}
		close(m.settled)
	}
}

// store writes a set: the originals and the rows at the same time, and is done when both are on stable storage.
func (s *Service) store(set []*mail) error {
	records := make([]original.Record, len(set))
	for i, m := range set {
		records[i] = m.record
	}
	refs, synced, err := s.Originals.Append(s.Clock.Now(), records)
	if err != nil {
		return fmt.Errorf("write the originals: %w: %w", db.ErrUnavailable, err)
	}
	for i, m := range set {
		m.ref = refs[i]
	}
	// A sender who goes away does not stop the others of the set, so no sender's context is used here.
	err = s.DB.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error { return s.storeTx(ctx, tx, set) })
	if syncErr := synced.Wait(); syncErr != nil && err == nil {
		s.takeBack(set)
		err = fmt.Errorf("sync the originals: %w: %w", db.ErrUnavailable, syncErr)
	}
	return err
}

func (s *Service) storeTx(ctx context.Context, tx *db.Tx, set []*mail) error {
	var addresses []string
	for _, m := range set {
		addresses = append(addresses, m.keys...)
	}
	intake, err := s.Mailboxes.IntakeTx(ctx, tx, addresses)
	if err != nil {
		return err
	}
	var wake []string
	tails := make(map[time.Duration]message.Place)
	for _, m := range set {
		slots, err := intake.Book(m.keys)
		if err != nil {
			m.err = err // it is left out; its sender alone hears of it
			continue
		}
		if err := s.placeTx(ctx, tx, m, slots); err != nil {
			return err
		}
		for _, p := range m.places {
			wake = append(wake, mailbox.WakeKey(p.Box))
			if p.RawUntil.After(tails[m.record.Class].RawUntil) {
				tails[m.record.Class] = p
			}
		}
	}
	for class, p := range tails {
		if err := s.Messages.TailTx(ctx, tx, class, p.Raw, p.RawUntil); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { s.Wake.Wake(wake...) })
	return intake.SaveTx(ctx, tx)
}

func (s *Service) placeTx(ctx context.Context, tx *db.Tx, m *mail, slots []mailbox.Slot) error {
	for _, slot := range slots {
		p := message.Place{
			Box: slot.Box, Message: slot.Message, ReceivedAt: slot.At, To: m.paths[slot.Address],
			Raw: m.ref, RawUntil: slot.At.Add(slot.RawFor),
		}
		if err := s.Messages.InsertTx(ctx, tx, m.draft, p); err != nil {
			return fmt.Errorf("store message %s: %w", p.Message, err)
		}
		m.places = append(m.places, p)
	}
	return nil
}

// takeBack removes the rows of a set whose originals did not reach the disk: its senders are told to try again, and
// must not find their mail there twice.
func (s *Service) takeBack(set []*mail) {
	for _, m := range set {
		for _, p := range m.places {
			if err := s.Messages.Delete(context.Background(), p.Box, p.Message); err != nil {
				s.Logger.Error("a message could not be taken back", "message", p.Message, "error", err)
			}
		}
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

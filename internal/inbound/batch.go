package inbound

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/sink"
)

// Bounds of a batch: large enough to share a sync among all waiting senders, small enough that the first of them does
// not wait long for the last.
const (
	defaultBatchMax = 512     // mails
	batchOctets     = 8 << 20 // that are written
)

// mail is a prepared mail. It belongs to the goroutine that called Deliver until it is enqueued, then to the goroutine of
// its batch until done is closed, then to the caller of Deliver again.
type mail struct {
	draft      *message.Draft
	record     raw.Record
	buf        *[]byte                 // what draft and record alias; nil after release
	keys       []string                // addresses of the recipients' mailboxes, without duplicates
	paths      map[string][]string     // by key, the forward-paths that led to that mailbox
	sink       map[string]id.Account   // by key, the account of a recipient that the sink accepted; nil: there is none
	sunk       *sink.Draft             // how the sink lists the mail; nil: no recipient was of the sink
	sunkID     id.SinkMail             // its identifier there, once it is stored
	hasCode    bool                    // a code was found without filters
	codes      map[string]*message.OTP // by key, what a filter of the mailbox's owner found; nil: no recipient has filters
	ref        raw.Ref
	stagedAt   time.Time          // when the raw message was stored ahead of the batch; zero: it was not
	deliveries []message.Delivery // one for each mailbox, once it is stored
	err        error              // valid once done is closed
	done       chan struct{}
}

// messageIDs lists the messages that a mail became, for the log.
func (m *mail) messageIDs() []id.Message {
	ids := make([]id.Message, len(m.deliveries))
	for i, d := range m.deliveries {
		ids[i] = d.Message
	}
	return ids
}

// Run delivers the queued mails in batches until ctx ends, then those that are still queued.
//
// The rows of a batch are inserted while its raw messages are being synced, and committed only after that, so that no
// client sees a mail that may yet be rejected (docs/decisions/0002, docs/decisions/0035). Mails that arrive in the
// meantime form the next batch.
func (s *Service) Run(ctx context.Context) {
	defer close(s.ended)
	var workers sync.WaitGroup
	for range workersFor(s.DB.Engine()) {
		workers.Go(func() { s.deliverBatches(ctx) })
	}
	workers.Wait()
}

// workersFor returns how many batches are stored concurrently. SQLite has a single writer. PostgreSQL receives the raw
// messages of one batch while it commits another, and works on both where they share no mailbox, if there are many mails
// (besideMin, docs/decisions/0031).
func workersFor(e db.Engine) int {
	if e == db.Postgres {
		return 2
	}
	return 1
}

// besideMin is how many mails must be queued for a batch to begin beside another. Round trips and the start of each statement cost
// PostgreSQL as much as several mails, so smaller batches wait for the one under way, and grow.
const besideMin = 12

// deliverBatches delivers one batch after the other until ctx has ended and the queue is empty.
func (s *Service) deliverBatches(ctx context.Context) {
	for {
		select {
		case s.turn <- struct{}{}:
			more := s.deliverNext(ctx)
			<-s.turn
			if !more {
				return
			}
		case <-s.plenty:
			if len(s.queue) >= besideMin && !s.deliverNext(ctx) {
				return
			}
		}
	}
}

// deliverNext waits for a mail and delivers it with those queued behind it. It returns false when ctx has ended and none is queued.
func (s *Service) deliverNext(ctx context.Context) bool {
	select {
	case m := <-s.queue:
		s.deliverBatch(m)
		return true
	default:
	}
	select {
	case m := <-s.queue:
		s.deliverBatch(m)
		return true
	case <-ctx.Done():
		return len(s.queue) > 0
	}
}

// deliverBatch stores a mail together with those queued behind it, and replies to all of them.
func (s *Service) deliverBatch(first *mail) {
	b := s.collect(first)
	if s.ObserveBatch != nil {
		s.ObserveBatch(len(b.mails))
	}
	err := s.storeBatch(b.mails)
	reply(b.mails, err)
	if errors.Is(err, db.ErrUnavailable) && s.DB.Engine() == db.Postgres {
		s.rejectQueued(err)
	}
}

// batch is a number of mails that are stored in one transaction.
type batch struct {
	mails  []*mail
	octets int // that are written for all of them
}

func (b *batch) add(m *mail) {
	b.mails, b.octets = append(b.mails, m), b.octets+len(m.record.Data)+m.draft.Octets(len(m.keys))
}

// collect returns a batch of a mail and of those that are queued already, as many as fit. It does not wait for more.
func (s *Service) collect(first *mail) *batch {
	// The goroutines of mails that are nearly prepared run first, so that these share this batch instead of paying for one of their
	// own. With 4 KiB on reused connections the rate per CPU second is 15 % higher (make bench, two cores, 2026-11-23). A processor
	// with nothing else to run returns at once.
	runtime.Gosched()
	b := &batch{}
	b.add(first)
	for len(b.mails) < s.BatchMax && b.octets < batchOctets {
		select {
		case m := <-s.queue:
			b.add(m)
		default:
			return b
		}
	}
	return b
}

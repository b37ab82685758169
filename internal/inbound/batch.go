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
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/sink"
)

// Bounds of a batch: large enough that all waiting senders share a sync, small enough that the first of them does not wait
// long for the last.
const (
	defaultBatchMax = 512     // mails
	batchOctets     = 8 << 20 // octets that are written for the mails; the mail that exceeds it still joins the batch
)

// mail is a prepared mail. It belongs to the goroutine that called Deliver until it is enqueued, then to the worker that
// stores its batch until done is closed, then to the caller of Deliver again.
type mail struct {
	draft        *message.Draft
	record       raw.Record
	buf          *[]byte                 // memory that draft and record alias; nil after release
	keys         []string                // addresses of the recipients' mailboxes, without duplicates
	paths        map[string][]string     // by key, the forward-paths that led to that mailbox
	sinkAccounts map[string]id.Account   // by key, the account for which the sink accepted the recipient; nil: it accepted none
	project      *Project                // whose mail it is; nil: of no project
	sinkDraft    *sink.Draft             // its list entry in the sink; nil: neither the sink nor a project accepted a recipient
	sinkMail     id.SinkMail             // its identifier in the sink, once it is stored
	hasCode      bool                    // the built-in extractor found a code
	codes        map[string]*message.OTP // by key, the code that a filter of the mailbox's owner found; nil: no mailbox belongs to an account
	ref          raw.Ref
	stagedAt     time.Time          // when the raw message was stored ahead of the batch; zero: it was not
	client       string             // ratelimit.NetworkIdentity
	marks        []once.Mark        // one for each recipient of a mail that is stored once; nil: it is stored each time
	deliveries   []message.Delivery // one for each mailbox, once it is stored
	err          error              // valid once done is closed
	done         chan struct{}
}

// messageIDs lists the messages that were stored for a mail, for the log.
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

// workersFor returns how many batches may be stored concurrently. SQLite has a single writer. PostgreSQL can receive the raw
// messages of one batch while it commits another, and can work on both at once if they have no mailbox in common. A second
// batch is begun only if many mails are waiting (minConcurrent, docs/decisions/0031).
func workersFor(e db.Engine) int {
	if e == db.Postgres {
		return 2
	}
	return 1
}

// minConcurrent is how many mails must be queued for a batch to begin while another is being stored. Round trips and the start of each
// statement cost PostgreSQL as much as several mails, so a smaller batch waits for the current one, and grows meanwhile.
const minConcurrent = 12

// deliverBatches delivers one batch after the other until ctx has ended and the queue is empty. It is the goroutine of a worker. One worker
// at a time holds the turn and waits for mails; another stores a batch only if enough mails are queued.
func (s *Service) deliverBatches(ctx context.Context) {
	for {
		select {
		case s.turn <- struct{}{}:
			more := s.deliverNext(ctx)
			<-s.turn
			if !more {
				return
			}
		case <-s.concurrent:
			if len(s.queue) >= minConcurrent && !s.deliverNext(ctx) {
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
	if errors.Is(err, db.ErrUnavailable) && s.DB.Engine() == db.Postgres {
		s.rejectQueued(err) // before the reply, since a mail that is sent again after it is to be tried
	}
	reply(b.mails, err)
}

// batch is a number of mails that are stored in one transaction.
type batch struct {
	mails  []*mail
	octets int // written for all of them
}

func (b *batch) add(m *mail) {
	b.mails, b.octets = append(b.mails, m), b.octets+len(m.record.Data)+m.draft.Octets(len(m.keys))
}

// collect returns a batch of a mail and of those that are queued already, as many as fit. It does not wait for more.
func (s *Service) collect(first *mail) *batch {
	// Yield first, so that goroutines that have nearly prepared a mail can enqueue it and share this batch instead of paying for one
	// of their own. With mails of 4 KiB on reused connections this stores 15 % more mails per CPU second (make bench, two cores,
	// 2026-11-23). Gosched returns at once if no other goroutine is runnable.
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

// Package transcript keeps the SMTP dialogs of mail for the sink and for projects, so that tests can see what a client and the server said
// (docs/spec/faults.md#transcripts). Passwords and contents are not in them: package smtpd leaves them out.
//
// Record queues a transcript and returns at once, so that no mail waits for it. Run writes the queue, and reading waits until what this
// process has queued is written. The newest Max of an account are kept, for Retention.
package transcript

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// The bounds of what is kept.
const (
	Max       = 1000 // of an account
	Retention = 24 * time.Hour

	queueMax = 1000 // beyond it transcripts are dropped
	batchMax = 100
)

// The speakers of a dialog.
const (
	Client = "client"
	Server = "server"
)

// Line is a line of a dialog. The JSON names of its fields must not change, since it is stored as JSON.
type Line struct {
	At   clock.Stamp `json:"at" doc:"When the line was sent or received."`
	From string      `json:"from" pattern:"^(client|server)$" doc:"Who said it: client or server." example:"client"` // as an enum, generators make a constant Client of it
	Text string      `json:"text" doc:"The line. A description in square brackets stands for what is left out; asterisks stand for credentials." example:"RCPT TO:<ada@example.test>"`
}

// Transcript is the dialog of one mail: how the session began, and everything from MAIL to the last reply.
type Transcript struct {
	ID      id.Transcript
	Account id.Account // the owner of the sink or of the project
	Project string     // its name; "": the sink
	Mailbox id.Mailbox // of the project; "": the sink
	At      time.Time  // when the mail ended
	Refused bool       // a command of the mail was refused
	From    string     // the reverse-path
	To      []string   // the recipients that were named, also those that were refused
	Stored  []Stored   // the messages that it became
	Lines   []Line
}

// Stored is a message that a mail became, and its mailbox.
type Stored struct {
	Mailbox id.Mailbox
	Message id.Message
}

// Service keeps transcripts. It is safe for concurrent use.
type Service struct {
	db     *db.DB
	clock  clock.Clock
	logger *slog.Logger
	wake   chan struct{} // has an element if the queue may have transcripts

	// mu guards the fields below.
	mu      sync.Mutex
	queue   []*Transcript
	done    int64 // transcripts that have left the queue
	running bool

	written *sync.Cond // signalled after a batch and when Run ends; its lock is mu
}

// New returns a Service. Run must run for transcripts to be written, and Sweep must be called periodically.
func New(d *db.DB, c clock.Clock, l *slog.Logger) *Service {
	s := &Service{db: d, clock: c, logger: l, wake: make(chan struct{}, 1), running: true}
	s.written = sync.NewCond(&s.mu)
	return s
}

// Record queues a transcript. It does not block. While the queue is full, transcripts are dropped.
func (s *Service) Record(t *Transcript) {
	t.ID = id.New[id.Transcript](t.At)
	s.mu.Lock()
	if len(s.queue) < queueMax {
		s.queue = append(s.queue, t)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run writes queued transcripts until ctx ends, and then those that are left. Batches that fail are dropped.
func (s *Service) Run(ctx context.Context) {
	defer s.end()
	for {
		for s.writeBatch(context.WithoutCancel(ctx)) {
			continue
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// end lets readers go that wait for Run.
func (s *Service) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	s.written.Broadcast()
}

// writeBatch writes the first transcripts of the queue. It returns false if there are none.
func (s *Service) writeBatch(ctx context.Context) bool {
	s.mu.Lock()
	batch := s.queue[:min(len(s.queue), batchMax)]
	s.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return insertTx(ctx, tx, batch) })
	if err != nil {
		s.logger.WarnContext(ctx, "writing transcripts failed, they are dropped", "count", len(batch), "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append([]*Transcript(nil), s.queue[len(batch):]...)
	s.done += int64(len(batch))
	s.written.Broadcast()
	return true
}

// await waits until what is queued now is written.
func (s *Service) await() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for until := s.done + int64(len(s.queue)); s.running && s.done < until; {
		s.written.Wait()
	}
}

// Of returns the transcript of a message. The caller has checked that its client may read the message. Error: transcript.not_found.
func (s *Service) Of(ctx context.Context, message id.Message) (*Transcript, error) {
	s.await()
	t, err := queryOf(ctx, s.db, message, s.clock.Now().Add(-Retention))
	if err == nil && t == nil {
		err = problem.New(problem.TranscriptNotFound)
	}
	return t, err
}

// Refused returns at most max transcripts of an account of which a command was refused, after since and before the one given, newest
// first. If before is "", it begins with the newest.
func (s *Service) Refused(ctx context.Context, account id.Account, since time.Time, before id.Transcript, max int) ([]*Transcript, error) {
	s.await()
	if oldest := s.clock.Now().Add(-Retention); since.Before(oldest) {
		since = oldest
	}
	return queryRefused(ctx, s.db, account, since, before, max)
}

// EraseTx deletes the transcripts of an account that leaves. Those that are recorded later are deleted by Sweep when they are old.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	_, err := tx.Exec(ctx, deleteOf, account)
	return err
}

// Sweep deletes transcripts that are older than Retention, those of which no message exists any more, those of projects that have ended, and
// beyond Max the oldest of each account. A periodic job calls it.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return sweepTx(ctx, tx, s.clock.Now().Add(-Retention))
	})
}

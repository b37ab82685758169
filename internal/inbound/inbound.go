// Package inbound receives mail: it accepts recipients, and delivers a mail to its mailboxes. Deliver returns nil only
// when the mail is on stable storage, so that the SMTP session may then reply 250. The package does not speak SMTP and
// contains no SQL.
//
// # Batches
//
// Three things are batched while a mail is stored, because three costs are shared, each among other requests:
//
//   - mails, here: Run stores the mails that are waiting in one transaction, with a handful of statements for all of
//     them. Statements are the largest cost of a mail.
//   - raw messages, in package raw: a segment writes the records of a batch at once and shares one fdatasync among all
//     batches and large mails that are waiting for it. There is a segment for each retention class, so a batch of mails
//     can need several.
//   - transactions, in package db: SQLite's writer commits the transactions that are waiting together, those of the API
//     and of jobs as well as that of a batch of mails, and syncs its log once (group commit). PostgreSQL does this itself.
//
// None of them waits for a timer: each takes one element and those that are already queued behind it. A lone mail is
// therefore delivered at once, and batches grow with the load.
package inbound

import (
	"context"
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/sink"
	"github.com/gonebox/gonebox/internal/wake"
)

// Domains looks up the domains that receive mail.
type Domains interface {
	// Served fails with mail.domain_not_served or mail.domain_suspended. For a private domain it returns the owner and
	// the identifier: mail for an unused local part opens a mailbox there.
	Served(ctx context.Context, name string) (owner id.Account, private id.Domain, err error)
}

// RawMessages stores raw messages. There are two implementations: segment files beside SQLite, and a table of PostgreSQL.
type RawMessages interface {
	// Append assigns references to records and, where they are kept in files, starts to write them. They are on stable
	// storage once wait has returned nil. It does not retain records, but it reads their data until then.
	Append(at time.Time, records []raw.Record) (refs []raw.Ref, wait func() error, err error)
	// InsertTx stores records where raw messages are kept in the database, in the transaction of their messages.
	// Otherwise it does nothing.
	InsertTx(ctx context.Context, tx *db.Tx, refs []raw.Ref, records []raw.Record) error
}

// Outbox enqueues events for subscribed webhook endpoints.
type Outbox interface {
	// PublishTx enqueues in the transaction that stores what the events report.
	PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error
}

// Authenticator checks SPF, DKIM and DMARC within bounded time.
type Authenticator interface {
	Check(ctx context.Context, in mailauth.Input) mailauth.Result
	Header(r mailauth.Result) string // the value of Authentication-Results
}

// Parts are the dependencies and settings of a Service.
type Parts struct {
	DB            *db.DB
	Clock         clock.Clock
	Wake          *wake.Hub
	Domains       Domains
	Mailboxes     *mailbox.Service
	Messages      *message.Service
	RawMessages   RawMessages
	Filters       *filter.Service // used only for recipients whose mailbox belongs to an account
	Outbox        Outbox          // receives events of mailboxes that belong to an account; nil: there are no webhooks
	Sink          *Sink           // nil: there is none
	Once          *once.Store     // remembers mail that is stored once (Envelope.Once); nil: there is none
	Projects      Projects        // nil: there are none
	SinkMails     *sink.Service   // lists the mail of the sink and of projects for test tools; nil: there is neither
	Authenticator Authenticator
	Logger        *slog.Logger
	Hostname      string // of this server, for the trace fields
	AttachmentMax int64  // largest attachment that is kept, in octets
	BatchMax      int    // most mails in a batch; 0: 512

	// AllowStaff counts a recipient whose mail is for staff, and reports whether the client may name one more today; nil: it always may.
	AllowStaff func(client netip.Addr) bool

	// ObserveStored is called for each message that was stored, with its source and whether a code was found; nil: not called.
	ObserveStored func(env *Envelope, stored Stored, source string, code bool)

	// ObserveBatch is called with the number of mails of each batch; nil: not called.
	ObserveBatch func(mails int)
}

// Service receives mail. Run must be running for Deliver to return.
type Service struct {
	Parts
	queue       chan *mail    // prepared mails that wait for a batch
	largeWrites chan struct{} // holds a token while the raw message of a large mail is written; capacity 1
	ended       chan struct{} // closed when Run has returned

	turn       chan struct{} // holds a token while a worker waits for a mail or stores a batch in turn; capacity 1
	concurrent chan struct{} // holds a token when the queue may be long enough for a second, concurrent batch; capacity 1

	extractions chan struct{} // holds a token for each mail that is being searched for a code; capacity GOMAXPROCS
}

// New returns a Service. It does not start Run.
func New(p Parts) *Service {
	if p.BatchMax == 0 {
		p.BatchMax = defaultBatchMax
	}
	return &Service{
		Parts: p, queue: make(chan *mail, p.BatchMax), largeWrites: make(chan struct{}, 1), ended: make(chan struct{}),
		turn: make(chan struct{}, 1), concurrent: make(chan struct{}, 1),
		extractions: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

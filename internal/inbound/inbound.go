// Package inbound is mail coming in: it accepts a recipient and delivers a mail to mailboxes, on stable storage before
// it says so (design: flow 1). It refuses to speak SMTP and knows no SQL.
package inbound

import (
	"context"
	"log/slog"
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
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/wake"
)

// Domains tells which domains mail is taken for.
type Domains interface {
	// Served answers mail.domain_not_served or mail.domain_suspended. Of a private domain it tells whose it is, and
	// which: mail to an unused local part opens a mailbox there.
	Served(ctx context.Context, name string) (owner id.Account, private id.Domain, err error)
}

// Mailboxes finds mailboxes and books mail into them.
type Mailboxes interface {
	Find(ctx context.Context, address string) (*mailbox.Mailbox, mailbox.Limits, error)
	Takes(m *mailbox.Mailbox, l mailbox.Limits) error
	Opens(ctx context.Context, account id.Account, local string) (mailbox.Limits, error)
	IntakeTx(ctx context.Context, tx *db.Tx, addresses []string) (*mailbox.Intake, error)
}

// Messages stores mail.
type Messages interface {
	NewDraft(room []byte, c message.Content, copies int) (*message.Draft, []byte)
	Stage(ctx context.Context, d *message.Draft) error   // before InsertTx, where a draft is large
	Discard(ctx context.Context, d *message.Draft) error // instead of InsertTx
	InsertTx(ctx context.Context, tx *db.Tx, copies []message.Copy) error
	Stored(ctx context.Context, q db.Queryer, box id.Mailbox, m id.Message) (bool, error)
}

// Filters finds codes as the owners of mailboxes want them found; see package filter.
type Filters interface {
	Match(ctx context.Context, account id.Account, domain id.Domain, m filter.Mail, among int) (*filter.Found, error)
}

// RawMessages stores raw messages; see package raw.
type RawMessages interface {
	// Append begins to write records; they may be relied on once the returned Synced has waited without an error.
	Append(at time.Time, records []raw.Record) ([]raw.Ref, Synced, error)
	// KeepTx writes records where raw messages are kept in the database: together with their messages.
	KeepTx(ctx context.Context, tx *db.Tx, refs []raw.Ref, records []raw.Record) error
}

// Outbox takes events to those who want to hear of them.
type Outbox interface {
	// PublishTx joins the transaction of what happened.
	PublishTx(ctx context.Context, tx *db.Tx, events ...event.Event) error
}

// Synced waits until something is on stable storage.
type Synced interface{ Wait() error }

// Authenticator gives the verdicts on a sender within bounded time.
type Authenticator interface {
	Check(ctx context.Context, in mailauth.Input) mailauth.Result
	Header(r mailauth.Result) string // the value of Authentication-Results
}

// Parts are what the service is put together from.
type Parts struct {
	DB            *db.DB
	Clock         clock.Clock
	Wake          *wake.Hub
	Domains       Domains
	Mailboxes     Mailboxes
	Messages      Messages
	RawMessages   RawMessages
	Filters       Filters // asked only for mailboxes of accounts
	Outbox        Outbox  // told only of mail for mailboxes of accounts; nil: nobody is
	Authenticator Authenticator
	Logger        *slog.Logger
	Hostname      string // of this server, for the fields it puts in front of a mail
	AttachmentMax int64  // octets of an attachment that is kept
	SetMax        int    // mails that share a transaction at most; 0: 512. With 1 each has a plain one of its own, beside others

	// ObserveSet hears how many mails shared a set, for the metrics; it may be nil.
	ObserveSet func(mails int)
}

// Service takes mail in. Run must be running for Deliver to answer.
type Service struct {
	Parts
	queue chan *mail
	large chan struct{} // one raw message of a large mail is written at a time
	ended chan struct{} // closed when Run has returned

	extracting chan struct{} // holds one for each mail in which a code is looked for
}

// New assembles the service.
func New(p Parts) *Service {
	if p.SetMax == 0 {
		p.SetMax = setMax
	}
	return &Service{
		Parts: p, queue: make(chan *mail, p.SetMax), large: make(chan struct{}, 1), ended: make(chan struct{}), extracting: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

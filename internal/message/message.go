// Package message stores received messages: listing and waiting, reading, the latest code, raw messages and attachments
// (docs/spec/messages.md). It does not parse mail, and does not decide who may read it.
package message

import (
	"context"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/wake"
)

// Mailboxes accesses the mailboxes that messages belong to.
type Mailboxes interface {
	// Live reports whether a mailbox has neither ended nor expired, so that mail can still arrive.
	Live(ctx context.Context, box id.Mailbox) (bool, error)
	// CountTx adds to a mailbox's counts of messages and of unread messages.
	CountTx(ctx context.Context, tx *db.Tx, box id.Mailbox, messages, unread int) error
	// SeenTx records for event streams that messages were marked as read or unread.
	SeenTx(ctx context.Context, tx *db.Tx, box id.Mailbox, seen bool, messages ...id.Message) error
	// TaggedTx records for event streams that messages got other tags.
	TaggedTx(ctx context.Context, tx *db.Tx, box id.Mailbox, messages ...id.Message) error
	// DeletedTx records for event streams that messages were deleted, all of which were read or all unread.
	DeletedTx(ctx context.Context, tx *db.Tx, box id.Mailbox, seen bool, messages ...id.Message) error
}

// RawMessages stores raw messages until their retention is over.
type RawMessages interface {
	NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error) // raw.ErrGone when erased
}

// Policy holds the operator's settings.
type Policy struct {
	PreviewLength  int   // characters of text in a summary
	InlineImageMax int64 // largest image that is embedded in the HTML, in octets
}

// Service implements message operations.
type Service struct {
	db          *db.DB
	clock       clock.Clock
	hub         *wake.Hub
	boxes       Mailboxes
	rawMessages RawMessages
	policy      Policy
	sanitizer   sanitizer
	stager      *blob.Stager
	stacks      wake.Stacks // for the reads of waiting calls
	program     func() int64
}

// Parts are the dependencies and settings of a Service.
type Parts struct {
	DB          *db.DB
	Clock       clock.Clock
	Wake        *wake.Hub
	Mailboxes   Mailboxes
	RawMessages RawMessages
	Policy      Policy
	// Program returns a number that only this program has, and none that would make another response of a message; 0: it is not known (yet).
	// What was made of a message is kept for that program. nil: nothing is kept.
	Program func() int64
}

// New returns a Service.
func New(p Parts) *Service {
	if p.Program == nil {
		p.Program = func() int64 { return 0 }
	}
	return &Service{
		db: p.DB, clock: p.Clock, hub: p.Wake, boxes: p.Mailboxes, rawMessages: p.RawMessages, policy: p.Policy, sanitizer: newSanitizer(),
		stager: blob.NewStager(p.DB), stacks: wake.NewStacks(), program: p.Program,
	}
}

// The forms of a message are those of package resource.
type (
	Address        = resource.Address
	Summary        = resource.Summary
	OTP            = resource.OTP
	Action         = resource.Action
	Message        = resource.Message
	Header         = resource.Header
	Attachment     = resource.Attachment
	Authentication = resource.Authentication
	Envelope       = resource.Envelope
)

// The values of Summary.Source.
const (
	SourceSMTP     = "smtp"
	SourceInjected = "injected"
	SourceIngress  = "ingress"
)

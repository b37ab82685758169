// Package outbound sends mail through the operator's relay (docs/spec/relay.md). It does not depend on why a mail is sent,
// nor on who may have it sent: it is called by what has decided both.
//
// EnqueueTx stores a mail in the transaction of its cause, and Store one whose content is large and read as it is stored. Both
// return before anything is sent. Run, in the processes with the role jobs, hands the mails to the relay, each in a job of a
// durable queue (package job): one process at a time tries it, and again after growing pauses until the relay takes it, refuses
// it with a 5yz reply, or it expires.
//
// A mail is sent at least once. It is sent twice only if a process dies, or cannot reach the database, between the relay's
// final reply and the commit that records it, or if that reply is lost. Its Message-ID, or Resent-Message-ID, is the same each time.
//
// Each try is one line in the log, without the address, and one entry of the delivery log.
package outbound

import (
	"context"
	"fmt"
	"log/slog"
	"net/mail"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/token"
)

// Relay is the operator's mail server.
type Relay struct {
	Host           string // a name or an address
	Port           string
	ImplicitTLS    bool   // TLS from the beginning of the connection (RFC 8314 §3)
	Loopback       bool   // it is on this machine, so that TLS is not needed
	User, Password string // "": it needs no authentication
}

// Purpose says what a mail is for, in the log.
type Purpose string

// The purposes.
const (
	Release         Purpose = "release"          // a message that an account takes out of a mailbox
	ConfirmEmail    Purpose = "confirm_email"    // a code for an address
	EmailChanged    Purpose = "email_changed"    // the notice to the address before
	PasswordReset   Purpose = "password_reset"   // a link that sets a password
	WebhookPaused   Purpose = "webhook_paused"   // the notice that deliveries to an endpoint wait
	PlanEnded       Purpose = "plan_ended"       // the notice that a subscription was not renewed
	DomainSuspended Purpose = "domain_suspended" // the notice that a domain takes no mail
)

// Outcome is what came of a try to send a mail. It is a label of the metrics.
type Outcome string

// The outcomes of a try.
const (
	Sent     Outcome = "sent"
	Deferred Outcome = "deferred" // it will be tried again
	Refused  Outcome = "refused"  // by a 5yz reply
	Expired  Outcome = "expired"  // it was given up, since the relay has not taken it in time
)

// AllOutcomes returns each value of Outcome.
func AllOutcomes() []Outcome { return []Outcome{Sent, Deferred, Refused, Expired} }

// Mail is a mail to send.
type Mail struct {
	Account id.Account
	Purpose Purpose
	To      string        // an address in ASCII
	For     time.Duration // how long it may be tried; at most Policy.KeepFor, which 0 stands for

	// Mailbox and Message are those that a release comes from; "" for other mail. The delivery log lists the tries of a release
	// for its mailbox, and those of other mail for its recipient.
	Mailbox id.Mailbox
	Message id.Message
}

// Policy says how long and how often a mail is tried.
type Policy struct {
	Retries  []time.Duration // pauses after the first try, the second and so on; the last one is repeated; not empty
	KeepFor  time.Duration   // how long a mail is tried
	InFlight int             // mails that a process sends at once
	Timeout  time.Duration   // for the relay to take a connection or a command, or to reply to it
}

// Parts are the dependencies of a Service. Notify and Observe may be nil.
type Parts struct {
	DB         *db.DB
	Clock      clock.Clock
	Logger     *slog.Logger
	Deliveries *deliverylog.Service
	Relay      Relay
	From       *mail.Address // the sender of all mail
	Hostname   string        // the name of this server, for EHLO and message identifiers
	Seal       [32]byte      // encrypts stored mail, since some hold codes
	Policy     Policy

	// Address returns the address of a mailbox, also of one that has ended; "" if it was erased.
	Address func(context.Context, id.Mailbox) (string, error)

	Notify        func()        // notifies other processes of new mail
	Observe       func(Outcome) // is called for each try
	SingleProcess bool          // no other process uses the database
	Grace         time.Duration // how long a try may continue at a shutdown
}

// Kind names the queue in the database, and the topic on which processes announce new mail.
const Kind = "outbound"

const (
	// attemptMax bounds a whole try, however slowly the relay reads.
	attemptMax = 20 * time.Minute
	// leaseSlack is what a lease has beyond attemptMax, for the transactions before and after a try.
	leaseSlack = time.Minute
	// laneMax bounds the mails of one account that a process sends at once.
	laneMax = 2
	// poll is how often the queue is polled for mail whose announcement was lost.
	poll = 2 * time.Second
)

// Service stores mail and sends it. It is safe for concurrent use.
type Service struct {
	Parts
	queue  *job.Queue
	sealer token.Sealer
}

// New returns a Service, which sends nothing until Run is called. The error is that of creating the cipher.
func New(p Parts) (*Service, error) {
	if p.Observe == nil {
		p.Observe = func(Outcome) {}
	}
	sealer, err := token.NewSealer(p.Seal)
	if err != nil {
		return nil, fmt.Errorf("seal outgoing mail: %w", err)
	}
	return &Service{Parts: p, sealer: sealer, queue: job.NewQueue(p.DB, p.Clock, job.Options{
		Kind: Kind, LaneMax: laneMax, Max: p.Policy.InFlight, Lease: attemptMax + leaseSlack, Poll: poll, Grace: p.Grace,
		Notify: p.Notify, SingleProcess: p.SingleProcess, Logger: p.Logger,
	})}, nil
}

// Wake makes Run look for mail that another process has stored.
func (s *Service) Wake() { s.queue.Wake() }

// Healthy returns an error if the last look for mail failed.
func (s *Service) Healthy() error { return s.queue.Healthy() }

// Working reports whether Run is looking for mail or sending some.
func (s *Service) Working() bool { return s.queue.Working() }

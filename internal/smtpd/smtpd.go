// Package smtpd receives mail over SMTP (RFC 5321): sessions, their limits and TLS. It stores nothing and does not
// relay. An Inbound decides which recipients exist, and stores the mail.
//
// A Server accepts connections and runs each as a session on a goroutine of its own (session.go). The session's wire
// buffers both directions and sets deadlines (wire.go); command dispatches to the commands, of which transaction.go
// has MAIL and RCPT and content.go DATA and BDAT. refusal.go turns the Inbound's errors into replies, and no other
// file does (docs/spec/smtp.md#replies).
//
// 250 for a message is sent only after Inbound.Deliver has returned no error, which means that it is on stable storage.
// The resources that a client can use are bounded: connections by address, commands and errors by session, the length
// of lines, the time of every wait, and the memory for messages by a budget. A session that waits for memory does not
// read, so that its client waits, too (docs/spec/smtp.md#memory). A panic ends only its session.
package smtpd

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/transcript"
)

// Inbound checks recipients and stores messages. Its methods are called by many goroutines. The context of a call ends when Shutdown
// runs out of time, but not when the client disconnects.
type Inbound interface {
	// Accept resolves a forward-path, given without brackets and source route, and as "postmaster" for <Postmaster>. For a
	// *problem.Problem the client gets the reply of docs/spec/smtp.md#replies; for any other error 451 4.3.0, and the error is logged.
	Accept(ctx context.Context, address string) (inbound.Recipient, error)
	// Deliver returns no error only when the message is on stable storage for every recipient of the envelope. After an error it is stored
	// for none. It must not use data after it returns. Its errors are treated like Accept's.
	Deliver(ctx context.Context, env *inbound.Envelope, data []byte) (inbound.Receipt, error)
	// Memory returns the most octets of memory that Deliver uses for a message of size octets, besides the message itself.
	Memory(size int64) int64
}

// Config configures a Server. A zero field means its default.
type Config struct {
	// Hostname is the name in the greeting and the EHLO reply; "localhost" by default.
	Hostname string
	// LMTP makes it an LMTP server (RFC 2033), for a mail server in front: there is a reply for each recipient of a message, so that one whose
	// mailbox is full does not keep it from the others. Every client is a relay (Relays).
	LMTP bool
	// MaxSize is the largest accepted message, in octets as RFC 1870 §3 counts them; 25 MiB by default.
	MaxSize int64
	// MaxRecipients is how many recipients a message may have; 100 by default (RFC 5321 §4.5.3.1.8).
	MaxRecipients int
	// MaxConnections is how many connections one address may hold at once, an IPv6 /64 counting as one; 100 by default.
	MaxConnections int
	// MaxCommands is how many commands a client may send without a message being accepted; 1,000 by default.
	MaxCommands int
	// MaxErrors is how many commands may get a 5yz reply without a message being accepted; 100 by default.
	MaxErrors int
	// AllowMessage is called for every MAIL and reports whether the client's address may send one more; nil: no limit.
	AllowMessage func(netip.Addr) (retryAfter time.Duration, ok bool)
	// RefusedRecipients is how many recipients of one client address may get a 5yz reply, an IPv6 /64 counting as one address. When there
	// are more in a window, and they are nine in ten of its recipients, further ones and new connections get 421 until the window ends.
	// Empty: no limit.
	RefusedRecipients ratelimit.Limit
	// Unlimited reports whether AllowMessage and RefusedRecipients do not apply to a client; nil: they apply to all.
	Unlimited func(netip.Addr) bool
	// AcceptAuth reports whether a client is offered SMTP AUTH (RFC 4954), which then accepts any credentials and grants nothing: for
	// applications under test that require authentication. nil: it is offered to no client.
	AcceptAuth func(netip.Addr) bool
	// SignIn signs sessions in to projects; nil: there are none.
	SignIn SignIn
	// BareLF reports whether a client may end lines with LF instead of CRLF, in commands and in content, which is then stored with CRLF
	// (docs/spec/smtp.md#lines-that-end-in-lf). A client for which it is true could smuggle mail past servers that it relays for, so it must
	// be the author of its mail. nil: no client may.
	BareLF func(netip.Addr) bool
	// DSN offers delivery status notifications (RFC 3461), so that applications under test may ask for them. Their parameters are checked,
	// and nothing is ever sent.
	DSN bool
	// TLS is the configuration for STARTTLS (RFC 3207) and ServeTLS; nil: STARTTLS is not offered.
	TLS *tls.Config
	// HandshakeRejected is called when a client ends a TLS handshake with an alert, as one does that does not trust the certificate. It must
	// not block. nil: it is not called.
	HandshakeRejected func()
	// TrustedProxies are the networks of load balancers that use the PROXY protocol. A connection from one of them must begin with its
	// header, and no other connection may. Empty: there are none.
	TrustedProxies []netip.Prefix
	// Relays are the networks of mail servers and proxies that may name the client whose mail they pass on with XCLIENT and XFORWARD, which
	// are unknown commands to all others (docs/spec/smtp.md#behind-a-relay). Empty: there are none.
	Relays []netip.Prefix
	// Memory is the budget for the memory of messages; nil: no bound. A message waits while it is exhausted, and gets 452 4.3.1 after
	// Timeouts.Memory.
	Memory *budget.Budget
	// Faults makes commands fail on purpose; nil: none do.
	Faults Faults
	// Transcribe gets the transcript of each mail of the sink and of projects after its last reply. It must not block. Transcribes reports
	// whether sessions of a client are recorded, of which there may be such mail. nil: none are.
	Transcribe  func(*transcript.Transcript)
	Transcribes func(netip.Addr) bool
	// Timeouts bound how long sessions wait.
	Timeouts Timeouts
	// Context provides values to the Inbound's calls, but does not cancel them; context.Background by default.
	Context context.Context
	// Clock is the source of the time of reception; the system's by default. Deadlines on sockets always use the
	// system's clock.
	Clock clock.Clock
	// Logger gets a line for each message and each fault; slog.Default by default.
	Logger *slog.Logger
	// Metrics counts connections, refusals and messages; a nil function is not called.
	Metrics Metrics
	// Blocks reports the clients, senders and recipients that the operator has blocked; nil: none.
	Blocks Blocks
	// Listed starts looking a client up in DNS blocklists, and returns without waiting. The function that it returns waits for the result, for
	// a bounded time, and returns the name of a list that contains the client, or "". RCPT of a listed client gets 554 5.7.1. nil: no client
	// is looked up.
	Listed func(ctx context.Context, client netip.Addr) (zone func() string)
	// Attempt is called for each recipient that was refused, after the reply was determined, and for each that a mail was stored for or whose
	// content was refused. It must not block. Recipients with an invalid address are not reported. nil: it is not called.
	Attempt func(inbound.Attempt)
}

// Blocks reports what the operator has blocked. Its methods are called by many goroutines and must not wait.
type Blocks interface {
	Client(addr netip.Addr) bool   // refused at the greeting
	Sender(address string) bool    // refused at MAIL
	Recipient(address string) bool // refused at RCPT; the address has no tag
}

// noBlocks blocks nothing.
type noBlocks struct{}

func (noBlocks) Client(netip.Addr) bool { return false }
func (noBlocks) Sender(string) bool     { return false }
func (noBlocks) Recipient(string) bool  { return false }

// Timeouts bound how long a session waits for its client. A zero field means its default.
type Timeouts struct {
	Command time.Duration // for the next command, and for a TLS handshake; 5 minutes (RFC 5321 §4.5.3.2.7)
	Data    time.Duration // for the next octets of a message, whatever its size; 3 minutes (§4.5.3.2.5)
	Write   time.Duration // for a client to receive replies; 2 minutes
	Memory  time.Duration // for memory; 1 minute, since clients wait 2 for the reply to DATA and 3 to send on (§4.5.3.2.4, §4.5.3.2.5)
	Session time.Duration // for the whole session, so that a client cannot hold it by sending slowly; 1 hour
}

// Metrics are callbacks for counting. They are called by the goroutines of sessions, and must not wait.
type Metrics struct {
	// Connections is called when the number of open sessions changes by delta, 1 or -1.
	Connections func(delta int)
	// Refused is called with the exceeded limit when a connection or a recipient is refused with 421: its address has too many connections, or
	// too many of its recipients were rejected.
	Refused func(ratelimit.Name)
	// Blocked is called when a connection, a MAIL or a RCPT command is refused because of a block of the operator or a DNS blocklist.
	Blocked func(Block)
	// Message is called at the end of a message of which content was received: with its outcome, the number of octets received, and the time
	// from the DATA or first BDAT command to the reply.
	Message func(outcome Outcome, octets int64, took time.Duration)
}

// Block is the kind of a block that refused a mail. It is a label of the metrics and of the log.
type Block string

// The kinds of blocks.
const (
	BlockedClient    Block = "client"    // by Config.Blocks, also one that a relay names
	BlockedSender    Block = "sender"    // by Config.Blocks
	BlockedRecipient Block = "recipient" // by Config.Blocks
	BlockedByList    Block = "dnsbl"     // the client, by Config.Listed
)

// AllBlocks returns each value of Block.
func AllBlocks() []Block {
	return []Block{BlockedClient, BlockedSender, BlockedRecipient, BlockedByList}
}

// Outcome is the outcome of a message. It is a label of the metrics and of the log.
type Outcome string

// The outcomes of a message whose content was begun.
const (
	Taken    Outcome = "taken"    // 250: it is on stable storage
	Deferred Outcome = "deferred" // 4yz: the client should try again
	Refused  Outcome = "refused"  // 5yz: the client must not try again
	Aborted  Outcome = "aborted"  // the client disconnected or timed out within the content
)

const (
	defaultMaxSize    = 25 << 20
	defaultRecipients = 100
	defaultPerAddress = 100
	defaultCommands   = 1000
	defaultErrors     = 100

	unbounded = 1 << 60 // octets of memory if Config.Memory is nil
)

// withDefaults returns the configuration with defaults for zero fields, and with functions that do nothing for nil
// ones.
func (c Config) withDefaults() Config {
	orDefault(&c.Hostname, "localhost")
	orDefault(&c.MaxSize, defaultMaxSize)
	orDefault(&c.MaxRecipients, defaultRecipients)
	orDefault(&c.MaxConnections, defaultPerAddress)
	orDefault(&c.MaxCommands, defaultCommands)
	orDefault(&c.MaxErrors, defaultErrors)
	orDefault(&c.Timeouts.Command, 5*time.Minute)
	orDefault(&c.Timeouts.Data, 3*time.Minute)
	orDefault(&c.Timeouts.Write, 2*time.Minute)
	orDefault(&c.Timeouts.Memory, time.Minute)
	orDefault(&c.Timeouts.Session, time.Hour)
	orDefault(&c.Context, context.Background())
	orDefault(&c.Clock, clock.System())
	if c.Memory == nil {
		c.Memory = budget.New(unbounded)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.AllowMessage == nil {
		c.AllowMessage = func(netip.Addr) (time.Duration, bool) { return 0, true }
	}
	if c.Blocks == nil {
		c.Blocks = noBlocks{}
	}
	if c.Unlimited == nil {
		c.Unlimited = func(netip.Addr) bool { return false }
	}
	if c.AcceptAuth == nil {
		c.AcceptAuth = func(netip.Addr) bool { return false }
	}
	if c.BareLF == nil {
		c.BareLF = func(netip.Addr) bool { return false }
	}
	if c.Metrics.Connections == nil {
		c.Metrics.Connections = func(int) {}
	}
	if c.Metrics.Refused == nil {
		c.Metrics.Refused = func(ratelimit.Name) {}
	}
	if c.Metrics.Blocked == nil {
		c.Metrics.Blocked = func(Block) {}
	}
	if c.Metrics.Message == nil {
		c.Metrics.Message = func(Outcome, int64, time.Duration) {}
	}
	return c
}

// orDefault sets a field that has its zero value.
func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Package smtpd receives mail over SMTP (RFC 5321): the session, its limits and TLS. It refuses to know what a mailbox is, keeps
// nothing and sends no mail on: whom mail is taken for, and where it goes, is the Inbound's affair.
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
)

// Inbound is what the sessions hand addresses and messages to. The context of both calls is the server's, not the client's:
// it ends when Shutdown runs out of time, never because the client went away.
type Inbound interface {
	// Accept says for which mailbox an address stands. The address comes without brackets and without a source route,
	// "postmaster" without a domain for <Postmaster>. A *problem.Problem is told to the client in the words of the reply table
	// (decisions §3); any other error is a fault of ours and becomes 451 4.3.0.
	Accept(ctx context.Context, address string) (inbound.Recipient, error)
	// Deliver returns nil only when the message is on stable storage for every recipient of the envelope; after an error it is
	// kept for none. data is valid during the call alone. Errors are told as Accept's are.
	Deliver(ctx context.Context, env *inbound.Envelope, data []byte) error
	// Memory is the most octets of memory that Deliver uses for a message of size octets, beside the message itself.
	Memory(size int64) int64
}

// Config says how a Server treats its clients. A zero field means its default.
type Config struct {
	// Hostname is the name in the greeting and the EHLO reply; "localhost" by default.
	Hostname string
	// MaxSize is the largest message taken, in octets as RFC 1870 §3 counts them; 25 MiB by default.
	MaxSize int64
	// MaxRecipients is how many recipients a message may have; 100 by default (RFC 5321 §4.5.3.1.8).
	MaxRecipients int
	// MaxConnections is how many connections one address may hold at once, an IPv6 /64 counting as one; 100 by default.
	MaxConnections int
	// MaxCommands is how many commands a client may send without a message being taken; 1,000 by default.
	MaxCommands int
	// MaxErrors is how many commands may be refused for good (5yz) without a message being taken; 100 by default.
	MaxErrors int
	// AllowMessage is asked at every MAIL whether the client's address may send one more; nil sets no limit.
	AllowMessage func(netip.Addr) (retryAfter time.Duration, ok bool)
	// RefusedRecipients is how many recipients of one address may be refused for good, an IPv6 /64 counting as one. With more in a window,
	// and nine in ten of all, the address hears 421 for further ones and for new connections until the window ends. Empty: no limit.
	RefusedRecipients ratelimit.Limit
	// TLS makes STARTTLS (RFC 3207) possible; nil leaves it out.
	TLS *tls.Config
	// TrustedProxies are the load balancers that speak the PROXY protocol to us. A connection from one of them must begin with
	// its header, and no other connection may have one. Empty: nobody speaks it.
	TrustedProxies []netip.Prefix
	// Memory is what messages take their memory from; nil sets no bound. A client waits while there is none, and hears 452 4.3.1 after
	// Timeouts.Memory.
	Memory *budget.Budget
	// Timeouts bound the waiting.
	Timeouts Timeouts
	// Context carries values into the Inbound's calls. Its end is not theirs. context.Background by default.
	Context context.Context
	// Clock dates the messages; the machine's by default. Deadlines on sockets always go by the machine's clock.
	Clock clock.Clock
	// Logger gets a line for each message and each fault; slog.Default by default.
	Logger *slog.Logger
	// Metrics are told what happens; a nil function is not called.
	Metrics Metrics
}

// Timeouts bound how long a session waits for its client. A zero field means its default.
type Timeouts struct {
	Command time.Duration // for the next command, and for a TLS handshake; 5 minutes (RFC 5321 §4.5.3.2.7)
	Data    time.Duration // for the next octets of a message, however long it is as a whole; 3 minutes (§4.5.3.2.5)
	Write   time.Duration // for a client to take our replies; 2 minutes
	Memory  time.Duration // for memory; 1 minute, since clients wait 2 for the reply to DATA and 3 to send on (§4.5.3.2.4, §4.5.3.2.5)
	Session time.Duration // for everything together, so that a client cannot stay by dripping; 1 hour
}

// Metrics are the moments worth counting. The functions are called by many sessions at once.
type Metrics struct {
	// Connections tells that the number of open sessions changed by delta, 1 or -1.
	Connections func(delta int)
	// Refused tells that a connection was turned away: its address has too many of them, or named too many recipients that are none.
	Refused func()
	// Message tells the end of a message whose content was begun: its outcome, its octets (all that came in, where it was too
	// large or broke off) and the time from the first command of its content to the reply.
	Message func(outcome Outcome, octets int64, took time.Duration)
}

// Outcome is what became of a message. It is a label of the metrics and of the log.
type Outcome string

// The outcomes of a message whose content was begun.
const (
	Taken    Outcome = "taken"    // 250: it is on stable storage
	Deferred Outcome = "deferred" // 4yz: the client is to try again
	Refused  Outcome = "refused"  // 5yz: the client is not to try again
	Aborted  Outcome = "aborted"  // the client went away or fell silent within the content
)

const (
	defaultMaxSize    = 25 << 20
	defaultRecipients = 100
	defaultPerAddress = 100
	defaultCommands   = 1000
	defaultErrors     = 100

	unbounded = 1 << 60 // octets of memory
)

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
	if c.Metrics.Connections == nil {
		c.Metrics.Connections = func(int) {}
	}
	if c.Metrics.Refused == nil {
		c.Metrics.Refused = func() {}
	}
	if c.Metrics.Message == nil {
		c.Metrics.Message = func(Outcome, int64, time.Duration) {}
	}
	return c
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Package webhook delivers events to the HTTP endpoints that accounts register (docs/spec/webhooks.md).
//
// Outbox.PublishTx enqueues a job for each subscribed endpoint in the transaction that causes the event, so an event
// is delivered if and only if its cause is committed. Service manages the endpoints, and its Run makes the deliveries:
// it signs the body, posts it, and stores the attempt, of which the last 100 of each endpoint are kept, together with
// the outcome of the job in one transaction. Failed attempts are retried by a schedule, and an endpoint that keeps
// failing is paused.
//
// Each event has one identifier and one body for all endpoints and attempts. Delivery is at least once and in no
// order. Concurrency for each endpoint and in total is bounded by package job, in which an endpoint is a lane; a
// running attempt holds no transaction. Upkeep must be called periodically.
//
// Other domains create the events through interfaces of their own. Package netguard decides where requests may go:
// this package only calls Guard and uses the clients it is given.
package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/job"
	"github.com/gonebox/gonebox/internal/token"
)

// Reason says why an endpoint is paused. The values are public in the API.
type Reason string

// The reasons. An endpoint without a reason is active.
const (
	Manual   Reason = "manual"   // by its owner
	Failures Reason = "failures" // Policy.PauseAfter consecutive attempts failed
	Gone     Reason = "gone"     // the endpoint responded with 410
)

// Endpoint is a webhook endpoint of an account, as it was when it was read.
type Endpoint struct {
	ID             id.Webhook
	Account        id.Account
	URL            string
	Events         []event.Name
	Domain         id.Domain // the private domain whose events it gets; "": all events of the account
	PausedReason   Reason    // "": it is active
	FailureCount   int       // consecutive failed attempts; 0 after a success or when the endpoint is resumed
	CreatedAt      time.Time
	LastDeliveryAt time.Time // when it last accepted an event; zero: never

	local           bool      // its URL was set by a trusted client, see Parts.Local
	accountDisabled bool      // its account is disabled
	attempts        int64     // attempts so far, which are numbered from 0
	secret          []byte    // sealed under Parts.Seal, bound to the identifier of the endpoint
	oldSecret       []byte    // the previous secret, sealed; nil: there is none
	oldSecretUntil  time.Time // deliveries are signed with oldSecret too until then
}

// Paused reports whether the endpoint is paused: its deliveries wait until it is resumed.
func (e *Endpoint) Paused() bool { return e.PausedReason != "" }

// holdsDeliveries reports whether deliveries are held back, because the endpoint is paused or its account is disabled.
func (e *Endpoint) holdsDeliveries() bool { return e.Paused() || e.accountDisabled }

// subscribesTo reports whether the endpoint is subscribed to an event. An endpoint that is restricted to a domain gets
// no event without that domain.
func (e *Endpoint) subscribesTo(ev event.Event) bool {
	return (e.Domain == "" || e.Domain == ev.Domain) && slices.Contains(e.Events, ev.Data.Name())
}

// lane returns the lane of the endpoint's jobs in the queue.
func (e *Endpoint) lane() string { return string(e.ID) }

// Plans returns the quotas of accounts.
type Plans interface {
	// WebhookMax returns how many endpoints an account may have.
	WebhookMax(ctx context.Context, account id.Account) (int, error)
}

// Domains returns the owners of private domains.
type Domains interface {
	// Owns reports whether a domain is a private domain of the account.
	Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error)
}

// Guard decides which URLs may be used; see package netguard. It must be safe for concurrent use.
type Guard interface {
	// CheckURL checks the form of a URL and the current addresses of its host. Its error is a sentence for the owner.
	// CheckURL looks up DNS, so it is not called within a transaction.
	CheckURL(ctx context.Context, rawURL string) error
}

// Local is the Guard and the Client for endpoints whose URLs were set by trusted clients: under profile dev those may
// be on this machine and in private networks (docs/spec/dev.md#webhooks).
type Local struct {
	Guard  Guard
	Client *http.Client
}

// Policy is the operator's settings, the keys below webhooks in the configuration. All fields are required.
type Policy struct {
	Retries       []time.Duration // waits before the second and further attempts; there is one attempt more than waits
	Jitter        float64         // the fraction by which a wait varies in both directions: 0.2 means between 80 and 120 %
	RetryAfterMax time.Duration   // longest Retry-After that is honoured
	PauseAfter    int             // consecutive failed attempts that pause an endpoint
	PendingMax    time.Duration   // how long deliveries wait for a paused endpoint, from when they were enqueued, and how long dead letters are kept
	Timeout       time.Duration   // of one attempt, from the DNS lookup to the end of the response body
	ResponseKept  int             // octets of a response body that are stored and shown
	OldSecretFor  time.Duration   // how long the previous secret signs too
	UserAgent     string
}

// Parts are the dependencies of a Service. All are required, except those whose comment says that they may be nil.
type Parts struct {
	DB      *db.DB
	Clock   clock.Clock
	Queue   *job.Queue
	Plans   Plans
	Domains Domains
	Guard   Guard
	Client  *http.Client   // follows no redirects, connects to no address that Guard forbids, and bounds what is read of a response body
	Local   *Local         // for endpoints of trusted clients; nil: there are none
	Seal    [32]byte       // the key that encrypts stored secrets
	Chance  func() float64 // returns numbers in [0, 1) for the jitter; nil: random ones
	Logger  *slog.Logger
	Policy  Policy

	// Observe is called after every attempt, for the metrics, from several goroutines; it may be nil.
	Observe func(succeeded bool, took time.Duration)
}

// Service implements webhook endpoints and delivers to them. It is safe for concurrent use.
type Service struct {
	Parts
	sealer   token.Sealer
	onPaused func(ctx context.Context, tx *db.Tx, e *Endpoint) error // nil: nothing
}

// OnPaused sets what is called when the service pauses an endpoint, in the transaction that stores it, and not when its owner does. It
// must be called before Run.
func (s *Service) OnPaused(fn func(ctx context.Context, tx *db.Tx, e *Endpoint) error) {
	s.onPaused = fn
}

// New returns a Service. It starts no goroutine: deliveries are made by Run. It fails only if the key cannot be used.
func New(p Parts) (*Service, error) {
	sealer, err := token.NewSealer(p.Seal)
	if err != nil {
		return nil, err
	}
	if p.Chance == nil {
		p.Chance = chance
	}
	return &Service{Parts: p, sealer: sealer}, nil
}

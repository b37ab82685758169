// Package webhook delivers events to the endpoints of accounts: signed deliveries with retries, and the last 100 attempts of
// each endpoint (docs/spec/webhooks.md). The other domains create the events, and package netguard decides where requests
// may go.
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

// Reason says why an endpoint is paused.
type Reason string

// The reasons. An endpoint without a reason is active.
const (
	Manual   Reason = "manual"   // by its owner
	Failures Reason = "failures" // Policy.PauseAfter consecutive attempts failed
	Gone     Reason = "gone"     // the endpoint answered 410
)

// Endpoint is a webhook endpoint of an account.
type Endpoint struct {
	ID             id.Webhook
	Account        id.Account
	URL            string
	Events         []event.Name
	Domain         id.Domain // the private domain whose events it gets; "": all events of the account
	PausedReason   Reason    // "": it is active
	FailureCount   int       // consecutive failed attempts
	CreatedAt      time.Time
	LastDeliveryAt time.Time // when it last accepted an event; zero: never

	local    bool   // its URL was set by a trusted client, see Parts.Local
	shut     bool   // its account is disabled
	attempts int64  // made so far
	secret   []byte // sealed
	old      []byte // the previous secret, sealed; nil: there is none
	oldUntil time.Time
}

// Paused reports whether the endpoint is paused: its deliveries wait until it is resumed.
func (e *Endpoint) Paused() bool { return e.PausedReason != "" }

// waits reports whether deliveries wait, until a paused endpoint is resumed or a disabled account is enabled again.
func (e *Endpoint) waits() bool { return e.Paused() || e.shut }

// wants reports whether the endpoint is subscribed to an event.
func (e *Endpoint) wants(ev event.Event) bool {
	return (e.Domain == "" || e.Domain == ev.Domain) && slices.Contains(e.Events, ev.Data.Name())
}

// lane returns the lane of the endpoint's jobs.
func (e *Endpoint) lane() string { return string(e.ID) }

// Plans gives the quotas of an account.
type Plans interface {
	WebhookMax(ctx context.Context, account id.Account) (int, error)
}

// Domains gives the owner of a private domain.
type Domains interface {
	Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error)
}

// Guard decides which URLs may be used; see package netguard.
type Guard interface {
	// CheckURL checks the form of a URL and the current addresses of its host. Its error is a sentence for the owner.
	CheckURL(ctx context.Context, rawURL string) error
}

// Local is the Guard and the Client for endpoints whose URLs were set by trusted clients: under profile: dev those may be on
// this machine and in private networks (docs/spec/dev.md#webhooks).
type Local struct {
	Guard  Guard
	Client *http.Client
}

// Policy is the operator's settings.
type Policy struct {
	Retries       []time.Duration // waits before the second and further attempts
	Jitter        float64         // the fraction by which a wait varies in both directions
	RetryAfterMax time.Duration   // longest Retry-After that is honoured
	PauseAfter    int             // consecutive failed attempts that pause an endpoint
	PendingMax    time.Duration   // how long deliveries wait for a paused endpoint, and dead letters are kept
	Timeout       time.Duration   // of one attempt
	AnswerKept    int             // octets of an answer that are shown
	OldSecretFor  time.Duration   // how long the previous secret signs too
	UserAgent     string
}

// Parts are the dependencies of a Service.
type Parts struct {
	DB      *db.DB
	Clock   clock.Clock
	Queue   *job.Queue
	Plans   Plans
	Domains Domains
	Guard   Guard
	Client  *http.Client // follows no redirects and connects to no address that Guard forbids
	Local   *Local       // for endpoints of trusted clients; nil: there are none
	Seal    [32]byte     // encrypts stored secrets
	Chance  func() float64
	Logger  *slog.Logger
	Policy  Policy

	// Observe is called after every attempt, for the metrics; it may be nil.
	Observe func(succeeded bool, took time.Duration)
}

// Service implements webhook endpoints. It is safe for concurrent use.
type Service struct {
	Parts
	sealer token.Sealer
}

// New returns a Service. If p.Chance is nil, retries are spread by random numbers.
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

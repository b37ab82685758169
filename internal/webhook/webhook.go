// Package webhook tells accounts what happens to what they have: their endpoints, signed deliveries with retries, and the
// last 100 attempts of each (decisions §2 Webhook endpoint). It refuses to make events and to decide where requests may
// go: the first is the other domains' affair, the second netguard's.
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

// The reasons of decisions §2. An endpoint without a reason is active.
const (
	Manual   Reason = "manual"   // its owner did it
	Failures Reason = "failures" // so many attempts in a row failed
	Gone     Reason = "gone"     // it answered 410
)

// Endpoint is where an account wants its events.
type Endpoint struct {
	ID             id.Webhook
	Account        id.Account
	URL            string
	Events         []event.Name
	Domain         id.Domain // the private domain it is for; "": everything of the account
	PausedReason   Reason    // "": it is active
	FailureCount   int       // failed attempts in a row
	CreatedAt      time.Time
	LastDeliveryAt time.Time // when it last took an event; zero: never

	shut     bool   // its account is disabled
	attempts int64  // ever made
	secret   []byte // sealed
	old      []byte // the secret before, sealed; nil: there was none
	oldUntil time.Time
}

// Paused reports whether the endpoint is: its deliveries wait until it is resumed.
func (e *Endpoint) Paused() bool { return e.PausedReason != "" }

// waits reports whether deliveries wait: until a paused endpoint is resumed, and until a disabled account is let in again.
func (e *Endpoint) waits() bool { return e.Paused() || e.shut }

// wants reports whether the endpoint is to hear of an event.
func (e *Endpoint) wants(ev event.Event) bool {
	return (e.Domain == "" || e.Domain == ev.Domain) && slices.Contains(e.Events, ev.Data.Name())
}

// lane is where the endpoint's jobs queue.
func (e *Endpoint) lane() string { return string(e.ID) }

// Plans says what an account may have.
type Plans interface {
	WebhookMax(ctx context.Context, account id.Account) (int, error)
}

// Domains says whose a private domain is.
type Domains interface {
	Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error)
}

// Guard says which URLs may be used; see package netguard.
type Guard interface {
	// CheckURL looks at the form of a URL and at the addresses its host has now. Its error is a sentence for the owner.
	CheckURL(ctx context.Context, rawURL string) error
}

// Policy is the operator's settings (decisions §7, webhooks).
type Policy struct {
	Retries       []time.Duration // pauses before the further tries
	Jitter        float64         // how far a pause varies each way, as a part of it
	RetryAfterMax time.Duration   // longest Retry-After that is honoured
	PauseAfter    int             // failed attempts in a row that pause an endpoint
	PendingMax    time.Duration   // how long deliveries wait for a paused endpoint, and dead letters are kept
	Timeout       time.Duration   // of one attempt
	AnswerKept    int             // octets of an answer that are shown
	OldSecretFor  time.Duration   // how long a secret that was rotated signs as well
	UserAgent     string
}

// Parts are what the service is put together from.
type Parts struct {
	DB      *db.DB
	Clock   clock.Clock
	Queue   *job.Queue
	Plans   Plans
	Domains Domains
	Guard   Guard
	Client  *http.Client // sends; it follows no redirect and reaches nothing that Guard forbids
	Seal    [32]byte     // keeps the secrets unreadable at rest
	Chance  func() float64
	Logger  *slog.Logger
	Policy  Policy

	// Observe hears of every attempt, for the metrics; it may be nil.
	Observe func(succeeded bool, took time.Duration)
}

// Service is the use of webhook endpoints.
type Service struct {
	Parts
	sealer token.Sealer
}

// New assembles the service. Chance gives numbers of [0, 1) that spread retries; nil: by chance.
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

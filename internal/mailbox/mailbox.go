// Package mailbox implements disposable mailboxes: creating, extending, destroying and expiring them, reserving mail in
// them, and the cool-down of their addresses (docs/spec/mailboxes.md). It does not depend on the packages of messages,
// plans and domains; it uses them through the small interfaces below.
package mailbox

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// Source says who created a mailbox.
type Source string

// The sources, as docs/spec/mailboxes.md#fields lists them.
const (
	Guest    Source = "guest"
	Session  Source = "session"
	Account  Source = "account"
	Key      Source = "key"
	CatchAll Source = "catchall"
	Sink     Source = "sink"
	Staff    Source = "staff"
	Project  Source = "project"
)

// Owner identifies the owner of a mailbox. The zero Owner is that of a guest mailbox without a session: its token is the only
// credential for it.
type Owner struct {
	Session string     // a guest session
	Account id.Account // also set for a mailbox that the account's key or catch-all created
	Key     string     // prefix of the developer key that created it
	Domain  id.Domain  // the account's private domain that the mailbox is on
}

// source returns the source of a mailbox that Create makes for o. Those that mail opens are of CatchAll, Sink or Staff.
func (o Owner) source() Source {
	switch {
	case o.Key != "":
		return Key
	case o.Account != "":
		return Account
	case o.Session != "":
		return Session
	}
	return Guest
}

// Mailbox is a mailbox as it is stored.
type Mailbox struct {
	ID           id.Mailbox
	Address      string // lower case, local@domain
	LocalPart    string
	Domain       string
	Owner        Owner
	Source       Source
	CreatedAt    time.Time
	ExpiresAt    time.Time
	MessageCount int
	UnreadCount  int

	password string // only while it is created; see Service.Password

	epoch   uint32 // a token is valid only with the epoch it was minted for
	ended   bool
	lastAt  int64     // time of the newest message, in microseconds since 1970
	own     dayCount  // of the mailbox's own messages
	account *dayCount // of all mailboxes of its account; nil: a guest's, or not read
}

// Limits are the entitlements of a plan that concern mailboxes (docs/spec/limits.md#quotas-of-plans).
type Limits struct {
	TTLDefault  time.Duration
	TTLMax      time.Duration
	LifetimeMax time.Duration // from creation; 0: none
	LiveMax     int           // mailboxes live at once
	DailyMail   int           // messages in a UTC day: for guests of one mailbox, otherwise of all mailboxes of the account
	RawFor      time.Duration // how long raw messages are kept
	Paid        bool          // the tier is paid, not free
	Disabled    bool          // the account is disabled: its mailboxes receive no mail
}

// Plans knows the limits of accounts.
type Plans interface {
	MailboxLimits(ctx context.Context, account id.Account) (Limits, error) // "": of guests
	// MailboxLimitsOf calls found with the limits of each account. It costs as much for all accounts of a batch as for one.
	MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(account id.Account, limits Limits)) error
}

// Domains knows the domains on which mailboxes can be created.
type Domains interface {
	// Choose returns the domain for a new mailbox: requested if the account may use it, or the first public domain of the
	// service if requested is "". private identifies the domain if it is a private one. Error: mailbox.domain_unavailable.
	Choose(ctx context.Context, requested string, account id.Account) (name string, private id.Domain, err error)
	// HoldersTx calls found with the owner of each name that is a verified private domain.
	HoldersTx(ctx context.Context, tx *db.Tx, names []string, found func(name string, owner id.Account, private id.Domain)) error
}

// Contents erases the messages in mailboxes.
type Contents interface {
	// EraseTx erases at most max messages of the mailboxes, and reports whether none is left.
	EraseTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox, max int) (empty bool, err error)
}

// DeliveryLog is what is remembered of the mail for an address.
type DeliveryLog interface {
	// EraseTx erases what is remembered of the mail for addresses.
	EraseTx(ctx context.Context, tx *db.Tx, addresses []string) error
}

// Policy holds the operator's settings.
type Policy struct {
	Cooldown    time.Duration // how long an address is held after its mailbox has ended
	MaxMessages int           // messages in one mailbox
	Reserved    []string      // local parts in addition to the built-in ones
	SinkTTL     time.Duration // time to live of a mailbox of the sink, and retention of raw messages in it
	SinkMax     int           // live mailboxes of the sink
}

// Parts are the dependencies and settings of a Service.
type Parts struct {
	DB         *db.DB
	Clock      clock.Clock
	Keys       *token.Keyring // mints and checks mailbox tokens
	Wake       *wake.Hub
	Plans      Plans
	Domains    Domains
	Outbox     Outbox // receives the events of accounts' mailboxes; nil: none are published
	Policy     Policy
	HoldSecret []byte      // keys the hashes of held addresses
	Deliveries DeliveryLog // is erased with the mailboxes; nil: there is none

	// ObserveBatch is called before each transaction of a sweep, and the function it returns after it; nil: not called.
	ObserveBatch func() (done func())

	// Arrivals returns how many messages all processes have stored. It need not be exact, but must change within a second or so while mail
	// arrives: sweeps then pause. It is called every 100 ms of a sweep. nil: sweeps never pause.
	Arrivals func(ctx context.Context) (int64, error)
	// PaceClock measures how long the transactions of a sweep take and times its pauses; nil: the system clock.
	PaceClock clock.Clock
}

// Service implements mailbox operations.
type Service struct {
	db           *db.DB
	clock        clock.Clock
	keys         *token.Keyring
	wake         *wake.Hub
	plans        Plans
	domains      Domains
	outbox       Outbox
	policy       Policy
	reserved     reservedSet // local parts that Create rejects on public domains
	hold         holdKey
	deliveries   DeliveryLog
	observeBatch func() (done func())
	pace         *pacer
	recent       recent
	opened       *cache.Cache[id.Mailbox, Mailbox] // of the tokens that Identify was called with lately
	lastChange   atomic.Int64                      // see changeTime
}

// New returns a Service.
func New(p Parts) *Service {
	if p.ObserveBatch == nil {
		p.ObserveBatch = func() func() { return func() {} }
	}
	if p.PaceClock == nil {
		p.PaceClock = clock.System()
	}
	return &Service{
		db: p.DB, clock: p.Clock, keys: p.Keys, wake: p.Wake, plans: p.Plans, domains: p.Domains, outbox: p.Outbox, policy: p.Policy,
		reserved: newReservedSet(p.Policy.Reserved), hold: holdKey(p.HoldSecret), deliveries: p.Deliveries, observeBatch: p.ObserveBatch,
		pace:   &pacer{arrivals: p.Arrivals, clock: p.PaceClock},
		opened: cache.New[id.Mailbox, Mailbox](openedMax),
	}
}

// WakeKey returns the key of wake.Hub that calls waiting for mail in a mailbox sleep on. It is woken by each message and
// when the mailbox ends.
func WakeKey(box id.Mailbox) string { return string(box) }

// AccountWakeKey returns the key of wake.Hub that the event streams of an account sleep on. It is woken by each message and
// each change in one of the account's mailboxes.
func AccountWakeKey(account id.Account) string { return string(account) }

// Live reports whether the mailbox has neither ended nor expired at the given time.
func (m *Mailbox) Live(now time.Time) bool { return !m.ended && now.Before(m.ExpiresAt) }

// TTL returns the time left until the mailbox expires, never negative.
func (m *Mailbox) TTL(now time.Time) time.Duration { return max(0, m.ExpiresAt.Sub(now)) }

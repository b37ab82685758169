// Package mailbox holds the rules of one disposable mailbox: create, extend, destroy, expire, receive, and the address
// that is not handed out again for a while (decisions §2 Mailbox). It refuses to know messages, plans and domains:
// what it needs of them are the small interfaces below.
package mailbox

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// Source says who made a mailbox.
type Source string

// The sources of decisions §2 Mailbox.
const (
	Guest    Source = "guest"
	Session  Source = "session"
	Account  Source = "account"
	Key      Source = "key"
	CatchAll Source = "catchall"
)

// Owner is whom a mailbox belongs to. The zero Owner is nobody: a guest mailbox, whose token is all there is.
type Owner struct {
	Session string     // a guest session
	Account id.Account // an account, also for a mailbox that its key or its catch-all made
	Key     string     // the prefix of the developer key that made it
	Domain  id.Domain  // the account's private domain that it is on
}

// source is who made a mailbox that was asked for; one that mail opened is CatchAll's.
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

	epoch   uint32
	ended   bool
	lastAt  int64  // microseconds, of the newest message
	own     tally  // its own messages
	account *tally // those of all of its account's mailboxes, where it has one and they were read
}

// Limits are the entitlements that concern mailboxes (decisions §6).
type Limits struct {
	TTLDefault  time.Duration
	TTLMax      time.Duration
	LifetimeMax time.Duration // from creation; 0: none
	LiveMax     int           // mailboxes live at once
	DailyMail   int           // messages a UTC day: of the mailbox for guests, of the account else
	RawFor      time.Duration // how long raw messages are kept
	Paid        bool          // the tier
}

// Plans says what an owner may have.
type Plans interface {
	MailboxLimits(ctx context.Context, account id.Account) (Limits, error) // of guests where account is ""
	// MailboxLimitsOf tells found what each of several accounts may have: a set of mails asks once for all of its accounts.
	MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(account id.Account, limits Limits)) error
}

// Domains says where mailboxes may be made.
type Domains interface {
	// Choose returns the domain for a new mailbox: the wished one if the account may use it, which private names if it
	// is a private one, the service's first public one where none is wished, or mailbox.domain_unavailable.
	Choose(ctx context.Context, wished string, account id.Account) (name string, private id.Domain, err error)
	// HoldersTx tells found, for each of names that is a private domain on which mail is taken, whose it is.
	HoldersTx(ctx context.Context, tx *db.Tx, names []string, found func(name string, owner id.Account, private id.Domain)) error
}

// Contents is what lies in mailboxes and goes with them.
type Contents interface {
	// EraseTx erases at most max messages of mailboxes and tells whether none is left.
	EraseTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox, max int) (empty bool, err error)
}

// Policy is the operator's settings.
type Policy struct {
	Cooldown    time.Duration // how long an address is held after its mailbox ended
	MaxMessages int           // messages in one mailbox
	Reserved    []string      // local parts beyond the built-in ones
}

// Service is the use of mailboxes.
type Service struct {
	db       *db.DB
	clock    clock.Clock
	keys     *token.Keyring
	wake     *wake.Hub
	plans    Plans
	domains  Domains
	policy   Policy
	reserved map[string]bool
	hold     holdKey
	outbox   Outbox // nil: nobody is told
	recent   recent
	batch    func() (over func()) // called around each batch of a sweep
}

// New assembles the service. holdSecret keys the hashes of held addresses.
func New(d *db.DB, c clock.Clock, keys *token.Keyring, hub *wake.Hub, p Plans, domains Domains, policy Policy, holdSecret []byte) *Service {
	return &Service{
		db: d, clock: c, keys: keys, wake: hub, plans: p, domains: domains, policy: policy,
		reserved: reservedNames(policy.Reserved), hold: holdKey(holdSecret),
		batch: func() func() { return func() {} },
	}
}

// ObserveBatches has begun called before each batch of a sweep, and what it returns after it. It is called before the
// service is used.
func (s *Service) ObserveBatches(begun func() (over func())) { s.batch = begun }

// WakeKey is what long-polls on a mailbox sleep on: it changes with each message and at the mailbox's end.
func WakeKey(box id.Mailbox) string { return string(box) }

// Live reports whether the mailbox takes calls at the given time.
func (m *Mailbox) Live(now time.Time) bool { return !m.ended && now.Before(m.ExpiresAt) }

// TTL is the time left, never negative.
func (m *Mailbox) TTL(now time.Time) time.Duration { return max(0, m.ExpiresAt.Sub(now)) }

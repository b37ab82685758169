// Package deliverylog remembers for 24 hours what became of each mail for an address: stored, or refused with which
// reply (docs/spec/messages.md#delivery-log).
//
// Record puts an entry into a bounded list in memory and returns; Run, on one goroutine, writes the list in batches. So
// the log is beside the path of a mail: an entry may be dropped, and never delays or fails a delivery. List returns the
// entries of an address, those in memory included; entries in the memory of other processes appear within flushEvery.
// EraseTx removes the entries of a mailbox that is erased, and Sweep those that are too old or too many.
//
// Addresses are stored as keyed hashes only, so that the table does not reveal which addresses exist. Every bound is
// there because strangers cause entries: per address, per client, in total, in memory, and in octets of each text.
package deliverylog

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Entry is what became of a mail for one recipient. Texts come from the client and are not checked; Record shortens
// them.
type Entry struct {
	At         time.Time
	From       string     // the reverse-path; "" is the null reverse-path
	RemoteIP   netip.Addr // of the client
	Helo       string     // the argument of EHLO or HELO
	TLS        bool
	Reply      int        // the three digits of the SMTP reply
	Code       string     // its enhanced status code (RFC 3463)
	Reason     string     // its text
	Message    id.Message // ""; nothing was stored
	HasMailbox bool       // the mail was for an existing mailbox
}

// Bounds of the log. The rows of addresses with and without a mailbox are bounded apart, so that a client that tries random addresses
// removes no entry of a mailbox.
const (
	Retention = 24 * time.Hour
	ListMax   = 200 // entries of one address that List returns

	mailboxRows = 500_000 // in total, of mail for mailboxes: some 150 MB
	unknownRows = 100_000 // in total, of other mail

	trimEvery = 50 // entries of an address after which those beyond ListMax are deleted

	refusalBurst = 200             // refused recipients of one client that are logged at once
	refusalEvery = 5 * time.Second // and one more for each of these
	clientsMax   = 16 << 10        // clients and addresses that are remembered for these bounds
	textMax      = 320             // octets of a stored text: the longest address has 254
	pendingMax   = 4096            // entries that wait to be written, some 4 MB at most
	batchMax     = 128             // entries in one transaction
	flushEvery   = 200 * time.Millisecond
	hashSize     = 16
)

// Parts are the dependencies of a Service. All fields are required.
type Parts struct {
	DB     *db.DB
	Clock  clock.Clock
	Logger *slog.Logger
	Secret []byte // keys the hashes of addresses
}

// Service is the delivery log. It is safe for concurrent use. Run must be running for entries to be written.
type Service struct {
	Parts
	wake    chan struct{} // capacity 1: there are pending entries
	dropped atomic.Int64

	// mu guards the fields below. It is held for a moment only, never during a read or write of the database.
	mu      sync.Mutex
	pending []pending                       // in the order of Record; flush takes from the front
	clients *cache.Cache[string, allowance] // refusals that a client may still cause
	counts  *cache.Cache[hash, int]         // entries of an address since it was last trimmed
}

// hash is the beginning of the HMAC-SHA-256 of an address.
type hash [hashSize]byte

// pending is an entry that is not written yet.
type pending struct {
	Entry
	address hash
	id      id.Arrival
	erased  bool // its mailbox was erased meanwhile
}

// allowance is how many refused recipients of a client may be logged, as of a time. It is a token bucket: left grows by
// one every refusalEvery, up to refusalBurst. left is a fraction, so that many calls in a short time do not lose the
// growth.
type allowance struct {
	left float64
	at   time.Time
}

// New returns a Service. It does not start Run.
func New(p Parts) *Service {
	return &Service{
		Parts: p, wake: make(chan struct{}, 1),
		clients: cache.New[string, allowance](clientsMax), counts: cache.New[hash, int](clientsMax),
	}
}

// Record adds an entry for an address, which is the mailbox's local part and domain in lower case. client identifies
// the client for bounds, as ratelimit.AddrIdentity does. It does not block: when entries arrive faster than they are
// written, it drops those of stored mail first.
//
// Entries of stored mail may use half of the list, so that refusals, which senders ask about, still fit when much mail
// arrives. The limit of a client's refusals is checked last, since it counts.
func (s *Service) Record(address, client string, e Entry) {
	now, h, refused := s.Clock.Now(), s.hash(address), e.Reply >= 400
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) >= pendingMax || !refused && len(s.pending) >= pendingMax/2 || refused && !s.allow(client, now) {
		s.dropped.Add(1)
		return
	}
	e.From, e.Helo, e.Reason = cut(e.From), cut(e.Helo), cut(e.Reason)
	s.pending = append(s.pending, pending{Entry: e, address: h, id: id.New[id.Arrival](e.At)})
	s.signal()
}

// allow counts a refused recipient of a client and reports whether it is logged. The caller holds mu.
func (s *Service) allow(client string, now time.Time) bool {
	a, known := s.clients.Get(client, now)
	if !known {
		a = allowance{left: refusalBurst, at: now}
	}
	a.left = min(refusalBurst, a.left+float64(now.Sub(a.at))/float64(refusalEvery))
	a.at = now
	ok := a.left >= 1
	if ok {
		a.left--
	}
	s.clients.Put(client, a, 1, now.Add(refusalBurst*refusalEvery))
	return ok
}

// cut returns text that is stored: valid UTF-8 without NUL, bounded.
func cut(text string) string { return db.Storable(text[:min(len(text), textMax)]) }

// Dropped returns how many entries were not written since the start. Refusals beyond the limit of their client are
// included.
func (s *Service) Dropped() int64 { return s.dropped.Load() }

// List returns the entries of an address within Retention, newest first, at most ListMax, whether it ever was a mailbox or not. Entries of
// mail for a mailbox are those since a time: those before are of another mailbox that had the address.
func (s *Service) List(ctx context.Context, address string, since time.Time) ([]Entry, error) {
	h, oldest := s.hash(address), s.Clock.Now().Add(-Retention)
	waiting := s.waiting(h, since) // before the database is read: an entry may be written in between, but none is missed
	written, err := list(ctx, s.DB, h, oldest, since)
	if err != nil {
		return nil, err
	}
	both := slices.Concat(waiting, written)
	slices.SortFunc(both, func(a, b pending) int { return strings.Compare(string(b.id), string(a.id)) })
	both = slices.CompactFunc(both, func(a, b pending) bool { return a.id == b.id }) // written in between
	all := make([]Entry, min(len(both), ListMax))
	for i := range all {
		all[i] = both[i].Entry
	}
	return all, nil
}

// waiting returns the entries of an address that are not written yet.
func (s *Service) waiting(h hash, since time.Time) []pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []pending
	for _, p := range s.pending {
		if p.address == h && !p.erased && (!p.HasMailbox || !p.At.Before(since)) {
			found = append(found, p)
		}
	}
	return found
}

// Hash returns the keyed hash of an address, by which logs may name it. A log with the hash instead of the address can
// be matched by the operator, who has the key.
func (s *Service) Hash(address string) [hashSize]byte { return s.hash(address) }

// hash returns the keyed hash of an address.
func (s *Service) hash(address string) (h hash) {
	mac := hmac.New(sha256.New, s.Secret)
	mac.Write([]byte(address)) // never fails
	copy(h[:], mac.Sum(nil))
	return h
}

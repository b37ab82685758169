// Package deliverylog records for 24 hours the outcome of each delivery to an address: that the mail was stored, or the
// SMTP reply with which it was refused (docs/spec/messages.md#delivery-log).
//
// Record adds an entry to a bounded queue in memory and returns; Run, on one goroutine, writes the queue to the
// database in batches. The log therefore never delays a delivery or makes it fail, but it may drop entries. List returns
// the entries of an address, including the queued ones of this process; entries of other processes appear after
// flushEvery at most. EraseTx deletes the entries of an erased mailbox, and Sweep those that are too old or too many.
//
// Addresses are stored only as keyed hashes, so that the table does not reveal which addresses exist. Because any
// client of the SMTP server can cause entries, their number is limited per address, per client, in total and in memory,
// and each text is limited in octets.
package deliverylog

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"maps"
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

// Entry is the outcome of a delivery to one recipient. Its texts come from the client and may hold anything; Record
// truncates them.
type Entry struct {
	At         time.Time
	From       string     // the reverse-path; "" is the null reverse-path
	RemoteIP   netip.Addr // of the client
	Helo       string     // the argument of EHLO or HELO
	TLS        bool
	Reply      int        // the three digits of the SMTP reply
	Code       string     // the enhanced status code of the reply (RFC 3463)
	Reason     string     // the text of the reply
	Message    id.Message // "" if nothing was stored
	HasMailbox bool       // whether the mailbox existed
	Mailbox    id.Mailbox // its identifier, which is not stored; "" if the caller of Record does not know it
	Recipient  string     // to whom the relay was to send the message; "" for a mail that came for the address
}

// Limits of the log. Entries of addresses with and without a mailbox are limited separately, so that a client that tries
// random addresses does not displace the entries of mailboxes.
const (
	Retention = 24 * time.Hour
	ListMax   = 200 // entries of one address that List returns

	mailboxRows = 500_000 // rows of addresses with a mailbox, about 150 MB
	unknownRows = 100_000 // rows of addresses without one

	trimEvery = 50 // entries of an address after which those beyond ListMax are deleted

	refusalBurst = 200             // refused recipients of one client that are logged in a burst
	refusalEvery = 5 * time.Second // interval at which one more is allowed
	clientsMax   = 16 << 10        // entries of each cache, clients and counts
	textMax      = 320             // octets of a stored text; the longest address has 254
	queueMax     = 4096            // queued entries, about 4 MB at most
	batchMax     = 128             // entries in one transaction
	flushEvery   = 200 * time.Millisecond
	hashSize     = 16
)

// Parts are the dependencies of a Service. All fields but Existing are required.
type Parts struct {
	DB     *db.DB
	Clock  clock.Clock
	Logger *slog.Logger
	Secret []byte // the HMAC key for the hashes of addresses

	// Existing returns those of some mailboxes that are not erased. It is needed if other processes share the database: their
	// EraseTx does not see the queue of this process. If it is nil, all mailboxes exist.
	Existing func(ctx context.Context, tx *db.Tx, boxes []id.Mailbox) ([]id.Mailbox, error)
}

// Service is the delivery log. It is safe for concurrent use. Entries are written only while Run is running.
type Service struct {
	Parts
	wake    chan struct{} // wakes Run when the queue is not empty; capacity 1
	dropped atomic.Int64

	// mu guards the fields below. It is never held during a read or write of the database.
	mu      sync.Mutex
	queue   []queuedEntry                     // in the order of Record; flush removes entries from the front
	clients *cache.Cache[string, tokenBucket] // refusals of a client that may still be logged
	counts  *cache.Cache[hash, int]           // entries of an address that were written since it was last trimmed
}

// hash is the HMAC-SHA-256 of an address, truncated to hashSize octets.
type hash [hashSize]byte

// queuedEntry is an entry with its key in the database.
type queuedEntry struct {
	Entry
	address hash
	id      id.Arrival
	erased  bool // the mailbox was erased while the entry was queued, so that it must not be written
}

// tokenBucket limits the refused recipients of a client that are logged. tokens grows by one every refusalEvery, up to
// refusalBurst. It is a fraction, so that calls at short intervals do not round the growth down to zero.
type tokenBucket struct {
	tokens float64
	at     time.Time
}

// New returns a Service. It does not start Run.
func New(p Parts) *Service {
	return &Service{
		Parts: p, wake: make(chan struct{}, 1),
		clients: cache.New[string, tokenBucket](clientsMax), counts: cache.New[hash, int](clientsMax),
	}
}

// Record adds an entry for an address: the local part and domain of the mailbox in lower case. client identifies the
// client for its limit, see ratelimit.AddrIdentity. Record does not wait for the database: if the queue is full, it drops
// the entry.
//
// Entries of stored mail may use only half of the queue, so that refusals, which senders ask about, are still logged
// when much mail arrives. The limit of the client's refusals is checked last, because the check consumes a token.
func (s *Service) Record(address, client string, e Entry) {
	now, refused := s.Clock.Now(), e.Reply >= 400
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= queueMax || !refused && len(s.queue) >= queueMax/2 || refused && !s.allow(client, now) {
		s.dropped.Add(1)
		return
	}
	e.From, e.Helo, e.Reason, e.Recipient = cut(e.From), cut(e.Helo), cut(e.Reason), cut(e.Recipient)
	s.queue = append(s.queue, queuedEntry{Entry: e, address: s.hash(address), id: id.New[id.Arrival](e.At)})
	s.signal()
}

// allow takes a token of a client for a refused recipient. It returns false if there is none, so that the refusal must
// not be logged. The caller holds mu.
func (s *Service) allow(client string, now time.Time) bool {
	a, known := s.clients.Get(client, now)
	if !known {
		a = tokenBucket{tokens: refusalBurst, at: now}
	}
	a.tokens = min(refusalBurst, a.tokens+float64(now.Sub(a.at))/float64(refusalEvery))
	a.at = now
	ok := a.tokens >= 1
	if ok {
		a.tokens--
	}
	s.clients.Put(client, a, 1, now.Add(refusalBurst*refusalEvery))
	return ok
}

// cut returns a text as it is stored: at most textMax octets of valid UTF-8 without NUL.
func cut(text string) string { return db.Storable(text[:min(len(text), textMax)]) }

// Dropped returns how many entries were dropped since the process started, including refusals over the limit of their
// client.
func (s *Service) Dropped() int64 { return s.dropped.Load() }

// List returns the entries of an address within Retention, newest first, at most ListMax. Entries with HasMailbox are
// returned only if they are not older than since, the time at which the mailbox was created: earlier ones belong to
// another mailbox, which had the same address.
func (s *Service) List(ctx context.Context, address string, since time.Time) ([]Entry, error) {
	h, oldest := s.hash(address), s.Clock.Now().Add(-Retention)
	queued := s.queued(h, since) // copied before the read of the database, so that an entry written in between is not missed
	written, err := list(ctx, s.DB, h, oldest, since)
	if err != nil {
		return nil, err
	}
	both := newestOnce(slices.Concat(queued, written))
	all := make([]Entry, min(len(both), ListMax))
	for i := range all {
		all[i] = both[i].Entry
	}
	return all, nil
}

// Refused is an entry of a mail that was not stored, with the address that it was for.
type Refused struct {
	Entry
	Address string
}

// Refusals returns the newest entries, at most max, of mails for some addresses that were refused after a time, without those of the
// relay. created is when the mailbox at each address was created, as for List.
func (s *Service) Refusals(ctx context.Context, created map[string]time.Time, after time.Time, max int) ([]Refused, error) {
	if len(created) == 0 {
		return nil, nil
	}
	addresses := make(map[hash]string, len(created))
	var both []queuedEntry
	for address, since := range created {
		h := s.hash(address)
		addresses[h] = address
		both = append(both, s.queued(h, since)...)
	}
	written, err := refusals(ctx, s.DB, slices.Collect(maps.Keys(addresses)), after, 2*max)
	if err != nil {
		return nil, err
	}
	both = slices.DeleteFunc(append(both, written...), func(e queuedEntry) bool {
		return e.Reply < 400 || e.Recipient != "" || !e.At.After(after) || e.HasMailbox && e.At.Before(created[addresses[e.address]])
	})
	both = newestOnce(both)
	all := make([]Refused, min(len(both), max))
	for i := range all {
		all[i] = Refused{both[i].Entry, addresses[both[i].address]}
	}
	return all, nil
}

// newestOnce sorts entries, the newest first, and drops duplicates: an entry that was written in between two reads is in both.
func newestOnce(all []queuedEntry) []queuedEntry {
	slices.SortFunc(all, func(a, b queuedEntry) int { return strings.Compare(string(b.id), string(a.id)) })
	return slices.CompactFunc(all, func(a, b queuedEntry) bool { return a.id == b.id })
}

// queued returns the entries of an address that are not written yet.
func (s *Service) queued(h hash, since time.Time) []queuedEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []queuedEntry
	for _, p := range s.queue {
		if p.address == h && !p.erased && (!p.HasMailbox || !p.At.Before(since)) {
			found = append(found, p)
		}
	}
	return found
}

// Hash returns the keyed hash of an address. Logs contain it instead of the address; only the operator, who has the key,
// can tell which address it is.
func (s *Service) Hash(address string) [hashSize]byte { return s.hash(address) }

// hash returns the keyed hash of an address.
func (s *Service) hash(address string) (h hash) {
	mac := hmac.New(sha256.New, s.Secret)
	mac.Write([]byte(address)) // never fails
	copy(h[:], mac.Sum(nil))
	return h
}

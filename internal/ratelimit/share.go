package ratelimit

import (
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"time"
)

// Ledger is where the processes of a service count together; package ledger implements it. It must be safe for
// concurrent use. Its errors make a Limiter or Gauge decide by the counts of its own process.
type Ledger interface {
	// Keys of one call are distinct.
	// Add adds each entry's debt to its theoretical arrival time, or to now where that is later, and returns the results in the order
	// of entries. Times are microseconds since 1970.
	Add(ctx context.Context, now int64, entries []Entry) (tats []int64, err error)

	// Keys of one call are distinct.
	// Hold records how many of each thing this process holds, valid for HoldFor, and returns for each the sum over all processes. A
	// holding with a lower Turn than one recorded before counts in the sum that is returned, but is not recorded for other processes.
	// With exclusive, which is for a single holding, calls of all processes for its key run one after the other, so that two of them
	// cannot both take the last slot.
	Hold(ctx context.Context, holdings []Holding, exclusive bool) (sums []int, err error)
}

// Entry is what an identity took of one window of a limit. Only hashes leave the process, so that the table of the
// ledger does not reveal which addresses called.
type Entry struct {
	Key  [16]byte // a hash of limit, identity and window
	Debt int64    // microseconds; negative to give back
}

// Holding is how many of something an identity holds in this process, in total and not as a change: a report that is
// lost is made good by the next one.
type Holding struct {
	Key  [16]byte // a hash of limit and identity
	Held int
	Turn int64 // rises with each change of Held
}

// HoldFor is how long a recorded holding is valid without being repeated. What a process held that was killed is
// available to other processes after that.
const HoldFor = 15 * time.Second

const (
	repeatEvery = HoldFor / 3           // two repetitions may fail before a holding expires
	flushEvery  = 20 * time.Millisecond // how long changes are collected before they are sent to the ledger
	batchMax    = 1000                  // entries or holdings of one call, which bounds the statement and how long it holds its rows
)

// smallCount is the count up to which a limit is checked with the ledger each time: between two flushes other
// processes could let pass all of a limit as small as this.
const smallCount = 100

// share connects a Limiter or a Gauge with the ledger. Callers add to pending; Run takes from it.
type share struct {
	ledger  Ledger
	timeout time.Duration // of a call of the ledger; afterwards the process decides alone, so that a slow database slows calls by no more

	mu      sync.Mutex       // guards pending
	pending map[window]int64 // debts that the ledger does not have; of a Gauge: what changed, with debts of 0
	more    chan struct{}    // has an element when pending may not be empty
}

// window is one window of a limit for an identity; for a Gauge, which has no windows, index and per are 0.
type window struct {
	key
	index int // in the Limit; not part of the hash, so that counts survive a change of the other windows
	per   time.Duration
}

// hash returns the key of a window in the ledger: half of a SHA-256, which makes collisions as unlikely as those of a
// UUID.
func (w window) hash() (k [16]byte) {
	sum := sha256.Sum256([]byte(string(w.name) + "\x00" + w.identity + "\x00" + strconv.FormatInt(w.per.Microseconds(), 10)))
	copy(k[:], sum[:])
	return k
}

// newShare returns a share with nothing pending.
func newShare(l Ledger, timeout time.Duration) *share {
	return &share{ledger: l, timeout: timeout, pending: make(map[window]int64), more: make(chan struct{}, 1)}
}

// add adds a debt in microseconds to what is pending, and wakes Run. It does not block.
func (s *share) add(w window, debt int64) {
	s.mu.Lock()
	s.pending[w] += debt
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// take returns what is pending and leaves nothing.
func (s *share) take() map[window]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = make(map[window]int64)
	return taken
}

// debt returns the pending debt of a window.
func (s *share) debt(w window) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[w]
}

// sleep waits for d or the end of ctx. A context is used for its timer: only package clock may read the time.
func sleep(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

package account

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// Bounds of the work that anonymous clients can cause. A hash occupies one core and all of its memory, so that more hashes
// than cores would slow down all of them. At the default cost the queue drains within a few seconds; a client that finds it
// full gets a Retry-After of that length.
const (
	hashMemoryMax = 128 << 10       // KiB, of the hashes being computed
	queuePerCore  = 64              // clients that may wait for each hash at a time
	clientPerCore = 4               // hashes of one client, waiting or being computed, for each hash at a time
	busyRetry     = 3 * time.Second // about as long as a full queue takes to drain

	// turnMax is how long a client waits for its turn. Where hashes take much longer than expected, such as on a machine that
	// is busy with something else, a client gets rate.limited before its connection is closed (http.write_timeout), and no
	// hash is computed for it.
	turnMax = 10 * time.Second
)

// gate bounds how many hashes are computed at once, how many callers wait, and how many of both one client address may
// have. Waiting callers are served first in, first out, so that a client waits for at most clientPerCore hashes of any
// other address. It is safe for concurrent use. The order comes from the channel cores: the runtime resumes blocked
// senders in the order in which they blocked.
type gate struct {
	clock     clock.Clock
	cores     chan struct{} // held while a hash is computed
	max       int           // reservations at once
	clientMax int           // of one client

	// mu guards total and client.
	mu     sync.Mutex
	total  int
	client map[string]int // reservations by client; without zeros
}

// newGate returns a gate that admits one hash per core, fewer if hashMemoryMax demands it, but at least one.
func newGate(c Cost, clock clock.Clock) *gate {
	n := max(1, min(runtime.GOMAXPROCS(0), hashMemoryMax/int(c.Memory)))
	return &gate{
		clock: clock, cores: make(chan struct{}, n), max: n * (1 + queuePerCore), clientMax: n * clientPerCore, client: make(map[string]int),
	}
}

// HashSlot is a reserved position in the queue of password hashes. It is used for one call of Register or SignIn, on
// one goroutine. The zero value is not usable; ReserveHash returns one.
type HashSlot struct {
	gate    *gate
	client  string
	running bool // holds one of the gate's cores
	done    bool // released
}

// reserve reserves a position in the queue for a client, without waiting. Commands of the operator use the client "".
// The limit of one client is checked so that one address cannot fill the queue. Error: rate.limited.
func (g *gate) reserve(client string) (*HashSlot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.total >= g.max || g.client[client] >= g.clientMax {
		return nil, busy()
	}
	g.total++
	g.client[client]++
	return &HashSlot{gate: g, client: client}, nil
}

// busy is the problem of a client that finds the queue full or waits in it for too long.
func busy() error {
	p := problem.Detailf(problem.RateLimited, "too many sign-ins are under way; try again in a moment")
	p.RetryAfter = busyRetry
	return p
}

// Wait waits for a core, in the order of the calls, for at most turnMax. After nil the slot holds a core until Release, and
// further calls do nothing. Register and SignIn wait by themselves; a caller that counts attempts waits first, so that
// one that got no turn is not counted. Errors: rate.limited, if the turn did not come; the context's cause if ctx ends
// first.
func (s *HashSlot) Wait(ctx context.Context) error {
	if s.running {
		return nil
	}
	select {
	case s.gate.cores <- struct{}{}: // no other slot waits: the channel is full while one does
		s.running = true
		return nil
	default:
	}
	timer := s.gate.clock.NewTimer(turnMax)
	defer timer.Stop()
	select {
	case s.gate.cores <- struct{}{}:
		s.running = true
		return nil
	case <-timer.C:
		return busy()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Release gives the position back. Further calls do nothing. Callers of ReserveHash defer it, and the functions that
// take a slot call it as soon as the hash is computed, so that the core is free while they write.
func (s *HashSlot) Release() {
	if s.done {
		return
	}
	s.done = true
	if s.running {
		<-s.gate.cores
	}
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	if g.client[s.client]--; g.client[s.client] == 0 {
		delete(g.client, s.client)
	}
}

// ReserveHash reserves a position in the queue of password hashes for a client address, without waiting. The caller
// must release the slot. client is any text that identifies the client, such as its address or network. Error:
// rate.limited, if the queue is full or the client has its maximum.
func (s *Service) ReserveHash(client string) (*HashSlot, error) {
	return s.passwords.gate.reserve(client)
}

package ratelimit

import (
	"context"
	"sync"
	"time"
)

// Gauge counts how many of something an identity holds at once, such as long-polls or SMTP connections. It is safe for
// concurrent use and keeps only identities that hold something. Use NewGauge; the zero Gauge is not usable.
type Gauge struct {
	mu    sync.Mutex  // guards held and turn
	held  map[key]int // above 0; keys that hold nothing are removed
	turn  int64       // rises with each change, so that the ledger can distinguish an old report from a new one
	share *share      // nil: this process counts for itself

	// OnRefused, unless nil, is called for each call of Acquire that is refused, on the goroutine of the call and
	// without a lock. It must be set before the gauge is used.
	OnRefused func(Name)
}

// NewGauge returns an empty gauge. It starts no goroutine.
func NewGauge() *Gauge { return &Gauge{held: make(map[key]int)} }

// Acquire takes one of the named limit for an identity. It returns ok false if the identity already holds limit of
// them. If ok, the caller must call release when done; without it the slot is lost until the process ends. Further
// calls of release do nothing, nor does the release of a refused call. release may be called on any goroutine.
//
// What the /64 of an IPv6 client holds counts for its /48 as well, which may hold NetworkShare times as many.
//
// Near the limit of a shared gauge Acquire waits for the ledger, for at most two seconds.
func (g *Gauge) Acquire(name Name, identity string, limit int) (release func(), ok bool) {
	release, ok = g.acquire(name, identity, limit)
	if network, isClient := NetworkOf(identity); isClient && ok {
		own := release
		var whole func()
		if whole, ok = g.acquire(name, network, limit*NetworkShare); ok {
			release = func() { own(); whole() }
		} else {
			own()
			release = func() {}
		}
	}
	if !ok && g.OnRefused != nil {
		g.OnRefused(name)
	}
	return release, ok
}

// acquire takes a slot in this process first and asks the ledger then. If the ledger refuses, the slot is released
// again, which other processes learn with the next flush.
func (g *Gauge) acquire(name Name, identity string, limit int) (release func(), ok bool) {
	k, h := g.take(key{name, identity}, limit)
	if h.Held == 0 {
		return func() {}, false
	}
	release = sync.OnceFunc(func() { g.release(k) })
	if g.share != nil {
		g.share.add(window{key: k}, 0)
		if !g.confirm(k, h, limit) {
			release()
			return func() {}, false
		}
	}
	return release, true
}

// take takes a slot if this process alone is below the limit. It returns the key as the map stores it (see key.own)
// and what the identity then holds, without the Key of the Holding; the zero Holding if the limit is reached.
func (g *Gauge) take(k key, limit int) (own key, h Holding) {
	g.mu.Lock()
	defer g.mu.Unlock()
	held := g.held[k]
	if held >= limit {
		return k, Holding{}
	}
	if held == 0 {
		k = k.own()
	}
	g.held[k] = held + 1
	g.turn++
	return k, Holding{Held: held + 1, Turn: g.turn}
}

// Held returns the number that an identity holds in this process, without other processes.
func (g *Gauge) Held(name Name, identity string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[key{name, identity}]
}

// release frees one slot. With a ledger the key becomes pending, so that Run reports the change.
func (g *Gauge) release(k key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[k]--; g.held[k] == 0 {
		delete(g.held, k)
	}
	g.turn++
	if g.share != nil {
		g.share.add(window{key: k}, 0)
	}
}

// Share makes the gauge count together with those of other processes. It must be called before the gauge is used, and
// Run must be running. While the ledger does not respond within the timeout each process counts alone.
func (g *Gauge) Share(l Ledger, timeout time.Duration) { g.share = newShare(l, timeout) }

// Run sends what is held to the ledger until ctx ends: changes soon after they happen, and everything each time
// repeatEvery has passed, however many changes there were, since the ledger forgets what is not repeated within
// HoldFor. Without Share it returns at once. What is held when ctx ends expires in the ledger.
func (g *Gauge) Run(ctx context.Context) {
	if g.share == nil {
		return
	}
	for ctx.Err() == nil {
		interval, cancel := context.WithTimeout(ctx, repeatEvery)
		g.flushChanges(ctx, interval)
		cancel()
		g.flush(ctx, g.all())
	}
}

// flushChanges sends changes until interval ends. It sends with ctx, so that the end of the interval cancels no call.
func (g *Gauge) flushChanges(ctx, interval context.Context) {
	for {
		select {
		case <-g.share.more:
			g.flush(ctx, g.changed())
			sleep(interval, flushEvery)
		case <-interval.Done():
			return
		}
	}
}

// changed returns the keys whose counts changed since the last call.
func (g *Gauge) changed() (keys []key) {
	for w := range g.share.take() {
		keys = append(keys, w.key)
	}
	return keys
}

// all returns every key that holds something. The ledger forgets holdings that are not repeated within HoldFor.
func (g *Gauge) all() (keys []key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for k := range g.held {
		keys = append(keys, k)
	}
	return keys
}

// flush sends the holdings of keys to the ledger, in batches. After an error the rest is not sent: holdings are part
// of the next repetition, and what was released meanwhile expires in the ledger after HoldFor.
func (g *Gauge) flush(ctx context.Context, keys []key) {
	for len(keys) > 0 && ctx.Err() == nil {
		n := min(len(keys), batchMax)
		if _, err := g.post(ctx, g.holdings(keys[:n]), false); err != nil {
			return
		}
		keys = keys[n:]
	}
}

// holdings returns what keys hold now, 0 for a key that was released. Hashes are calculated before the lock is taken.
func (g *Gauge) holdings(keys []key) []Holding {
	out := make([]Holding, len(keys))
	for i, k := range keys {
		out[i].Key = window{key: k}.hash()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, k := range keys {
		out[i].Held, out[i].Turn = g.held[k], g.turn
	}
	return out
}

// post records holdings in the ledger and returns the sums over all processes. It waits for at most the timeout of Share.
func (g *Gauge) post(ctx context.Context, holdings []Holding, exclusive bool) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, g.share.timeout)
	defer cancel()
	return g.share.ledger.Hold(ctx, holdings, exclusive)
}

// confirm reports whether all processes together are within the limit. If a limit is not small and at most a quarter
// of it is used in this process, it does not ask the ledger: other processes learn of the holding with the next flush,
// and until then may let in as many more. If the ledger fails, what this process counted decides.
func (g *Gauge) confirm(k key, h Holding, limit int) bool {
	if limit >= smallCount && 4*h.Held <= limit {
		return true
	}
	h.Key = window{key: k}.hash()
	sums, err := g.post(context.Background(), []Holding{h}, true)
	return err != nil || sums[0] <= limit
}

package ratelimit

import (
	"context"
	"sync"
)

// Gauge counts how many of something an identity holds at once, such as long-polls or SMTP connections. It is safe for concurrent use and
// keeps only identities that hold something.
type Gauge struct {
	mu    sync.Mutex
	held  map[key]int
	turn  int64  // rises with each change, so that the ledger can tell an old report from a new one
	share *share // nil: this process counts for itself

	// OnRefused, unless nil, is called for each call of Acquire that is refused. It must be set before the gauge is used.
	OnRefused func(Name)
}

// NewGauge returns an empty gauge.
func NewGauge() *Gauge { return &Gauge{held: make(map[key]int)} }

// Acquire takes one of the named limit for an identity, unless the identity holds limit already. A caller to which it was granted calls
// release when done; further calls of release do nothing, nor does the release of what was refused.
func (g *Gauge) Acquire(name Name, identity string, limit int) (release func(), ok bool) {
	release, ok = g.acquire(name, identity, limit)
	if !ok && g.OnRefused != nil {
		g.OnRefused(name)
	}
	return release, ok
}

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

// take takes one as far as this process knows. It returns what the identity then holds, without the holding's key; the zero Holding
// where the limit is reached.
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

// Held returns the number that an identity holds in this process.
func (g *Gauge) Held(name Name, identity string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held[key{name, identity}]
}

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

// Share makes the gauge count together with those of other processes. It must be called before the gauge is used, and Run must be
// running. While the ledger cannot be reached each process counts for itself.
func (g *Gauge) Share(l Ledger) { g.share = newShare(l) }

// Run sends what is held to the ledger until ctx ends: changes soon after they happen, everything at intervals. Without Share it returns
// at once.
func (g *Gauge) Run(ctx context.Context) {
	if g.share == nil {
		return
	}
	for ctx.Err() == nil {
		again, cancel := context.WithTimeout(ctx, repeatEvery)
		select {
		case <-g.share.more:
			g.flush(ctx, g.changed())
			sleep(ctx, flushEvery)
		case <-again.Done():
			g.flush(ctx, g.all())
		}
		cancel()
	}
}

func (g *Gauge) changed() (keys []key) {
	for w := range g.share.take() {
		keys = append(keys, w.key)
	}
	return keys
}

func (g *Gauge) all() (keys []key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for k := range g.held {
		keys = append(keys, k)
	}
	return keys
}

// flush sends the holdings of some keys to the ledger. What cannot be sent is part of the next repetition.
func (g *Gauge) flush(ctx context.Context, keys []key) {
	for len(keys) > 0 && ctx.Err() == nil {
		n := min(len(keys), batchMax)
		if _, err := g.post(ctx, g.holdings(keys[:n]), false); err != nil {
			return
		}
		keys = keys[n:]
	}
}

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

func (g *Gauge) post(ctx context.Context, holdings []Holding, exclusive bool) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	return g.share.ledger.Hold(ctx, holdings, exclusive)
}

// confirm reports whether all processes together are within the limit. Up to a quarter of a limit that is not small the ledger is not
// asked: other processes learn of the holding with the next flush, and until then may let in as many more.
func (g *Gauge) confirm(k key, h Holding, limit int) bool {
	if limit >= smallCount && 4*h.Held <= limit {
		return true
	}
	h.Key = window{key: k}.hash()
	sums, err := g.post(context.Background(), []Holding{h}, true)
	return err != nil || sums[0] <= limit
}

package ratelimit

import "sync"

// Gauge counts how many of something an identity holds at once: open long-polls, SMTP connections. It is safe
// for concurrent use and remembers only identities that hold something.
type Gauge struct {
	mu    sync.Mutex
	held  map[key]int
	turn  int64    // goes up with each change, to tell what is said first from what is said last
	share *holding // nil: this process counts for itself
}

// NewGauge returns a gauge that nobody holds anything of.
func NewGauge() *Gauge { return &Gauge{held: make(map[key]int)} }

// Acquire takes one of the named limit for an identity, unless it holds limit already. Whoever was given one calls
// release when done; further calls of it do nothing. A release of what was refused does nothing either.
func (g *Gauge) Acquire(name Name, identity string, limit int) (release func(), ok bool) {
	k, h := g.take(key{name, identity}, limit)
	if h.Held == 0 {
		return func() {}, false
	}
	release = sync.OnceFunc(func() { g.release(k) })
	if g.share != nil {
		g.share.note(k)
		if !g.fits(k, h, limit) {
			release()
			return func() {}, false
		}
	}
	return release, true
}

// take takes one as far as this process knows, and tells what it then holds, without the key: nothing where the limit is reached.
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

// Held is the number that an identity holds now.
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
		g.share.note(k)
	}
}

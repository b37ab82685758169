package ratelimit

import (
	"context"
	"sync"
	"time"
)

// Holder is where processes tell each other what is held at once.
type Holder interface {
	// Hold says how many of each thing this process holds, good for HoldFor, and returns how many it holds together with all
	// other processes. What was true at an earlier turn than others have heard of since does not count for them. alone
	// has it done while no other process does the same for the one thing that is named, so that two cannot both have the last.
	Hold(ctx context.Context, holdings []Holding, alone bool) (sums []int, err error)
}

// Holding is how many of something an identity holds in this process.
type Holding struct {
	Key  [16]byte // as Entry's
	Held int
	Turn int64 // when it was so: higher than before, for each change
}

// HoldFor is how long what a process has said holds without being said again: what a killed process held is free then.
const HoldFor = 15 * time.Second

// sayEvery is how often a process says what it holds, changed or not.
const sayEvery = HoldFor / 3

// holding is what a gauge tells other processes.
type holding struct {
	holder Holder

	mu      sync.Mutex
	changed map[key]bool // and not told since
	more    chan struct{}
}

// Share has the gauge count together with those of other processes. Call it before the gauge is used, and Run beside it.
// Where the holder does not answer each process counts for itself.
func (g *Gauge) Share(h Holder) {
	g.share = &holding{holder: h, changed: make(map[key]bool), more: make(chan struct{}, 1)}
}

// Run tells the holder what is held, until ctx ends. Without Share there is nothing to tell.
func (g *Gauge) Run(ctx context.Context) {
	if g.share == nil {
		return
	}
	for ctx.Err() == nil {
		again, cancel := context.WithTimeout(ctx, sayEvery)
		select {
		case <-g.share.more:
			g.say(ctx, g.share.take())
			rest(ctx, shareEvery)
		case <-again.Done():
			g.say(ctx, g.all())
		}
		cancel()
	}
}

func (s *holding) note(k key) {
	s.mu.Lock()
	s.changed[k] = true
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *holding) take() (keys []key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.changed {
		keys = append(keys, k)
	}
	clear(s.changed)
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

// say tells the holder of some keys; what cannot be told is told with the next round.
func (g *Gauge) say(ctx context.Context, keys []key) {
	for len(keys) > 0 && ctx.Err() == nil {
		n := min(len(keys), tellMax)
		if _, err := g.ask(ctx, g.holdings(keys[:n]), false); err != nil {
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

func (g *Gauge) ask(ctx context.Context, holdings []Holding, alone bool) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, shareMax)
	defer cancel()
	return g.share.holder.Hold(ctx, holdings, alone)
}

// fits reports whether what is held here and elsewhere is within the limit. Up to a quarter of one that is not small nobody
// is asked, and others hear of it soon: until then, and no longer, they may let in as many more.
func (g *Gauge) fits(k key, h Holding, limit int) bool {
	if limit >= smallCount && 4*h.Held <= limit {
		return true
	}
	h.Key = window{key: k}.hash()
	sums, err := g.ask(context.Background(), []Holding{h}, true)
	return err != nil || sums[0] <= limit
}

package mailbox

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Pacing of a sweep while mail arrives (docs/spec/running.md#erasure, docs/decisions/0054).
const (
	// pauseFactor is how many times as long as a transaction of the sweep the pause after it takes, so that a sweep
	// occupies the writer for a quarter of the time.
	pauseFactor = 3
	// behindFactor is the same for mailboxes that ended longer than behindAfter ago: so many ended at once that they
	// cannot be erased within the promised minute, and mail has precedence.
	behindFactor = 6
	behindAfter  = time.Minute
	// pauseMax bounds a pause after a transaction that waited for a slow disk.
	pauseMax = time.Second
	// lookEvery is how often at most a sweep looks whether mail has arrived.
	lookEvery = 100 * time.Millisecond
	// arrivingFor is how long after the last mail was seen mail still counts as arriving.
	arrivingFor = 5 * time.Second
	// lateMax is how long after its end a mailbox may wait for mail that arrives. From then on sweeps do not pause for it.
	lateMax = 30 * time.Minute
)

// pacer makes sweeps pause while mail arrives. Its clock measures how long work takes and times the pauses; it is the system clock
// except in tests, also where a test has replaced the clock of the service. It is safe for concurrent use.
type pacer struct {
	arrivals func(ctx context.Context) (int64, error) // see Parts.Arrivals; nil: sweeps never pause
	clock    clock.Clock

	mu       sync.Mutex // guards all below
	looked   time.Time  // when arrivals was called last; zero: never
	count    int64      // what it returned
	arriving time.Time  // mail counts as arriving until then
}

// pause waits after a transaction of a sweep that took so long, if mail is arriving. What the transaction did has been due for the time
// behind. It returns the error of ctx if that ends.
func (p *pacer) pause(ctx context.Context, took, behind time.Duration) error {
	if p == nil || p.arrivals == nil || behind > lateMax {
		return nil
	}
	arriving, err := p.look(ctx)
	if err != nil || !arriving {
		return err
	}
	factor := pauseFactor
	if behind > behindAfter {
		factor = behindFactor
	}
	timer := p.clock.NewTimer(min(time.Duration(factor)*took, pauseMax))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// look reports whether mail is arriving. Of mail that it sees after it has not looked for a long time it cannot tell when it arrived: that does
// not count, and if more arrives, the next look finds it.
func (p *pacer) look(ctx context.Context) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	if p.looked.IsZero() || now.Sub(p.looked) >= lookEvery {
		count, err := p.arrivals(ctx)
		if err != nil {
			return false, fmt.Errorf("look whether mail arrives: %w", err)
		}
		if count != p.count && now.Sub(p.looked) < arrivingFor {
			p.arriving = now.Add(arrivingFor)
		}
		p.looked, p.count = now, count
	}
	return now.Before(p.arriving), nil
}

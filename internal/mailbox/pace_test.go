package mailbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/wake"
)

// paceClock is a clock whose timers fire at once and advance it. It records their durations.
type paceClock struct {
	*clock.Fake
	pauses []time.Duration
}

func (c *paceClock) NewTimer(d time.Duration) *clock.Timer {
	c.pauses = append(c.pauses, d)
	c.Advance(d)
	return c.Fake.NewTimer(0)
}

// took returns the sum of the pauses.
func (c *paceClock) took() (sum time.Duration) {
	for _, d := range c.pauses {
		sum += d
	}
	return sum
}

// slowContents are contents each batch of which takes 10 ms to erase.
type slowContents struct {
	contents
	clock  clock.Clock
	worked time.Duration
	during func() // is called in each batch; nil: not
}

func (c *slowContents) EraseTx(ctx context.Context, tx *db.Tx, boxes []id.Mailbox, max int) (bool, error) {
	const each = 10 * time.Millisecond
	switch clk := c.clock.(type) {
	case *paceClock:
		clk.Advance(each)
	case *clock.Fake:
		clk.Advance(each)
	}
	c.worked += each
	if c.during != nil {
		c.during()
	}
	return c.contents.EraseTx(ctx, tx, boxes, max)
}

// paced is a service whose sweeps are paced, and full mailboxes that have expired in it.
type paced struct {
	*mailbox.Service
	mails    int64 // that have arrived
	arriving bool  // another one arrives whenever a sweep looks
	full     *slowContents
}

const pacedMails = 40 * 100

// newPaced returns a service that times its sweeps with a clock. It has looked for mail once.
func newPaced(t *testing.T, w *world, c clock.Clock) *paced {
	p := &paced{full: &slowContents{contents: make(contents), clock: c}}
	p.Service = w.paced(c, func(context.Context) (int64, error) {
		if p.arriving {
			p.mails++
		}
		return p.mails, nil
	})
	if _, err := p.Sweep(t.Context(), p.full); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		m, _ := w.create(t, "", mailbox.Owner{})
		p.full.contents[m.ID] = pacedMails / 40
	}
	w.clock.Advance(time.Hour)
	return p
}

// paced returns another service on the database, as after a restart.
func (w *world) paced(c clock.Clock, arrivals func(context.Context) (int64, error)) *mailbox.Service {
	return mailbox.New(mailbox.Parts{
		DB: w.db, Clock: w.clock, Wake: wake.New(), Plans: w, Domains: w, HoldSecret: []byte("hold"), Arrivals: arrivals, PaceClock: c,
		Policy:       mailbox.Policy{Cooldown: time.Hour},
		ObserveBatch: func() func() { return func() { w.batches++ } },
	})
}

// left counts the messages and the mailboxes that are not erased.
func (p *paced) left(t *testing.T, w *world) (messages, boxes int) {
	t.Helper()
	for _, n := range p.full.contents {
		messages += n
	}
	if err := w.db.QueryRow(t.Context(), "SELECT count(*) FROM mailbox").Scan(&boxes); err != nil {
		t.Fatal(err)
	}
	return messages, boxes
}

// sweep fails the test unless a sweep erases all that is left, in batches of at most 100 messages.
func (p *paced) sweep(t *testing.T, w *world, sweep func(context.Context, mailbox.Contents) (int, error)) {
	t.Helper()
	w.batches = 0
	before, _ := p.left(t, w)
	if _, err := sweep(t.Context(), p.full); err != nil {
		t.Fatal(err)
	}
	if messages, boxes := p.left(t, w); messages > 0 || boxes > 0 {
		t.Errorf("%d messages and %d mailboxes are left", messages, boxes)
	}
	if w.batches < before/100 {
		t.Errorf("%d messages were erased in %d batches", before, w.batches)
	}
}

func newPaceClock() *paceClock { return &paceClock{Fake: clock.NewFake(noon())} }

// While mail arrives, a sweep works for a quarter of the time, and for a seventh of it when it is more than a minute behind.
func TestSweepPausesWhileMailArrives(t *testing.T) {
	for _, test := range []struct {
		behind time.Duration
		factor time.Duration
	}{{0, 3}, {time.Minute, 3}, {time.Minute + 1, 6}, {30 * time.Minute, 6}} {
		t.Run(test.behind.String(), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				c := newPaceClock()
				p := newPaced(t, w, c)
				c.Advance(time.Second)
				c.pauses, p.arriving = nil, true
				p.full.during = func() {
					if p.full.worked == 10*time.Millisecond { // after the mailboxes have ended
						w.clock.Advance(test.behind)
					}
				}
				p.sweep(t, w, p.Sweep)
				if got, want := c.took(), test.factor*p.full.worked; got != want || got == 0 {
					t.Errorf("paused for %s while working for %s, want %s", got, p.full.worked, want)
				}
			})
		})
	}
}

func TestSweepDoesNotPause(t *testing.T) {
	for name, set := range map[string]func(w *world, p *paced) (sweep func(context.Context, mailbox.Contents) (int, error)){
		"without mail": func(_ *world, p *paced) func(context.Context, mailbox.Contents) (int, error) { return p.Sweep },
		"at shutdown": func(_ *world, p *paced) func(context.Context, mailbox.Contents) (int, error) {
			p.arriving = true
			return p.SweepNow
		},
		"half an hour late": func(w *world, p *paced) func(context.Context, mailbox.Contents) (int, error) {
			w.clock.Advance(30*time.Minute + time.Second)
			p.arriving = true
			return p.Sweep
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				c := newPaceClock()
				p := newPaced(t, w, c)
				c.Advance(time.Second)
				c.pauses = nil
				p.sweep(t, w, set(w, p))
				if got := c.took(); got > 0 {
					t.Errorf("paused for %s", got)
				}
			})
		})
	}
}

// Mail that ended arriving is no reason to pause.
func TestSweepIsFastAgainAfterMail(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		c := newPaceClock()
		p := newPaced(t, w, c)
		p.mails++
		c.Advance(time.Second)
		p.full.during = func() {
			if p.full.worked == 100*time.Millisecond {
				c.Advance(5 * time.Second)
				c.pauses = nil
			}
		}
		p.sweep(t, w, p.Sweep)
		if len(c.pauses) > 0 {
			t.Errorf("paused %d times when no mail had arrived for 5 s", len(c.pauses))
		}
	})
}

// Mailboxes that expire while a sweep pauses are ended by it, so that their events and the cool-down of their addresses do not wait for
// the next one.
func TestLongSweepEndsWhatExpiresMeanwhile(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		c := newPaceClock()
		p := newPaced(t, w, c)
		w.create(t, "later", mailbox.Owner{})
		p.full.during = func() {
			if p.full.worked == 100*time.Millisecond {
				w.clock.Advance(time.Hour)
				c.Advance(6 * time.Second)
			}
		}
		p.sweep(t, w, p.Sweep)
	})
}

// A sweep ends with its context, also within a pause, and after a restart the next one goes on.
func TestSweepIsCutOffWithinPause(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		c := clock.NewFake(noon())
		p := newPaced(t, w, c)
		c.Advance(time.Second)
		p.arriving = true
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := p.Sweep(ctx, p.full)
			ended <- err
		}()
		for range 3 {
			c.WaitForTimers(t, 1)
			c.Advance(30 * time.Millisecond)
		}
		c.WaitForTimers(t, 1)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatalf("Sweep = %v", err)
		}
		if messages, boxes := p.left(t, w); messages == 0 || messages == pacedMails || boxes == 0 {
			t.Errorf("%d messages and %d mailboxes are left of a sweep that was cut off", messages, boxes)
		}
		p.Service = w.paced(c, func(context.Context) (int64, error) { return 0, nil })
		p.sweep(t, w, p.Sweep)
	})
}

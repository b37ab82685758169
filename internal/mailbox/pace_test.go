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
func newPaced(t *testing.T, f *fixture, c clock.Clock) *paced {
	p := &paced{full: &slowContents{contents: make(contents), clock: c}}
	p.Service = f.paced(c, func(context.Context) (int64, error) {
		if p.arriving {
			p.mails++
		}
		return p.mails, nil
	})
	if _, err := p.Sweep(t.Context(), p.full); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		m, _ := f.create(t, "", mailbox.Owner{})
		p.full.contents[m.ID] = pacedMails / 40
	}
	f.clock.Advance(time.Hour)
	return p
}

// paced returns another service on the database, as after a restart.
func (f *fixture) paced(c clock.Clock, arrivals func(context.Context) (int64, error)) *mailbox.Service {
	return mailbox.New(mailbox.Parts{
		DB: f.db, Clock: f.clock, Wake: wake.New(), Plans: f, Domains: f, HoldSecret: []byte("hold"), Arrivals: arrivals, PaceClock: c,
		Policy:       mailbox.Policy{Cooldown: time.Hour},
		ObserveBatch: func() func() { return func() { f.batches++ } },
	})
}

// left counts the messages and the mailboxes that are not erased.
func (p *paced) left(t *testing.T, f *fixture) (messages, boxes int) {
	t.Helper()
	for _, n := range p.full.contents {
		messages += n
	}
	if err := f.db.QueryRow(t.Context(), "SELECT count(*) FROM mailbox").Scan(&boxes); err != nil {
		t.Fatal(err)
	}
	return messages, boxes
}

// sweep fails the test unless a sweep erases all that is left, in batches of at most 100 messages.
func (p *paced) sweep(t *testing.T, f *fixture, sweep func(context.Context, mailbox.Contents) (int, error)) {
	t.Helper()
	f.batches = 0
	before, _ := p.left(t, f)
	if _, err := sweep(t.Context(), p.full); err != nil {
		t.Fatal(err)
	}
	if messages, boxes := p.left(t, f); messages > 0 || boxes > 0 {
		t.Errorf("%d messages and %d mailboxes are left, want 0 and 0", messages, boxes)
	}
	if f.batches < before/100 {
		t.Errorf("%d messages were erased in %d batches, want batches at least %v", before, f.batches, before/100)
	}
}

func newPaceClock() *paceClock { return &paceClock{Fake: clock.NewFake(noon())} }

// While mail arrives, a sweep works for a quarter of the time, and for a seventh of it when it is more than a minute behind.
func TestSweepPausesWhileMailArrives(t *testing.T) {
	for _, test := range []struct {
		behind time.Duration
		factor int
	}{{0, 3}, {time.Minute, 3}, {time.Minute + 1, 6}, {30 * time.Minute, 6}} {
		t.Run(test.behind.String(), func(t *testing.T) {
			run(t, func(t *testing.T, f *fixture) {
				c := newPaceClock()
				p := newPaced(t, f, c)
				c.Advance(time.Second)
				c.pauses, p.arriving = nil, true
				p.full.during = func() {
					if p.full.worked == 10*time.Millisecond { // after the mailboxes have ended
						f.clock.Advance(test.behind)
					}
				}
				p.sweep(t, f, p.Sweep)
				if got, want := c.took(), time.Duration(test.factor)*p.full.worked; got != want || got == 0 {
					t.Errorf("paused for %s while working for %s, want %s", got, p.full.worked, want)
				}
			})
		})
	}
}

func TestSweepDoesNotPause(t *testing.T) {
	for name, set := range map[string]func(f *fixture, p *paced) (sweep func(context.Context, mailbox.Contents) (int, error)){
		"without mail": func(_ *fixture, p *paced) func(context.Context, mailbox.Contents) (int, error) { return p.Sweep },
		"at shutdown": func(_ *fixture, p *paced) func(context.Context, mailbox.Contents) (int, error) {
			p.arriving = true
			return p.SweepNow
		},
		"half an hour late": func(f *fixture, p *paced) func(context.Context, mailbox.Contents) (int, error) {
			f.clock.Advance(30*time.Minute + time.Second)
			p.arriving = true
			return p.Sweep
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, f *fixture) {
				c := newPaceClock()
				p := newPaced(t, f, c)
				c.Advance(time.Second)
				c.pauses = nil
				p.sweep(t, f, set(f, p))
				if got := c.took(); got > 0 {
					t.Errorf("paused for %s, want 0", got)
				}
			})
		})
	}
}

// Mail that ended arriving is no reason to pause.
func TestSweepIsFastAgainAfterMail(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		c := newPaceClock()
		p := newPaced(t, f, c)
		p.mails++
		c.Advance(time.Second)
		p.full.during = func() {
			if p.full.worked == 100*time.Millisecond {
				c.Advance(5 * time.Second)
				c.pauses = nil
			}
		}
		p.sweep(t, f, p.Sweep)
		if len(c.pauses) > 0 {
			t.Errorf("Sweep paused %d times when no mail had arrived for 5 s, want no pause", len(c.pauses))
		}
	})
}

// Mailboxes that expire while a sweep pauses are ended by it, so that their events and the cool-down of their addresses do not wait for
// the next one.
func TestLongSweepEndsWhatExpiresMeanwhile(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		c := newPaceClock()
		p := newPaced(t, f, c)
		f.create(t, "later", mailbox.Owner{})
		p.full.during = func() {
			if p.full.worked == 100*time.Millisecond {
				f.clock.Advance(time.Hour)
				c.Advance(6 * time.Second)
			}
		}
		p.sweep(t, f, p.Sweep)
	})
}

// A sweep ends with its context, also within a pause, and after a restart the next one goes on.
func TestSweepIsCutOffWithinPause(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		c := clock.NewFake(noon())
		p := newPaced(t, f, c)
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
			t.Fatalf("Sweep = %v, want the error %v", err, context.Canceled)
		}
		if messages, boxes := p.left(t, f); messages == 0 || messages == pacedMails || boxes == 0 {
			t.Errorf("a sweep that was cut off left %d messages and %d mailboxes, want some of the %d messages, and mailboxes", messages, boxes, pacedMails)
		}
		p.Service = f.paced(c, func(context.Context) (int64, error) { return 0, nil })
		p.sweep(t, f, p.Sweep)
	})
}

// Mail that arrived since the last look, which was long ago, may have ended long ago as well: a sweep pauses only if more arrives.
func TestSweepPausesForMailOfTheLastSeconds(t *testing.T) {
	for _, arriving := range []bool{false, true} {
		run(t, func(t *testing.T, f *fixture) {
			c := newPaceClock()
			p := newPaced(t, f, c)
			p.mails++
			p.arriving = arriving
			c.Advance(time.Minute)
			c.pauses = nil
			p.sweep(t, f, p.Sweep)
			if paused := len(c.pauses) > 0; paused != arriving {
				t.Errorf("a sweep a minute after the last look paused %d times, want pauses to be %t", len(c.pauses), arriving)
			}
		})
	}
}

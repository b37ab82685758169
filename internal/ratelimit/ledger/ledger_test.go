package ledger_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/ratelimit/ledger"
)

// process is a limiter with its own database connections.
type process struct {
	*ratelimit.Limiter
	ledger *ledger.Ledger
}

// patience is how long a ledger is waited for. No result depends on it, however busy the machine is.
const patience = time.Minute

func cluster(t *testing.T, c clock.Clock, n int) []process {
	t.Helper()
	url := dbtest.PostgresURL(t)
	var all []process
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range n {
		d, err := db.Open(t.Context(), url, db.Options{Logger: slog.New(slog.DiscardHandler), Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		p := process{ratelimit.New(c), ledger.New(d)}
		p.Share(p.ledger, patience)
		wg.Go(func() { p.Run(ctx) })
		all = append(all, p)
	}
	t.Cleanup(wg.Wait)
	t.Cleanup(cancel)
	return all
}

func limit(t *testing.T, text string) ratelimit.Limit {
	t.Helper()
	l, err := ratelimit.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func noon() *clock.Fake { return clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)) }

// Calls that alternate between processes are counted as if one process handled them all.
func TestExactLimitsHoldAcrossProcesses(t *testing.T) {
	c := noon()
	all := cluster(t, c, 3)
	lim := limit(t, "10/1m, 15/1h")
	passed := func(calls int) (n int) {
		for i := range calls {
			if all[i%len(all)].Take(ratelimit.SignIn, "anna|192.0.2.1", lim, 1).OK {
				n++
			}
		}
		return n
	}
	if n := passed(30); n != 10 {
		t.Errorf("%d passed, want 10", n)
	}
	d := all[1].Take(ratelimit.SignIn, "anna|192.0.2.1", lim, 1)
	if d.OK || d.RetryAfter != 6*time.Second || d.Limit != 10 {
		t.Errorf("Take in the second process = %+v, want it refused with RetryAfter %v of the limit of 10", d, 6*time.Second)
	}
	c.Advance(d.RetryAfter)
	if n := passed(5); n != 1 {
		t.Errorf("after Retry-After %d passed, want 1", n)
	}
	if !all[0].Take(ratelimit.SignIn, "bert|192.0.2.1", lim, 1).OK {
		t.Error("Take of another identity was refused, want it to pass")
	}
	c.Advance(time.Minute)
	if n := passed(30); n != 4 { // what is left of the hour's 15, and one that was refilled
		t.Errorf("%d passed within the hour, want 4", n)
	}
}

// Concurrent calls of all processes get no more than the limit.
func TestExactLimitsHoldForConcurrentCalls(t *testing.T) {
	all := cluster(t, noon(), 3)
	lim := limit(t, "10/1m")
	var passed atomic.Int32
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if all[i%3].Take(ratelimit.Register, "192.0.2.1", lim, 1).OK {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if n := passed.Load(); n == 0 || n > 10 {
		t.Errorf("%d passed, want 10", n)
	}
}

// Far from a large limit a take is sent to the ledger after the response; other processes learn of it soon.
func TestOtherTakesReachTheOtherProcesses(t *testing.T) {
	all := cluster(t, noon(), 2)
	const most, first = 1_000_000, 490_000 // so many that the second process comes nowhere near the limit by its own takes
	lim := limit(t, fmt.Sprint(most, "/1m"))
	if d := all[0].Take(ratelimit.Reads, "192.0.2.1", lim, first); !d.OK {
		t.Fatalf("Take(%d) of %d = %+v, want OK", first, most, d)
	}
	passed := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		d := all[1].Take(ratelimit.Reads, "192.0.2.1", lim, 1)
		if passed++; d.OK && d.Remaining <= most-first-passed {
			return
		}
	}
	t.Errorf("after %d takes the second process had not learned of those of the first, want it to count them", passed)
}

func TestNewProcessCountsWhatWasTakenBefore(t *testing.T) {
	c := noon()
	all := cluster(t, c, 1)
	lim := limit(t, "3/1m")
	for range 3 {
		all[0].Take(ratelimit.MailboxCreate, "192.0.2.1", lim, 1)
	}
	fresh := ratelimit.New(c)
	fresh.Share(all[0].ledger, patience)
	if fresh.Take(ratelimit.MailboxCreate, "192.0.2.1", lim, 1).OK {
		t.Error("a fourth Take passed in a new process, want it refused")
	}
	c.Advance(2 * time.Minute)
	if err := all[0].ledger.Sweep(t.Context(), c.Now().UnixMicro()); err != nil {
		t.Fatal(err)
	}
	if !fresh.Take(ratelimit.MailboxCreate, "192.0.2.1", lim, 3).OK {
		t.Error("a Take two minutes later was refused, want it to pass")
	}
}

func TestWithoutTheLedgerEachProcessCountsForItself(t *testing.T) {
	server := dbtest.StartServer(t)
	d, err := db.Open(t.Context(), server.URL("postgres"), db.Options{Logger: slog.New(slog.DiscardHandler), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	l, passed := ratelimit.New(noon()), 0
	l.Share(ledger.New(d), patience)
	for range 6 {
		if l.Take(ratelimit.SignIn, "anna", limit(t, "4/1m"), 1).OK {
			passed++
		}
	}
	if passed != 4 {
		t.Errorf("%d passed, want 4", passed)
	}
}

func TestWhatIsReturnedIsFreeInEveryProcess(t *testing.T) {
	all := cluster(t, noon(), 2)
	lim := limit(t, "3/1m")
	for i := range 20 {
		if !all[i%2].Take(ratelimit.TwoFactor, "anna", lim, 1).OK {
			t.Fatalf("Take %d was refused, want it to pass since the one before was returned", i)
		}
		all[i%2].Return(ratelimit.TwoFactor, "anna", lim, 1)
	}
}

// gauges returns the gauges of n processes.
func gauges(t *testing.T, n int) []*ratelimit.Gauge {
	t.Helper()
	var all []*ratelimit.Gauge
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, p := range cluster(t, noon(), n) {
		g := ratelimit.NewGauge()
		g.Share(p.ledger, patience)
		wg.Go(func() { g.Run(ctx) })
		all = append(all, g)
	}
	t.Cleanup(wg.Wait)
	t.Cleanup(cancel)
	return all
}

func TestHoldingsAreCountedAcrossProcesses(t *testing.T) {
	all := gauges(t, 3)
	var held atomic.Int32
	var mu sync.Mutex
	var releases []func()
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			if release, ok := all[i%3].Acquire(ratelimit.LongPolls, "192.0.2.1", 4); ok {
				held.Add(1)
				mu.Lock()
				defer mu.Unlock()
				releases = append(releases, release)
			}
		})
	}
	wg.Wait()
	if n := held.Load(); n == 0 || n > 4 {
		t.Fatalf("%d are held, want 1 to 4", n)
	}
	for _, release := range releases {
		release()
	}
	for i := range 12 { // each process in turn can hold the only one soon after another released it
		var release func()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			var ok bool
			if release, ok = all[i%3].Acquire(ratelimit.LongPolls, "192.0.2.1", 1); ok {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("Acquire was refused until the deadline, want it granted after the other process released")
			}
		}
		if _, ok := all[(i+1)%3].Acquire(ratelimit.LongPolls, "192.0.2.1", 1); ok {
			t.Error("a second process acquired the only holding, want it refused")
		}
		release()
	}
}

func TestHoldingsOfProcessesAreSummed(t *testing.T) {
	all := cluster(t, noon(), 2)
	key := [16]byte{1}
	sum := func(p process, held int, turn int64) int {
		t.Helper()
		sums, err := p.ledger.Hold(t.Context(), []ratelimit.Holding{{Key: key, Held: held, Turn: turn}}, true)
		if err != nil {
			t.Fatal(err)
		}
		return sums[0]
	}
	for _, c := range []struct {
		process, held int
		turn          int64
		want          int
	}{
		{process: 0, held: 3, turn: 2, want: 3},
		{process: 1, held: 2, turn: 1, want: 5},
		{process: 0, held: 0, turn: 1, want: 2}, // a late report: none for this process itself,
		{process: 1, held: 2, turn: 2, want: 5}, // but still three for others
		{process: 0, held: 0, turn: 3, want: 2},
		{process: 1, held: 2, turn: 3, want: 2},
	} {
		if got := sum(all[c.process], c.held, c.turn); got != c.want {
			t.Errorf("%+v: %d are held by both, want %v", c, got, c.want)
		}
	}
}

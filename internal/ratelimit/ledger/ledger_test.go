package ledger_test

import (
	"context"
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

// process is a limiter with connections of its own.
type process struct {
	*ratelimit.Limiter
	ledger *ledger.Ledger
}

func cluster(t *testing.T, c clock.Clock, n int) []process {
	t.Helper()
	url := dbtest.PostgresURL(t)
	var all []process
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range n {
		d, err := db.Open(t.Context(), url, db.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		p := process{ratelimit.New(c), ledger.New(d)}
		p.Share(p.ledger)
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

// Calls that go to the processes in turn are counted as if one process had them all.
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
		t.Errorf("%d passed, 10 may", n)
	}
	d := all[1].Take(ratelimit.SignIn, "anna|192.0.2.1", lim, 1)
	if d.OK || d.RetryAfter != 6*time.Second || d.Limit != 10 {
		t.Errorf("%+v", d)
	}
	c.Advance(d.RetryAfter)
	if n := passed(5); n != 1 {
		t.Errorf("after Retry-After %d passed, 1 may", n)
	}
	if !all[0].Take(ratelimit.SignIn, "bert|192.0.2.1", lim, 1).OK {
		t.Error("another identity was refused")
	}
	c.Advance(time.Minute)
	if n := passed(30); n != 4 { // the hour's 15 are used up but for these, and one came back
		t.Errorf("%d passed within the hour, 4 may", n)
	}
}

// Whoever calls every process at the same moment has no more than the limit from it.
func TestExactLimitsHoldForManyAtOnce(t *testing.T) {
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
		t.Errorf("%d passed, 10 may", n)
	}
}

// Limits that are told later bound what passes all the same: a process learns what the others let pass.
func TestOtherLimitsAreToldSoon(t *testing.T) {
	all := cluster(t, noon(), 2)
	lim := limit(t, "50/1m")
	if d := all[0].Take(ratelimit.Reads, "192.0.2.1", lim, 45); !d.OK {
		t.Fatal("it was refused")
	}
	passed := 0
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if !all[1].Take(ratelimit.Reads, "192.0.2.1", lim, 1).OK {
			return
		}
		if passed++; passed > 50 {
			break
		}
	}
	t.Errorf("%d passed in the second process, which does not know of the first", passed)
}

// A process that begins knows what was taken before it.
func TestANewProcessKnowsWhatWasTaken(t *testing.T) {
	c := noon()
	all := cluster(t, c, 1)
	lim := limit(t, "3/1m")
	for range 3 {
		all[0].Take(ratelimit.MailboxCreate, "192.0.2.1", lim, 1)
	}
	fresh := ratelimit.New(c)
	fresh.Share(all[0].ledger)
	if fresh.Take(ratelimit.MailboxCreate, "192.0.2.1", lim, 1).OK {
		t.Error("a fourth passed")
	}
	c.Advance(2 * time.Minute)
	if err := all[0].ledger.Sweep(t.Context(), c.Now().UnixMicro()); err != nil {
		t.Fatal(err)
	}
	if !fresh.Take(ratelimit.MailboxCreate, "192.0.2.1", lim, 3).OK {
		t.Error("two minutes later it was refused")
	}
}

// Without its ledger each process counts for itself.
func TestALedgerThatIsAwayLetsEachProcessCount(t *testing.T) {
	server := dbtest.StartServer(t)
	d, err := db.Open(t.Context(), server.URL("postgres"), db.Options{Logger: slog.New(slog.DiscardHandler)})
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
	l.Share(ledger.New(d))
	for range 10 {
		if l.Take(ratelimit.SignIn, "anna", limit(t, "4/1m"), 1).OK {
			passed++
		}
	}
	if passed != 4 {
		t.Errorf("%d passed, 4 may", passed)
	}
}

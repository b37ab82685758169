package ratelimit_test

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func limit(t testing.TB, text string) ratelimit.Limit {
	t.Helper()
	l, err := ratelimit.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestBurstPassesAndThenOneAtATime(t *testing.T) {
	c := clock.NewFake(start)
	l, lim := ratelimit.New(c), limit(t, "30/1m")
	for i := range 30 {
		d := l.Take(ratelimit.Reads, "a", lim, 1)
		if !d.OK || d.Remaining != 29-i || d.Limit != 30 {
			t.Fatalf("take %d: %+v, want it to pass with %d of 30 remaining", i, d, 29-i)
		}
	}
	d := l.Take(ratelimit.Reads, "a", lim, 1)
	if d.OK || d.RetryAfter != 2*time.Second || d.Reset != 2*time.Second || d.Remaining != 0 {
		t.Errorf("Take after the burst = %+v, want it refused with RetryAfter and Reset 2 s and none remaining", d)
	}
	c.Advance(2*time.Second - time.Microsecond)
	if d := l.Take(ratelimit.Reads, "a", lim, 1); d.OK || d.RetryAfter != time.Microsecond {
		t.Errorf("Take a microsecond before RetryAfter = %+v, want it refused for a microsecond more", d)
	}
	c.Advance(time.Microsecond)
	if d := l.Take(ratelimit.Reads, "a", lim, 1); !d.OK {
		t.Errorf("Take after RetryAfter = %+v, want OK", d)
	}
	if d := l.Take(ratelimit.Reads, "a", lim, 1); d.OK {
		t.Errorf("a second Take after RetryAfter = %+v, want it refused", d)
	}
}

func TestNamesAndIdentitiesAreCountedApart(t *testing.T) {
	l, lim := ratelimit.New(clock.NewFake(start)), limit(t, "1/1m")
	for _, who := range []struct {
		name     ratelimit.Name
		identity string
	}{{ratelimit.Reads, "a"}, {ratelimit.Reads, "b"}, {ratelimit.Other, "a"}} {
		if !l.Take(who.name, who.identity, lim, 1).OK {
			t.Errorf("the first Take of %v was refused, want it counted apart from the others", who)
		}
		if l.Take(who.name, who.identity, lim, 1).OK {
			t.Errorf("the second Take of %v passed, want it refused", who)
		}
	}
}

func TestRefusalByOneWindowTakesNothingFromOthers(t *testing.T) {
	c := clock.NewFake(start)
	l, lim := ratelimit.New(c), limit(t, "2/1m, 5/24h")
	for range 2 {
		l.Take(ratelimit.MailboxCreate, "a", lim, 1)
	}
	for range 50 {
		d := l.Take(ratelimit.MailboxCreate, "a", lim, 1)
		if d.OK || d.Window != lim[0] || d.RetryAfter != 30*time.Second {
			t.Fatalf("Take when the minute is used up = %+v, want it refused by that window for 30 s", d)
		}
	}
	c.Advance(time.Minute)
	for range 2 {
		if d := l.Take(ratelimit.MailboxCreate, "a", lim, 1); !d.OK {
			t.Fatalf("Take a minute later = %+v, want OK, since refused takes cost the day nothing", d)
		}
	}
	c.Advance(time.Minute)
	if d := l.Take(ratelimit.MailboxCreate, "a", lim, 2); d.OK || d.Window != lim[1] {
		t.Errorf("Take(2) with one left of the day = %+v, want it refused by the window of a day", d)
	}
	if d := l.Take(ratelimit.MailboxCreate, "a", lim, 1); !d.OK || d.Remaining != 0 || d.Window != lim[1] {
		t.Errorf("Take of the day's last = %+v, want it to pass with none remaining of %v", d, lim[1])
	}
}

func TestMoreThanTheCountNeverPasses(t *testing.T) {
	l, lim := ratelimit.New(clock.NewFake(start)), limit(t, "5/1s")
	for _, n := range []int{6, 1 << 40, int(^uint(0) >> 1)} {
		if d := l.Take(ratelimit.Other, "a", lim, n); d.OK || d.RetryAfter <= 0 || d.RetryAfter > time.Second {
			t.Errorf("Take(%d) of a limit of 5 = %+v, want it refused with RetryAfter of up to a second", n, d)
		}
	}
	if d := l.Take(ratelimit.Other, "a", lim, 5); !d.OK {
		t.Errorf("Take(5) after refused takes = %+v, want OK, since those took nothing", d)
	}
}

func TestEmptyLimitAllowsEverything(t *testing.T) {
	l := ratelimit.New(clock.NewFake(start))
	for range 1000 {
		if d := l.Take(ratelimit.Other, "a", nil, 1000); !d.OK || d.Headers() != (ratelimit.Headers{}) {
			t.Fatalf("Take(1000) of an empty limit = %+v, want it to pass without headers", d)
		}
	}
	if l.Entries() != 0 {
		t.Errorf("Entries() = %d, want 0", l.Entries())
	}
}

func TestWindowOutOfBoundsIsTheNearestInside(t *testing.T) {
	for _, w := range []ratelimit.Window{{}, {Count: -1, Per: -1}, {Count: 1 << 60, Per: 1}, {Count: 1, Per: 1 << 62}} {
		l := ratelimit.New(clock.NewFake(start))
		if d := l.Take(ratelimit.Other, "a", ratelimit.Limit{w}, 1); !d.OK || d.Limit != 1 {
			t.Errorf("%+v: the first Take = %+v, want it to pass a limit of 1", w, d)
		}
		if d := l.Take(ratelimit.Other, "a", ratelimit.Limit{w}, 1); d.OK || d.RetryAfter <= 0 {
			t.Errorf("%+v: the second Take = %+v, want it refused with RetryAfter", w, d)
		}
	}
}

// After a change of plan, what was taken counts under the new limit.
func TestTakesCountWhenTheLimitChanges(t *testing.T) {
	c := clock.NewFake(start)
	l := ratelimit.New(c)
	l.Take(ratelimit.KeyCalls, "k", limit(t, "300/24h"), 300)
	tight := limit(t, "60/1m")
	if d := l.Take(ratelimit.KeyCalls, "k", tight, 1); d.OK || d.RetryAfter > time.Minute {
		t.Errorf("Take under a limit per minute, with a day's debt = %+v, want it refused for at most a minute", d)
	}
	c.Advance(time.Second)
	if d := l.Take(ratelimit.KeyCalls, "k", limit(t, "60/1m, 600/1h"), 1); !d.OK {
		t.Errorf("Take a second later, with one more window = %+v, want OK", d)
	}
}

func TestClockSetBackDoesNotLockOut(t *testing.T) {
	c := clock.NewFake(start)
	l, lim := ratelimit.New(c), limit(t, "10/1m")
	l.Take(ratelimit.Other, "a", lim, 10)
	c.Advance(-24 * time.Hour)
	d := l.Take(ratelimit.Other, "a", lim, 1)
	if d.OK || d.RetryAfter != 6*time.Second {
		t.Fatalf("Take after the clock was set back = %+v, want it refused with RetryAfter %v", d, 6*time.Second)
	}
	c.Advance(6 * time.Second)
	if d := l.Take(ratelimit.Other, "a", lim, 1); !d.OK {
		t.Errorf("Take after RetryAfter = %+v, want OK", d)
	}
}

func TestIdleEntriesAreDropped(t *testing.T) {
	c := clock.NewFake(start)
	l, lim := ratelimit.New(c), limit(t, "10/1m")
	const crowd = 20_000
	for i := range crowd {
		l.Take(ratelimit.Other, fmt.Sprint("early", i), lim, 1)
	}
	if n := l.Entries(); n != crowd {
		t.Fatalf("%d entries, none is idle yet, want %v", n, crowd)
	}
	c.Advance(time.Minute)
	for i := range 2 * crowd { // each shard doubles and is swept
		l.Take(ratelimit.Other, fmt.Sprint("late", i), lim, 1)
	}
	if n := l.Entries(); n > 2*crowd+crowd/2 {
		t.Errorf("Entries() = %d, want at most %d, since idle ones are dropped", n, 2*crowd+crowd/2)
	}
}

func TestMemoryIsBoundedAndLargeDebtsAreKept(t *testing.T) {
	c := clock.NewFake(start)
	l := ratelimit.NewCapped(c, 256*16)
	heavy, light := limit(t, "10/24h"), limit(t, "10/1s")
	l.Take(ratelimit.MailboxCreate, "abuser", heavy, 10)
	for i := range 20_000 {
		if !l.Take(ratelimit.Other, fmt.Sprint(i), light, 1).OK {
			t.Fatalf("Take of the new identity %d was refused, want it to pass", i)
		}
	}
	if n := l.Entries(); n > 256*16 {
		t.Errorf("%d entries, want at most %v", n, 256*16)
	}
	if l.Take(ratelimit.MailboxCreate, "abuser", heavy, 1).OK {
		t.Error("Take of the identity in debt passed after a flood of others, want its large debt kept")
	}
}

func TestConcurrentTakesAreCounted(t *testing.T) {
	l, lim := ratelimit.New(clock.NewFake(start)), limit(t, "500/1m")
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				l.Take(ratelimit.Other, fmt.Sprint(i), lim, 1)
				if l.Take(ratelimit.Other, "shared", lim, 1).OK {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if passed.Load() != 500 {
		t.Errorf("%d passed, want 500", passed.Load())
	}
}

func TestAddrIdentityIsTheAddressOrIts64(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::":       "2001:db8:1:2::/64",
		"2001:db8:1:3::":       "2001:db8:1:3::/64",
		"fe80::1%eth0":         "fe80::/64",
		"::1":                  "::/64",
	} {
		if got := ratelimit.AddrIdentity(netip.MustParseAddr(text)); got != want {
			t.Errorf("AddrIdentity(%s) = %s, want %s", text, got, want)
		}
	}
	if got := ratelimit.AddrIdentity(netip.Addr{}); got == "" {
		t.Error("AddrIdentity of the zero address is empty, want an identity")
	}
}

func TestTakeDoesNotAllocate(t *testing.T) {
	l, lim := ratelimit.New(clock.System()), limit(t, "30/1m, 300/24h")
	if n := testing.AllocsPerRun(1000, func() { l.Take(ratelimit.MailboxCreate, "192.0.2.7", lim, 1) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

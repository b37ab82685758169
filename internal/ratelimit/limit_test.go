package ratelimit_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/google/go-cmp/cmp"
)

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]ratelimit.Limit{
		"30/1m":             {{30, time.Minute}},
		"30/1m, 300/24h":    {{30, time.Minute}, {300, 24 * time.Hour}},
		" 1/1s ,2/90m,3/1h": {{1, time.Second}, {2, 90 * time.Minute}, {3, time.Hour}},
		"5/100ms":           {{5, 100 * time.Millisecond}},
		"1000000/1s":        {{1_000_000, time.Second}},
	} {
		got, err := ratelimit.ParseLimit(text)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("ParseLimit(%q) = %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{
		"", ",", "30", "30/", "/1m", "0/1m", "-1/1m", "+1/1m", "1.5/1m", "30/1m,", "30/1", "30/0s", "30/-1m", "30/1ns", "30/1500ns",
		"1/8785h", "2/1us", "1000001/1s", "99999999999/24h", "30/1m, 20/60s", "30 / 1m", "1/9999999h",
	} {
		if got, err := ratelimit.ParseLimit(bad); err == nil {
			t.Errorf("ParseLimit(%q) = %v", bad, got)
		}
	}
}

func TestLimitsAreFormattedAsTheyAreParsed(t *testing.T) {
	for _, text := range []string{"30/1m, 300/24h", "10/5m", "1/1h30m", "1/1h0m1s", "7/10s", "5/100ms", "2/20m10s"} {
		var l ratelimit.Limit
		if err := l.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if back, _ := l.MarshalText(); string(back) != text {
			t.Errorf("%q is formatted as %q", text, back)
		}
	}
	l := ratelimit.Limit{{1, time.Hour}}
	if err := l.UnmarshalText([]byte("nonsense")); err == nil || len(l) != 1 {
		t.Errorf("UnmarshalText = %v, limit now %v", err, l)
	}
}

func TestDecisionsHaveHeadersAndAProblem(t *testing.T) {
	c := clock.NewFake(start)
	l, one, two := ratelimit.New(c), limit(t, "2/1m"), limit(t, "30/1m, 31/24h")

	ok := l.Take(ratelimit.Reads, "a", one, 1)
	wantHeaders(t, ok, ratelimit.Headers{RateLimit: `"reads";r=1;t=30`, RateLimitPolicy: `"reads";q=2;w=60`})
	if ok.Problem() != nil {
		t.Errorf("Problem() = %v", ok.Problem())
	}

	c.Advance(500 * time.Millisecond)
	l.Take(ratelimit.Reads, "a", one, 1)
	refused := l.Take(ratelimit.Reads, "a", one, 1)
	wantHeaders(t, refused, ratelimit.Headers{RateLimit: `"reads";r=0;t=30`, RateLimitPolicy: `"reads";q=2;w=60`, RetryAfter: "30"})
	p := refused.Problem()
	if p.Code != problem.RateLimited || p.RetryAfter != 29500*time.Millisecond || p.Detail != "at most 2 in 1m; try again in 30 s" {
		t.Errorf("Problem() = %+v", p)
	}

	both := l.Take(ratelimit.MailboxCreate, "a", two, 1)
	wantHeaders(t, both, ratelimit.Headers{
		RateLimit:       `"mailbox_create-1m";r=29;t=2`,
		RateLimitPolicy: `"mailbox_create-1m";q=30;w=60, "mailbox_create-24h";q=31;w=86400`,
	})
}

func wantHeaders(t *testing.T, d ratelimit.Decision, want ratelimit.Headers) {
	t.Helper()
	if diff := cmp.Diff(want, d.Headers()); diff != "" {
		t.Errorf("%+v: %s", d, diff)
	}
}

func TestGaugeCountsWhatAnIdentityHolds(t *testing.T) {
	g := ratelimit.NewGauge()
	first, ok1 := g.Acquire(ratelimit.LongPolls, "a", 2)
	second, ok2 := g.Acquire(ratelimit.LongPolls, "a", 2)
	refused, ok3 := g.Acquire(ratelimit.LongPolls, "a", 2)
	if !ok1 || !ok2 || ok3 || g.Held(ratelimit.LongPolls, "a") != 2 {
		t.Fatalf("%v %v %v, %d held", ok1, ok2, ok3, g.Held(ratelimit.LongPolls, "a"))
	}
	if _, ok := g.Acquire(ratelimit.LongPolls, "b", 2); !ok {
		t.Error("identities share a count")
	}
	if _, ok := g.Acquire(ratelimit.SMTPConnections, "a", 2); !ok {
		t.Error("names share a count")
	}
	refused()
	first()
	first()
	if n := g.Held(ratelimit.LongPolls, "a"); n != 1 {
		t.Errorf("%d held after one was released, twice", n)
	}
	second()
	if _, ok := g.Acquire(ratelimit.LongPolls, "a", 0); ok || g.Held(ratelimit.LongPolls, "a") != 0 {
		t.Error("none at once are allowed, one was given")
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{"30/1m, 300/24h", "1/1us", "0/0s", "2147483647/8784h", "1/1h0m1s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ratelimit.ParseLimit(text)
		if err != nil {
			return
		}
		again, err := ratelimit.ParseLimit(l.String())
		if err != nil || !cmp.Equal(l, again) {
			t.Errorf("%q became %q: %v, %v", text, l.String(), again, err)
		}
		if d := ratelimit.New(clock.NewFake(start)).Take(ratelimit.Other, "a", l, 1); !d.OK || d.Remaining >= d.Limit {
			t.Errorf("%q: %+v", text, d)
		}
	})
}

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
			t.Errorf("ParseLimit(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{
		"", ",", "30", "30/", "/1m", "0/1m", "-1/1m", "+1/1m", "1.5/1m", "30/1m,", "30/1", "30/0s", "30/-1m", "30/1ns", "30/1500ns",
		"1/8785h", "2/1us", "1000001/1s", "99999999999/24h", "30/1m, 20/60s", "30 / 1m", "1/9999999h",
	} {
		if got, err := ratelimit.ParseLimit(bad); err == nil {
			t.Errorf("ParseLimit(%q) = %v, want an error", bad, got)
		}
	}
}

func TestLimitsAreFormattedAsTheyAreParsed(t *testing.T) {
	for _, text := range []string{"30/1m, 300/24h", "10/5m", "1/1h30m", "1/1h0m1s", "7/10s", "5/100ms", "2/20m10s"} {
		var l ratelimit.Limit
		if err := l.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("UnmarshalText(%q): %v", text, err)
		}
		if back, _ := l.MarshalText(); string(back) != text {
			t.Errorf("the limit parsed from %q is formatted as %q, want the same text", text, back)
		}
	}
	l := ratelimit.Limit{{1, time.Hour}}
	if err := l.UnmarshalText([]byte("nonsense")); err == nil || len(l) != 1 {
		t.Errorf("UnmarshalText(nonsense) = %v, and the limit is %v, want an error and the limit as it was", err, l)
	}
}

func TestDecisionsHaveHeadersAndAProblem(t *testing.T) {
	c := clock.NewFake(start)
	l, one, two := ratelimit.New(c), limit(t, "2/1m"), limit(t, "30/1m, 31/24h")

	ok := l.Take(ratelimit.Reads, "a", one, 1)
	wantHeaders(t, ok, ratelimit.Headers{RateLimit: `"reads";r=1;t=30`, RateLimitPolicy: `"reads";q=2;w=60`})
	if ok.Problem() != nil {
		t.Errorf("Problem() of a take that passed = %v, want nil", ok.Problem())
	}

	c.Advance(500 * time.Millisecond)
	l.Take(ratelimit.Reads, "a", one, 1)
	refused := l.Take(ratelimit.Reads, "a", one, 1)
	wantHeaders(t, refused, ratelimit.Headers{RateLimit: `"reads";r=0;t=30`, RateLimitPolicy: `"reads";q=2;w=60`, RetryAfter: "30"})
	p := refused.Problem()
	if p.Code != problem.RateLimited || p.RetryAfter != 29500*time.Millisecond || p.Detail != "at most 2 in 1m; try again in 30 s" {
		t.Errorf(`Problem() = %+v, want Code %v, RetryAfter %v and Detail "at most 2 in 1m; try again in 30 s"`, p, problem.RateLimited, 29500*time.Millisecond)
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
		t.Errorf("%+v: d.Headers() (-want +got):\n%s", d, diff)
	}
}

func TestGaugeCountsWhatAnIdentityHolds(t *testing.T) {
	g := ratelimit.NewGauge()
	first, ok1 := g.Acquire(ratelimit.LongPolls, "a", 2)
	second, ok2 := g.Acquire(ratelimit.LongPolls, "a", 2)
	refused, ok3 := g.Acquire(ratelimit.LongPolls, "a", 2)
	if !ok1 || !ok2 || ok3 || g.Held(ratelimit.LongPolls, "a") != 2 {
		t.Fatalf("three calls of Acquire of at most 2 = %t, %t, %t, and %d are held; want true, true, false and 2", ok1, ok2, ok3, g.Held(ratelimit.LongPolls, "a"))
	}
	if _, ok := g.Acquire(ratelimit.LongPolls, "b", 2); !ok {
		t.Error("Acquire of another identity was refused, want identities counted apart")
	}
	if _, ok := g.Acquire(ratelimit.SMTPConnections, "a", 2); !ok {
		t.Error("Acquire of another name was refused, want names counted apart")
	}
	refused()
	first()
	first()
	if n := g.Held(ratelimit.LongPolls, "a"); n != 1 {
		t.Errorf("%d held after one was released, twice, want 1", n)
	}
	second()
	if _, ok := g.Acquire(ratelimit.LongPolls, "a", 0); ok || g.Held(ratelimit.LongPolls, "a") != 0 {
		t.Errorf("Acquire of at most 0 = %t, and %d are held; want false and 0", ok, g.Held(ratelimit.LongPolls, "a"))
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
			t.Errorf("ParseLimit(%q).String() = %q, which parses as %v, %v, want the same limit", text, l.String(), again, err)
		}
		if d := ratelimit.New(clock.NewFake(start)).Take(ratelimit.Other, "a", l, 1); !d.OK || d.Remaining >= d.Limit {
			t.Errorf("Take under the limit %q = %+v, want it to pass with less than %d remaining", text, d, d.Limit)
		}
	})
}

package resolver_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/gonebox/gonebox/internal/resolver"
)

func TestAnswersAreRememberedUntilTheyExpire(t *testing.T) {
	tests := []struct {
		name   string
		answer func(*dns.Msg, dns.Question)
		lives  time.Duration
	}{
		{"positive", zone(t, `name.test. 600 IN TXT "x"`), time.Minute},
		{"negative", zone(t, `other.test. 60 IN TXT "x"`), 30 * time.Second},
		{"failure", failing(dns.RcodeServerFailure), 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, now := serve(t, tt.answer), fake()
			r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1, Clock: now})
			for _, step := range []struct {
				advance time.Duration
				asks    bool
			}{{0, true}, {tt.lives - time.Millisecond, false}, {time.Millisecond, true}} {
				now.Advance(step.advance)
				before := a.queries.Load()
				r.LookupTXT(t.Context(), "name.test")
				if asked := a.queries.Load() > before; asked != step.asks { // a failure is asked for twice
					t.Errorf("%v later: it asked: %t, want %t", step.advance, asked, step.asks)
				}
			}
		})
	}
}

func TestFreshBypassesWhatIsRemembered(t *testing.T) {
	a := serve(t, zone(t, `name.test. 600 IN TXT "old"`))
	r := ask(a)
	r.LookupTXT(t.Context(), "name.test")
	answer := zone(t, `name.test. 600 IN TXT "new"`)
	a.set(func() { a.answer = answer })
	if got, _ := r.LookupTXT(t.Context(), "name.test"); got[0] != "old" {
		t.Errorf("got %q", got)
	}
	for _, ctx := range []string{"fresh", "after"} {
		c := t.Context()
		if ctx == "fresh" {
			c = resolver.Fresh(c)
		}
		if got, _ := r.LookupTXT(c, "name.test"); got[0] != "new" {
			t.Errorf("%s: got %q", ctx, got)
		}
	}
}

func TestCallerMayChangeWhatItGets(t *testing.T) {
	a := serve(t, zone(t, `name.test. 600 IN TXT "x"`, "name.test. 600 IN MX 10 mx.test."))
	r := ask(a)
	got, _ := r.LookupTXT(t.Context(), "name.test")
	got[0] = "changed"
	mx, _ := r.LookupMX(t.Context(), "name.test")
	mx[0].Host = "changed"
	if got, _ := r.LookupTXT(t.Context(), "name.test"); got[0] != "x" {
		t.Error("the remembered TXT changed")
	}
	if mx, _ := r.LookupMX(t.Context(), "name.test"); mx[0].Host != "mx.test." {
		t.Error("the remembered MX changed")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	a := serve(t, func(m *dns.Msg, q dns.Question) {
		rr, err := dns.NewRR(fmt.Sprintf("%s 600 IN TXT %q", q.Name, strings.Repeat("x", 200)))
		if err != nil {
			panic(err)
		}
		m.Answer = append(m.Answer, rr)
	})
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1, CacheBytes: 64 << 10})
	const names = 300
	for i := range names {
		r.LookupTXT(t.Context(), fmt.Sprintf("n%d.test", i))
	}
	asked := a.queries.Load()
	r.LookupTXT(t.Context(), fmt.Sprintf("n%d.test", names-1))
	if a.queries.Load() != asked {
		t.Error("the latest answer was forgotten")
	}
	r.LookupTXT(t.Context(), "n0.test")
	if a.queries.Load() != asked+1 {
		t.Error("the oldest of more answers than fit was kept")
	}
}

func TestIdenticalQueriesAreJoined(t *testing.T) {
	const callers = 20
	release := make(chan struct{})
	full := zone(t, `name.test. 60 IN TXT "x"`)
	a := serve(t, func(m *dns.Msg, q dns.Question) {
		<-release
		full(m, q)
	})
	r := ask(a)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			if got, err := r.LookupTXT(t.Context(), "name.test"); err != nil || len(got) != 1 {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	close(release)
	wg.Wait()
	if n := a.queries.Load(); n != 1 {
		t.Errorf("%d queries for one question, want 1", n)
	}
}

func TestQueriesUnderWayAreBounded(t *testing.T) {
	release := make(chan struct{})
	asked := make(chan struct{}, 8)
	full := zone(t, `one.test. 60 IN TXT "x"`)
	a := serve(t, func(m *dns.Msg, q dns.Question) {
		asked <- struct{}{}
		<-release
		full(m, q)
	})
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, MaxInFlight: 1})
	var wg sync.WaitGroup
	wg.Go(func() { r.LookupTXT(t.Context(), "one.test") })
	<-asked
	_, err := r.LookupTXT(t.Context(), "two.test")
	want(t, err, "temporary")
	close(release)
	wg.Wait()
	if _, err := r.LookupTXT(t.Context(), "two.test"); err == nil {
		t.Error("two.test exists")
	} else {
		want(t, err, "notfound")
	}
}

// A server that takes connections over TCP and hangs up does not respond, and takes no time to do so.
func TestASilentServerIsNotAskedForAWhile(t *testing.T) {
	a, now := serve(t, zone(t, `name.test. 60 IN TXT "x"`)), fake()
	a.set(func() { a.closeTCP = true })
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1, Clock: now})
	n := 0
	lookup := func() error {
		n++
		_, err := r.LookupTXT(t.Context(), fmt.Sprintf("n%d.test", n))
		return err
	}
	for range 5 {
		want(t, lookup(), "temporary")
	}
	asked := a.queries.Load()
	for range 3 {
		err := lookup()
		want(t, err, "temporary")
		if !errors.Is(err, resolver.ErrNoServer) {
			t.Errorf("not refused by the breaker: %v", err)
		}
	}
	if a.queries.Load() != asked {
		t.Fatal("the server was asked though it does not answer")
	}

	now.Advance(5 * time.Second)
	if err := lookup(); errors.Is(err, resolver.ErrNoServer) {
		t.Error("no probe was sent")
	}
	if err := lookup(); !errors.Is(err, resolver.ErrNoServer) {
		t.Errorf("a second query was sent after a failed probe: %v", err)
	}

	a.set(func() { a.closeTCP = false })
	now.Advance(5 * time.Second)
	want(t, lookup(), "notfound")
	if _, err := r.LookupTXT(t.Context(), "name.test"); err != nil {
		t.Errorf("the breaker is open after a good probe: %v", err)
	}
}

// What the standard library says of failures is told apart by its words: this test notices if they change.
func TestAServerThatAnswersWithFailuresIsAskedOn(t *testing.T) {
	for _, rcode := range []int{dns.RcodeServerFailure, dns.RcodeRefused, dns.RcodeNameError} {
		a := serve(t, failing(rcode))
		r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1, Clock: fake()})
		for i := range 10 {
			if _, err := r.LookupTXT(t.Context(), fmt.Sprintf("n%d.test", i)); errors.Is(err, resolver.ErrNoServer) {
				t.Errorf("%s: query %d was not sent", dns.RcodeToString[rcode], i)
			}
		}
	}
}

func TestAnAttemptThatTimesOutIsRepeated(t *testing.T) {
	answer := zone(t, `name.test. 60 IN TXT "x"`)
	a := serve(t, answer)
	a.set(func() { a.silent = true })
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: 200 * time.Millisecond, Attempts: 1000, MaxInFlight: 1})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if got, err := r.LookupTXT(t.Context(), "name.test"); err != nil || len(got) != 1 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	for a.queries.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	a.set(func() { a.silent = false })
	waiting.Wait()
}

func BenchmarkRemembered(b *testing.B) {
	r := resolver.New(resolver.Config{Addr: "127.0.0.1:1"})
	for b.Loop() {
		r.LookupTXT(b.Context(), "gonebox.localhost")
	}
}

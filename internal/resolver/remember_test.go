package resolver_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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
					t.Errorf("LookupTXT(name.test) again after %v: it asked the server: %t, want %t", step.advance, asked, step.asks)
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
		t.Errorf("LookupTXT of a remembered name: got %q, want the old record", got)
	}
	for _, ctx := range []string{"fresh", "after"} {
		c := t.Context()
		if ctx == "fresh" {
			c = resolver.Fresh(c)
		}
		if got, _ := r.LookupTXT(c, "name.test"); got[0] != "new" {
			t.Errorf("LookupTXT (%s): got %q, want the new record", ctx, got)
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
		t.Errorf("LookupTXT after the caller changed its result: got %q, want x", got)
	}
	if mx, _ := r.LookupMX(t.Context(), "name.test"); mx[0].Host != "mx.test." {
		t.Errorf("LookupMX after the caller changed its result: got %q, want mx.test.", mx[0].Host)
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
	if n := a.queries.Load() - asked; n != 0 {
		t.Errorf("LookupTXT of the latest of 300 names: got %d queries, want 0, since it is remembered", n)
	}
	r.LookupTXT(t.Context(), "n0.test")
	if n := a.queries.Load() - asked; n != 1 {
		t.Errorf("LookupTXT of the oldest of 300 names: got %d queries, want 1, since it is forgotten", n)
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
				t.Errorf("LookupTXT(name.test): got %v and the error %v, want its one record", got, err)
			}
		})
	}
	close(release)
	wg.Wait()
	if n := a.queries.Load(); n != 1 {
		t.Errorf("%d callers of LookupTXT(name.test): got %d queries, want 1", callers, n)
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
		t.Error("LookupTXT(two.test): got no error, want that the name does not exist")
	} else {
		want(t, err, "notfound")
	}
}

// Names that are not answered take only the place of others of their domain.
func TestQueriesForOneDomainAreBounded(t *testing.T) {
	release := make(chan struct{})
	asked := make(chan struct{}, 8)
	full := zone(t, `one.test. 60 IN TXT "x"`)
	a := serve(t, func(m *dns.Msg, q dns.Question) {
		if strings.HasSuffix(q.Name, ".silent.test.") {
			asked <- struct{}{}
			<-release
		}
		full(m, q)
	})
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, MaxInFlight: 3, MaxOfDomain: 2})
	var wg sync.WaitGroup
	for _, name := range []string{"a.silent.test", "b+c.d.silent.test"} {
		wg.Go(func() { r.LookupTXT(t.Context(), name) })
		<-asked
	}
	_, err := r.LookupTXT(t.Context(), "e.silent.test")
	want(t, err, "temporary")
	if _, err := r.LookupTXT(t.Context(), "one.test"); err != nil {
		t.Errorf("LookupTXT(one.test) while another domain is silent: got the error %v, want none", err)
	}
	close(release)
	wg.Wait()
	_, err = r.LookupTXT(t.Context(), "e.silent.test")
	want(t, err, "notfound")
}

// A server that takes connections over TCP and hangs up does not respond, and takes no time to do so.
func TestASilentServerIsNotAskedForAWhile(t *testing.T) {
	a, now := serve(t, zone(t, `name.test. 60 IN TXT "x"`)), fake()
	a.set(func() { a.hangsUpOn = "." })
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
			t.Errorf("LookupTXT after five failures: got the error %v, want ErrNoServer", err)
		}
	}
	if n := a.queries.Load() - asked; n != 0 {
		t.Fatalf("LookupTXT after five failures: got %d queries, want 0", n)
	}

	now.Advance(5 * time.Second)
	if err := lookup(); errors.Is(err, resolver.ErrNoServer) {
		t.Errorf("LookupTXT 5 s after the failures: got the error %v, want that of a probe", err)
	}
	if err := lookup(); !errors.Is(err, resolver.ErrNoServer) {
		t.Errorf("LookupTXT after a failed probe: got the error %v, want ErrNoServer", err)
	}

	a.set(func() { a.hangsUpOn = "" })
	now.Advance(5 * time.Second)
	want(t, lookup(), "notfound")
	if _, err := r.LookupTXT(t.Context(), "name.test"); err != nil {
		t.Errorf("LookupTXT after a good probe: got the error %v, want none", err)
	}
}

// Names whose own servers are silent, as a sender can have them, leave the lookups of other names alone.
func TestSilentNamesDoNotStopOtherLookups(t *testing.T) {
	a := serve(t, zone(t, `name.test. 60 IN TXT "x"`))
	a.set(func() { a.hangsUpOn = "silent.test." }) // is no answer either, and takes no time
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1, Clock: fake()})
	for i := range 12 {
		_, err := r.LookupTXT(t.Context(), fmt.Sprintf("n%d.silent.test", i))
		want(t, err, "temporary")
		if errors.Is(err, resolver.ErrNoServer) {
			t.Errorf("LookupTXT(n%d.silent.test): got the error %v, want the query sent", i, err)
		}
	}
	if got, err := r.LookupTXT(t.Context(), "name.test"); err != nil || len(got) != 1 {
		t.Errorf("LookupTXT after names without an answer: got %q and the error %v, want its record", got, err)
	}
}

// What the standard library says of failures is told apart by its words: this test notices if they change.
func TestAServerThatAnswersWithFailuresIsAskedOn(t *testing.T) {
	for _, rcode := range []int{dns.RcodeServerFailure, dns.RcodeRefused, dns.RcodeNameError} {
		a := serve(t, failing(rcode))
		r := resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1, Clock: fake()})
		for i := range 10 {
			if _, err := r.LookupTXT(t.Context(), fmt.Sprintf("n%d.test", i)); errors.Is(err, resolver.ErrNoServer) {
				t.Errorf("LookupTXT(n%d.test) from a server that answers %s: got the error %v, want the query sent", i, dns.RcodeToString[rcode], err)
			}
		}
	}
}

func TestAnAttemptThatTimesOutIsRepeated(t *testing.T) {
	full := zone(t, `name.test. 60 IN TXT "x"`)
	var asked atomic.Int64
	a := serve(t, func(m *dns.Msg, q dns.Question) {
		if full(m, q); asked.Add(1) == 1 {
			m.Id++ // no answer to the question
		}
	})
	// The breaker allows four attempts in a row without an answer: a busy machine may miss three more.
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: 500 * time.Millisecond, Attempts: 1000, MaxInFlight: 1})
	if got, err := r.LookupTXT(t.Context(), "name.test"); err != nil || len(got) != 1 {
		t.Errorf("LookupTXT(name.test) whose first attempt times out: got %v and the error %v, want its one record", got, err)
	}
	if n := asked.Load(); n < 2 {
		t.Errorf("LookupTXT(name.test) whose first attempt times out: got %d queries, want 2 at least", n)
	}
}

func BenchmarkRemembered(b *testing.B) {
	r := resolver.New(resolver.Config{Addr: "127.0.0.1:1"})
	for b.Loop() {
		r.LookupTXT(b.Context(), "gonebox.localhost")
	}
}

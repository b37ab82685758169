package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/resolver"
)

// patient is long enough that no test ends by it: what a test waits for is made to happen.
const patient = 30 * time.Second

func ask(a *authority) *resolver.Resolver {
	return resolver.New(resolver.Config{Addr: a.addr, Timeout: patient, Attempts: 1})
}

func TestLookupTXTJoinsStringsOfARecord(t *testing.T) {
	a := serve(t, zone(t,
		`test. 60 IN TXT "v=spf1 " "-all"`,
		`test. 60 IN TXT "quote \" backslash \\ octet \200"`,
	))
	got, err := ask(a).LookupTXT(t.Context(), "TEST")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{"quote \" backslash \\ octet \xc8", "v=spf1 -all"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ask(a).LookupTXT(\"TEST\") (-want +got):\n%s", diff)
	}
}

func TestTruncatedAnswerIsAskedForOverTCP(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf(`test. 60 IN TXT "%d %s"`, i, strings.Repeat("x", 200)))
	}
	a := serve(t, zone(t, lines...))
	got, err := ask(a).LookupTXT(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 60 || a.overTCP.Load() != 1 {
		t.Errorf("LookupTXT of a truncated answer: got %d records with %d queries over TCP, want 60 with 1", len(got), a.overTCP.Load())
	}
}

func TestAliases(t *testing.T) {
	t.Run("within one answer", func(t *testing.T) {
		a := serve(t, zone(t, "www.test. 60 IN CNAME a.test.", "a.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.7"))
		got, err := ask(a).LookupNetIP(t.Context(), "ip4", "www.test")
		if err != nil || !slices.Equal(got, []netip.Addr{netip.MustParseAddr("192.0.2.7")}) {
			t.Errorf("LookupNetIP(www.test): got %v and the error %v, want 192.0.2.7", got, err)
		}
		if n := a.queries.Load(); n != 1 {
			t.Errorf("LookupNetIP(www.test): got %d queries, want 1", n)
		}
	})
	t.Run("to a name without the record", func(t *testing.T) {
		a := serve(t, zone(t, "www.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.7"))
		_, err := ask(a).LookupTXT(t.Context(), "www.test")
		want(t, err, "notfound")
	})
}

func TestMX(t *testing.T) {
	a := serve(t, zone(t,
		"test. 60 IN MX 20 b.test.", "test. 60 IN MX 10 a.test.",
		"null.test. 60 IN MX 0 .",
	))
	r := ask(a)
	got, err := r.LookupMX(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*net.MX{{Host: "a.test.", Pref: 10}, {Host: "b.test.", Pref: 20}}, got); diff != "" {
		t.Errorf("r.LookupMX(\"test\") (-want +got):\n%s", diff)
	}
	if resolver.IsNullMX(got) {
		t.Error("IsNullMX of two exchangers = true, want false")
	}
	null, err := r.LookupMX(t.Context(), "null.test")
	if err != nil || !resolver.IsNullMX(null) {
		t.Errorf("IsNullMX(%v) = false, or LookupMX failed with %v, want true", null, err)
	}
	_, err = r.LookupNetIP(t.Context(), "ip", null[0].Host)
	want(t, err, "notfound")
}

func TestAddresses(t *testing.T) {
	a := serve(t, zone(t,
		"both.test. 60 IN AAAA 2001:db8::1", "both.test. 60 IN A 192.0.2.1",
		"six.test. 60 IN AAAA 2001:db8::6",
		"1.2.0.192.in-addr.arpa. 60 IN PTR both.test.",
	))
	r := ask(a)
	for range 2 { // the second time from memory
		ips, err := r.LookupNetIP(t.Context(), "ip", "both.test.")
		if err != nil || len(ips) != 2 {
			t.Errorf("LookupNetIP(ip, both.test.): got %v and the error %v, want two addresses", ips, err)
		}
	}
	if ips, err := r.LookupNetIP(t.Context(), "ip", "six.test"); err != nil || len(ips) != 1 {
		t.Errorf("LookupNetIP(ip, six.test): got %v and the error %v, want one address", ips, err)
	}
	_, err := r.LookupNetIP(t.Context(), "ip4", "six.test")
	want(t, err, "notfound")
	if names, err := r.LookupAddr(t.Context(), "::ffff:192.0.2.1"); err != nil || !slices.Equal(names, []string{"both.test."}) {
		t.Errorf("LookupAddr(::ffff:192.0.2.1): got %v and the error %v, want both.test.", names, err)
	}
	asked := a.queries.Load()
	if ips, err := r.LookupNetIP(t.Context(), "ip", "192.0.2.9"); err != nil || len(ips) != 1 {
		t.Errorf("LookupNetIP(ip, 192.0.2.9): got %v and the error %v, want the address itself", ips, err)
	}
	_, err = r.LookupNetIP(t.Context(), "ip6", "192.0.2.9")
	want(t, err, "notfound")
	_, err = r.LookupAddr(t.Context(), "no address")
	want(t, err, "notfound")
	if n := a.queries.Load() - asked; n != 0 {
		t.Errorf("lookups of address literals: got %d queries, want 0", n)
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name   string
		answer func(*dns.Msg, dns.Question)
		want   string
	}{
		{"NXDOMAIN", zone(t, "other.test. 60 IN A 192.0.2.1"), "notfound"},
		{"NODATA", zone(t, "name.test. 60 IN A 192.0.2.1", "na+me.test. 60 IN A 192.0.2.1"), "notfound"},
		{"SERVFAIL", failing(dns.RcodeServerFailure), "temporary"},
		{"REFUSED", failing(dns.RcodeRefused), "temporary"},
		{"NOTIMP", failing(dns.RcodeNotImplemented), "temporary"},
		{"referral", func(m *dns.Msg, _ dns.Question) {
			m.RecursionAvailable = false
			rr, _ := dns.NewRR("test. 60 IN NS ns.test.")
			m.Ns = append(m.Ns, rr)
		}, "temporary"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"name.test", "na+me.test"} {
				_, err := ask(serve(t, tt.answer)).LookupTXT(t.Context(), name)
				want(t, err, tt.want)
			}
		})
	}
}

func TestAddressesOfAHostWithOneFailingFamily(t *testing.T) {
	full := zone(t, "four.test. 60 IN A 192.0.2.4")
	a := serve(t, func(m *dns.Msg, q dns.Question) {
		if q.Qtype == dns.TypeAAAA {
			m.Rcode = dns.RcodeServerFailure
			return
		}
		full(m, q)
	})
	r := ask(a)
	if ips, err := r.LookupNetIP(t.Context(), "ip", "four.test"); err != nil || len(ips) != 1 {
		t.Errorf("LookupNetIP(ip, four.test) where AAAA fails: got %v and the error %v, want its one A record", ips, err)
	}
}

func TestNamesNeverAskedFor(t *testing.T) {
	a := serve(t, failing(dns.RcodeServerFailure))
	r := ask(a)
	for _, name := range []string{
		"", ".", "localhost", "LOCALHOST.", "gonebox.localhost", "x.invalid", "a..b", ".a", `a\.b.test`,
		"é.test", strings.Repeat("x", 64) + ".test", strings.Repeat("x.", 127) + "test", "a\x00.test", "a\r\n.test",
	} {
		_, err := r.LookupTXT(t.Context(), name)
		want(t, err, "notfound")
	}
	if n := a.queries.Load(); n != 0 {
		t.Errorf("lookups of names that are never asked for: got %d queries, want 0", n)
	}
}

func TestCallerThatGivesUp(t *testing.T) {
	a := serve(t, zone(t))
	a.set(func() { a.silent = true })
	r := resolver.New(resolver.Config{Addr: a.addr, Timeout: time.Nanosecond, Attempts: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ask(a).LookupTXT(ctx, "test")
	want(t, err, "temporary")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("LookupTXT with a context that is cancelled: got the error %v, want one that wraps context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = ask(a).LookupTXT(ctx, "test")
	want(t, err, "timeout")
	_, err = r.LookupTXT(t.Context(), "test")
	want(t, err, "timeout")
}

func TestNoServer(t *testing.T) {
	r := resolver.New(resolver.Config{Addr: "127.0.0.1:1", Timeout: patient}) // a port that is never given to a program
	_, err := r.LookupTXT(t.Context(), "test")
	want(t, err, "temporary")
}

// want checks that err is a bare *net.DNSError of the given kind, as the SPF and DKIM libraries need it.
func want(t *testing.T, err error, kind string) {
	t.Helper()
	e, ok := err.(*net.DNSError)
	if !ok {
		t.Fatalf("got the error %v (%T), want a *net.DNSError that is %s", err, err, kind)
	}
	got := "temporary"
	switch {
	case e.IsNotFound && !e.IsTemporary && !e.IsTimeout:
		got = "notfound"
	case e.IsTimeout && e.IsTemporary && !e.IsNotFound:
		got = "timeout"
	case e.IsNotFound || !e.IsTemporary:
		got = "neither"
	}
	if got != kind {
		t.Errorf("lookup of %q: got the error %v, which is %s, want one that is %s", e.Name, err, got, kind)
	}
}

func fake() *clock.Fake { return clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) }

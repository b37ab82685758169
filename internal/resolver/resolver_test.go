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
		t.Error(diff)
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
		t.Errorf("%d records with %d queries over TCP, want 60 with 1", len(got), a.overTCP.Load())
	}
}

func TestAliases(t *testing.T) {
	t.Run("within one answer", func(t *testing.T) {
		a := serve(t, zone(t, "www.test. 60 IN CNAME a.test.", "a.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.7"))
		got, err := ask(a).LookupNetIP(t.Context(), "ip4", "www.test")
		if err != nil || !slices.Equal(got, []netip.Addr{netip.MustParseAddr("192.0.2.7")}) {
			t.Errorf("got %v, %v", got, err)
		}
		if n := a.queries.Load(); n != 1 {
			t.Errorf("%d queries, want 1", n)
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
		t.Error(diff)
	}
	if resolver.IsNullMX(got) {
		t.Error("two exchangers were taken for the null MX")
	}
	null, err := r.LookupMX(t.Context(), "null.test")
	if err != nil || !resolver.IsNullMX(null) {
		t.Errorf("the null MX was not recognised: %v, %v", null, err)
	}
	_, err = r.LookupIPAddr(t.Context(), null[0].Host)
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
		ips, err := r.LookupIPAddr(t.Context(), "both.test.")
		if err != nil || len(ips) != 2 {
			t.Errorf("got %v, %v", ips, err)
		}
	}
	if ips, err := r.LookupNetIP(t.Context(), "ip", "six.test"); err != nil || len(ips) != 1 {
		t.Errorf("got %v, %v", ips, err)
	}
	_, err := r.LookupNetIP(t.Context(), "ip4", "six.test")
	want(t, err, "notfound")
	if names, err := r.LookupAddr(t.Context(), "::ffff:192.0.2.1"); err != nil || !slices.Equal(names, []string{"both.test."}) {
		t.Errorf("got %v, %v", names, err)
	}
	asked := a.queries.Load()
	if ips, err := r.LookupIPAddr(t.Context(), "192.0.2.9"); err != nil || len(ips) != 1 {
		t.Errorf("got %v, %v", ips, err)
	}
	_, err = r.LookupNetIP(t.Context(), "ip6", "192.0.2.9")
	want(t, err, "notfound")
	_, err = r.LookupAddr(t.Context(), "no address")
	want(t, err, "notfound")
	if a.queries.Load() != asked {
		t.Error("an address literal was asked for")
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name   string
		answer func(*dns.Msg, dns.Question)
		want   string
	}{
		{"NXDOMAIN", zone(t, "other.test. 60 IN A 192.0.2.1"), "notfound"},
		{"NODATA", zone(t, "name.test. 60 IN A 192.0.2.1"), "notfound"},
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
			_, err := ask(serve(t, tt.answer)).LookupTXT(t.Context(), "name.test")
			want(t, err, tt.want)
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
	if ips, err := r.LookupIPAddr(t.Context(), "four.test"); err != nil || len(ips) != 1 {
		t.Errorf("got %v, %v", ips, err)
	}
}

func TestNamesNeverAskedFor(t *testing.T) {
	a := serve(t, failing(dns.RcodeServerFailure))
	r := ask(a)
	for _, name := range []string{
		"", ".", "localhost", "LOCALHOST.", "gonebox.localhost", "x.invalid", "a..b", ".a", "a b.test", `a\.b.test`,
		"é.test", strings.Repeat("x", 64) + ".test", strings.Repeat("x.", 127) + "test", "a\x00.test", "a\r\n.test",
	} {
		_, err := r.LookupTXT(t.Context(), name)
		want(t, err, "notfound")
	}
	if n := a.queries.Load(); n != 0 {
		t.Errorf("%d queries were sent", n)
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
		t.Errorf("the error hides that the caller cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = ask(a).LookupTXT(ctx, "test")
	want(t, err, "timeout")
	_, err = r.LookupTXT(t.Context(), "test")
	want(t, err, "timeout")
}

func TestNoServer(t *testing.T) {
	pc, ln := listen(t)
	pc.Close()
	ln.Close()
	r := resolver.New(resolver.Config{Addr: pc.LocalAddr().String(), Timeout: 50 * time.Millisecond})
	_, err := r.LookupTXT(t.Context(), "test")
	want(t, err, "temporary")
}

// want checks that err is a bare *net.DNSError of the given kind, as the SPF and DKIM libraries need it.
func want(t *testing.T, err error, kind string) {
	t.Helper()
	e, ok := err.(*net.DNSError)
	if !ok {
		t.Fatalf("error %v (%T), want a *net.DNSError", err, err)
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
		t.Errorf("%q is %s, want %s: %v", e.Name, got, kind, err)
	}
}

func fake() *clock.Fake { return clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) }

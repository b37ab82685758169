package resolver_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"github.com/gonebox/gonebox/internal/resolver"
)

// Names that no host can have are asked for: an SPF record may make them of the local part of a sender.
func TestNamesOfNoHost(t *testing.T) {
	for name, presentation := range map[string]string{
		"n+1._spf.test": `n+1._spf.test.`, "b-a=c._spf.test": `b-a=c._spf.test.`, "-x.test": `-x.test.`, "x-.test": `x-.test.`, "a b.test": `a\ b.test.`,
		"a/b.test.": `a/b.test.`, "a!#%&*^`{|}~.test": "a!#%&*^`{|}~.test.", "1.2.3": `1.2.3.`, "N+1.TEST": `n+1.test.`,
	} {
		rr := func(rest string) string { return presentation + " 60 IN " + rest }
		a := serve(t, zone(t, rr("A 192.0.2.1"), rr("AAAA 2001:db8::1"), rr("MX 5 mx.test."), rr(`TXT "v=spf1 " "-all"`)))
		r := ask(a)
		for network, want := range map[string][]netip.Addr{
			"ip4": {netip.MustParseAddr("192.0.2.1")}, "ip6": {netip.MustParseAddr("2001:db8::1")},
			"ip": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")},
		} {
			if got, err := r.LookupNetIP(t.Context(), network, name); err != nil || !slices.Equal(got, want) {
				t.Errorf("LookupNetIP(%q, %q) is %v, %v, want %v", network, name, got, err, want)
			}
		}
		if got, err := r.LookupTXT(t.Context(), name); err != nil || !slices.Equal(got, []string{"v=spf1 -all"}) {
			t.Errorf("LookupTXT(%q) is %q, %v, want %v", name, got, err, []string{"v=spf1 -all"})
		}
		got, err := r.LookupMX(t.Context(), name)
		if diff := cmp.Diff([]*net.MX{{Host: "mx.test.", Pref: 5}}, got); err != nil || diff != "" {
			t.Errorf("LookupMX(%q): %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestNamesOfNoHostThatNoQueryCanHave(t *testing.T) {
	a := serve(t, zone(t, "test. 60 IN A 192.0.2.1"))
	for _, name := range []string{"a+..test", ".a+.test", strings.Repeat("+", 64) + ".test", strings.Repeat("a+.", 90) + "test"} {
		_, err := ask(a).LookupTXT(t.Context(), name)
		want(t, err, "notfound")
	}
	if n := a.queries.Load(); n != 0 {
		t.Errorf("%d queries were sent, want none", n)
	}
}

func TestNameOfNoHostIsAskedForOverTCP(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf(`n+1.test. 60 IN TXT "%d %s"`, i, strings.Repeat("x", 200)))
	}
	a := serve(t, zone(t, lines...))
	got, err := ask(a).LookupTXT(t.Context(), "n+1.test")
	if err != nil || len(got) != 60 || a.overTCP.Load() != 1 {
		t.Errorf("LookupTXT is %d records with %d queries over TCP, %v, want 60 with 1", len(got), a.overTCP.Load(), err)
	}
}

func TestAliasOfANameOfNoHost(t *testing.T) {
	a := serve(t, zone(t, "n+1.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.7"))
	got, err := ask(a).LookupNetIP(t.Context(), "ip4", "n+1.test")
	if err != nil || !slices.Equal(got, []netip.Addr{netip.MustParseAddr("192.0.2.7")}) {
		t.Errorf("LookupNetIP is %v, %v, want %v", got, err, []netip.Addr{netip.MustParseAddr("192.0.2.7")})
	}
}

// A server that says nothing costs the time of the configuration, and what it says to another question is no answer.
func TestNameOfNoHostWithoutAnswer(t *testing.T) {
	quick := func(a *authority) *resolver.Resolver {
		return resolver.New(resolver.Config{Addr: a.addr, Timeout: 50 * time.Millisecond, Attempts: 1})
	}
	a := serve(t, nil)
	a.set(func() { a.silent = true })
	_, err := quick(a).LookupTXT(t.Context(), "n+1.test")
	want(t, err, "timeout")
	other := serve(t, func(m *dns.Msg, _ dns.Question) { m.Question[0].Name = "m+1.test." })
	_, err = quick(other).LookupTXT(t.Context(), "n+1.test")
	want(t, err, "timeout")
	forged := serve(t, func(m *dns.Msg, _ dns.Question) { m.Id++ })
	_, err = quick(forged).LookupTXT(t.Context(), "n+1.test")
	want(t, err, "timeout")
}

// A record that the standard library leaves out, since its host is no name, does not void the others.
func TestMXWithAMalformedHost(t *testing.T) {
	a := serve(t, zone(t, "test. 60 IN MX 10 a.test.", `test. 60 IN MX 20 b\+c.test.`))
	got, err := ask(a).LookupMX(t.Context(), "test")
	if diff := cmp.Diff([]*net.MX{{Host: "a.test.", Pref: 10}}, got); err != nil || diff != "" {
		t.Errorf("LookupMX(test): %v (-want +got):\n%s", err, diff)
	}
}

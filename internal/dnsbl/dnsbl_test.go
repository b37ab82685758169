package dnsbl_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/dnsbl"
)

func TestAddressesAreReversed(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.99":                "99.2.0.192",
		"127.0.0.2":                 "2.0.0.127",
		"2001:db8:1:2:3:4:567:89ab": "b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2", // the example of RFC 5782 §2.4
	} {
		if got := dnsbl.Reversed(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Reversed(%s) = %s, want %s", addr, got, want)
		}
	}
}

// answers is a resolver with fixed answers by name.
type answers map[string]string

func (a answers) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	text, ok := a[host]
	if !ok || network != "ip4" {
		return nil, errors.New("no such host")
	}
	var addrs []netip.Addr
	for f := range strings.FieldsSeq(text) {
		addrs = append(addrs, netip.MustParseAddr(f))
	}
	return addrs, nil
}

func TestOnlyAnswersOfListsCount(t *testing.T) {
	for answer, listed := range map[string]bool{
		"127.0.0.2": true, "127.255.254.1": true, "127.1.255.1": true, "127.255.255.254 127.0.0.4": true,
		"127.255.255.254": false, "127.255.255.1 127.255.255.252": false, "93.184.216.34": false, "": false,
	} {
		c := dnsbl.New([]dnsbl.List{{Zone: "bl.test", Resolver: answers{"9.113.0.203.bl.test.": answer}}}, time.Minute)
		zone := c.Start(t.Context(), netip.MustParseAddr("::ffff:203.0.113.9"))
		if first, again := zone(), zone(); (first == "bl.test") != listed || again != first {
			t.Errorf("the answer %q: listed by %q, asked again by %q; want a listing by bl.test: %t, both times", answer, first, again, listed)
		}
	}
}

// asked counts questions, and answers none before the context ends.
type asked struct{ atomic.Int64 }

func (a *asked) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	a.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestOnlyPublicAddressesAreLookedUp(t *testing.T) {
	var r asked
	c := dnsbl.New([]dnsbl.List{{Zone: "bl.test", Resolver: &r}}, time.Minute)
	for _, addr := range []string{"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "fd00::1", "fe80::1%eth0", "169.254.1.1", "0.0.0.0", "::ffff:10.0.0.1"} {
		if zone := c.Start(t.Context(), netip.MustParseAddr(addr))(); zone != "" || r.Load() != 0 {
			t.Errorf("Start(%s): listed by %q after %d questions, want no list asked", addr, zone, r.Load())
		}
	}
	if zone := c.Start(t.Context(), netip.Addr{})(); zone != "" || r.Load() != 0 {
		t.Errorf("Start of the zero address: listed by %q after %d questions, want no list asked", zone, r.Load())
	}
}

func TestSilentListDelaysNoneOfTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, silent := time.Now(), &asked{}
		zones := []dnsbl.List{{Zone: "silent.test", Resolver: silent}, {Zone: "bl.test", Resolver: answers{"9.113.0.203.bl.test.": "127.0.0.2"}}}
		c := dnsbl.New(zones, 2*time.Second)
		if zone := c.Start(t.Context(), netip.MustParseAddr("203.0.113.9"))(); zone != "bl.test" || time.Since(begun) != 0 {
			t.Errorf("a listed address: listed by %q after %v, want bl.test at once", zone, time.Since(begun))
		}
		if zone := c.Start(t.Context(), netip.MustParseAddr("203.0.113.10"))(); zone != "" || time.Since(begun) != 2*time.Second {
			t.Errorf("an address that is not listed: listed by %q after %v, want none after 2 s", zone, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		zone := c.Start(ctx, netip.MustParseAddr("203.0.113.11"))
		cancel()
		if zone() != "" || time.Since(begun) != 2*time.Second {
			t.Errorf("a look-up whose context ended: listed by %q after %v, want none at once", zone(), time.Since(begun)-2*time.Second)
		}
	})
}

package httpkit_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/gonebox/gonebox/internal/httpkit"
)

var proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ffff::/48")}

func from(peer string, forwarded ...string) *http.Request {
	return &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": forwarded}}
}

func TestClientAddr(t *testing.T) {
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:99", nil, "192.0.2.1"},
		{"192.0.2.1:99", []string{"6.6.6.6"}, "192.0.2.1"},
		{"10.0.0.1:99", nil, "10.0.0.1"},
		{"10.0.0.1:99", []string{"192.0.2.1"}, "192.0.2.1"},
		{"10.0.0.1:99", []string{"6.6.6.6, 192.0.2.1"}, "192.0.2.1"},
		{"10.0.0.1:99", []string{"6.6.6.6", "192.0.2.1 ,10.0.0.2"}, "192.0.2.1"},
		{"10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"10.0.0.1:99", []string{"192.0.2.1, unknown"}, "10.0.0.1"},
		{"10.0.0.1:99", []string{"192.0.2.1, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"[::ffff:10.0.0.1]:99", []string{"::ffff:192.0.2.1"}, "192.0.2.1"},
		{"[2001:db8:ffff::1%eth0]:99", []string{"2001:db8::1%eth0"}, "2001:db8::1"},
		{"10.0.0.1:99", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.0.0.1:99", []string{"192.0.2.1:4711"}, "192.0.2.1"},
		{"@", []string{"192.0.2.1"}, "0.0.0.0"},
	} {
		if got := httpkit.ClientAddrOf(from(c.peer, c.forwarded...), proxies); got.String() != c.want {
			t.Errorf("%s for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

func FuzzXForwardedFor(f *testing.F) {
	f.Add("192.0.2.1:1", "192.0.2.1")
	f.Add("10.0.0.1:1", "6.6.6.6, 192.0.2.1, 10.9.9.9")
	f.Add("10.0.0.1:1", ",,[::1]:5,%,fe80::1%x")
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		got := httpkit.ClientAddrOf(from(peer, forwarded), proxies)
		if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
			t.Fatalf("ClientAddrOf(%s, %q) = %v, want a valid address without a zone that is no mapped one", peer, forwarded, got)
		}
		if addr, err := netip.ParseAddrPort(peer); err == nil && !inside(addr.Addr().Unmap().WithZone("")) && got != addr.Addr().Unmap().WithZone("") {
			t.Errorf("ClientAddrOf(%s, %q) = %s, want the peer itself, which is not trusted", peer, forwarded, got)
		}
		// Whatever a client writes itself, what the trusted proxy adds behind it decides.
		if got := httpkit.ClientAddrOf(from("10.0.0.1:1", forwarded+", 192.0.2.77"), proxies); got.String() != "192.0.2.77" {
			t.Errorf("ClientAddrOf with 192.0.2.77 behind %q = %s, want 192.0.2.77", forwarded, got)
		}
	})
}

func inside(a netip.Addr) bool { return proxies[0].Contains(a) || proxies[1].Contains(a) }

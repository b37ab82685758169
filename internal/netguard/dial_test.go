package netguard_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/netguard"
)

// forbiddenAddresses are one or more of every network that is not public.
const forbiddenAddresses = `
	0.0.0.0 0.255.255.255 10.0.0.0 10.1.2.3 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1 127.0.0.53
	127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.17.0.1 172.31.255.255
	192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255
	192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255
	:: ::1 ::2 ::7f00:1 ::a9fe:a9fe ::808:808 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::ffff:0:7f00:1
	64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 64:ff9b:1:ffff:: 100::1 100:0:0:1::1 1fff:ffff::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
	2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 2001:db8:ffff::1 2002::1
	2002:7f00:1:: 2002:808:808::1 2620:4f:8000::1 3ffe::1 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 8000::1 fc00::1 fd00::1 fd00:ec2::254
	fd20:ce::254 fdff:ffff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 feff::1 ff00::1 ff02::1 ff0e::1 2606:4700::1%eth0 2001:db8::1%eth0
	ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`

// turns is a resolver that answers differently each time, as DNS rebinding does; the last answer stays.
type turns struct {
	mu      sync.Mutex
	answers [][]netip.Addr
}

func (r *turns) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.answers[0]
	if len(r.answers) > 1 {
		r.answers = r.answers[1:]
	}
	return answer, nil
}

// post sends to a URL through a guard that does not connect, and returns what it would have dialled.
func post(t testing.TB, g *netguard.Guard, url string) (dialled []string, err error) {
	t.Helper()
	g.OnlyTell(func(address string) { dialled = append(dialled, address) })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	answer, err := g.Client().Do(r)
	if err == nil {
		_ = answer.Body.Close()
		t.Fatalf("%s was answered, want an error", url)
	}
	return dialled, err
}

func TestForbiddenAddressesAreRefusedWhenDialled(t *testing.T) {
	for text := range strings.FieldsSeq(forbiddenAddresses) {
		bad := netip.MustParseAddr(text)
		for what, later := range map[string][]netip.Addr{"alone": {bad}, "first": {bad, public}, "last": {public, bad}} {
			g := netguard.New(netguard.Options{Resolver: &turns{answers: [][]netip.Addr{{public}, later}}})
			if err := g.CheckURL(t.Context(), "https://example.com/"); err != nil {
				t.Fatal(err)
			}
			dialled, err := post(t, g, "https://example.com/")
			if len(dialled) > 0 || refused(t, err) != netguard.RuleAddress {
				t.Errorf("%s, %s: dialled %v, %v, want nothing dialled and the rule %s", text, what, dialled, err, netguard.RuleAddress)
			}
			if err != nil && strings.Contains(err.Error(), text) && len(text) > 4 {
				t.Errorf("the error of %s is %v, want no address in it", text, err)
			}
		}
	}
}

func TestForbiddenAddressesAreRefusedAtRegistration(t *testing.T) {
	for text := range strings.FieldsSeq(forbiddenAddresses) {
		bad := netip.MustParseAddr(text)
		for _, all := range [][]netip.Addr{{bad}, {bad, public}, {public, bad}, addrs("8.8.8.8", "2606:4700::1111", text)} {
			g := netguard.New(netguard.Options{Resolver: &turns{answers: [][]netip.Addr{all}}})
			if got := refused(t, g.CheckURL(t.Context(), "https://example.com/")); got != netguard.RuleAddress {
				t.Errorf("%v: CheckURL(https://example.com/) refuses by the rule %q, want %q", all, got, netguard.RuleAddress)
			}
		}
	}
}

// The last check stands alone: whatever the others let through, it refuses the address before a packet is sent.
func TestTheDialerRefusesByItself(t *testing.T) {
	g := netguard.New(netguard.Options{})
	for text := range strings.FieldsSeq(forbiddenAddresses) {
		a := netip.MustParseAddr(text)
		network := "tcp6"
		if a.Is4() {
			network = "tcp4"
		}
		if refused(t, g.Control(network, netip.AddrPortFrom(a, 443).String())) != netguard.RuleAddress {
			t.Errorf("Control(%s, %s) is not refused for the address, want the rule %s", network, text, netguard.RuleAddress)
		}
	}
	for _, c := range []struct{ network, address string }{
		{"tcp4", "8.8.8.8:80"},
		{"tcp4", "8.8.8.8:8442"},
		{"tcp4", "8.8.8.8:0"},
		{"udp4", "8.8.8.8:443"},
		{"unix", "/run/docker.sock"},
		{"tcp4", "example.com:443"},
		{"tcp", "8.8.8.8:443"},
		{"ip4:icmp", "8.8.8.8"},
	} {
		if g.Control(c.network, c.address) == nil {
			t.Errorf("Control(%s, %s) returned no error, want it refused", c.network, c.address)
		}
	}
	for _, address := range []string{"8.8.8.8:443", "8.8.8.8:8443"} {
		if err := g.Control("tcp4", address); err != nil {
			t.Errorf("Control(tcp4, %s): %v", address, err)
		}
	}
}

// Whatever was registered once, under whatever rules, is looked at again. A few forms are harmless by then, since net/url
// has made an ordinary URL of them before the guard's client sees it.
func TestRequestsAreRefusedWithoutRegistration(t *testing.T) {
	harmless := []string{
		"https://example.com:/", "https://[2606:4700:4700::1111]:/", "https://b%C3%BCcher.example.com/",
	}
	for _, f := range forbiddenForms(t) {
		dialled, err := post(t, netguard.New(netguard.Options{Resolver: names{other: public}}), f.url)
		if err == nil || len(dialled) > 0 && !slices.Contains(harmless, f.url) && !strings.HasPrefix(f.url, "https://example.com/") &&
			!strings.HasPrefix(f.url, "https://example.com#") {
			t.Errorf("%q: dialled %v, %v, want an error and nothing dialled", f.url, dialled, err)
		}
	}
}

func TestAllowedURLs(t *testing.T) {
	for _, url := range []string{
		"https://example.com",
		"https://example.com/",
		"https://EXAMPLE.com/Hooks",
		"HTTPS://example.com/",
		"https://example.com:443/",
		"https://example.com:8443/",
		"https://example.com?x=1",
		"https://example.com/a/b?c=d&e=%20f",
		"https://example.com/%2e%2e/%00",
		"https://example.com/@user",
		"https://example.com/?u=a@b",
		"https://example.com/:80",
		"https://example.com/http://127.0.0.1/",
		"https://example.com/pfad/für/alle",
		"https://hooks.slack.com/services/T00/B00/XXXX",
		"https://a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.example.com/",
		"https://" + strings.Repeat("a", 63) + ".example.com/",
		"https://" + strings.Repeat("a.", 120) + "example.com/",
		"https://v2--site.netlify.example/",
		"https://a---b.example.com/",
		"https://1password.example.com/",
		"https://127.0.0.1.example.com/",
		"https://0x7f.example.com/",
		"https://localhost.example.com/",
		"https://internal.example.com/",
		"https://local.example.com/",
		"https://metadata.example.com/",
		"https://bücher.example.com/",
		"https://xn--bcher-kva.example.com/",
		"https://faß.example.com/",
		"https://пример.испытание/",
		"https://例え.テスト/",
		"https://مثال.إختبار/",
		"https://thư.example.vn/",
		"https://8.8.8.8/",
		"https://8.8.8.8:8443/hooks",
		"https://100.63.255.255/",
		"https://100.128.0.1/",
		"https://172.15.255.255/",
		"https://172.32.0.1/",
		"https://192.169.0.1/",
		"https://223.255.255.255/",
		"https://[2606:4700:4700::1111]/",
		"https://[2606:4700:4700::1111]:8443/",
		"https://[2001:4860:4860::8888]/",
		"https://[2001:200::1]/",
		"https://[2A00:1450::1]/",
	} {
		g := netguard.New(netguard.Options{Resolver: names{other: public}})
		if err := g.CheckURL(t.Context(), url); err != nil {
			t.Errorf("CheckURL(%s): %v", url, err)
			continue
		}
		if dialled, err := post(t, g, url); !errors.Is(err, netguard.ErrNotDialled) || len(dialled) != 1 {
			t.Errorf("POST %s dialled %v, %v, want one address and the error %v", url, dialled, err, netguard.ErrNotDialled)
		}
	}
}

func TestTheExceptionIsForExactlyItsNetworks(t *testing.T) {
	known := map[string][]netip.Addr{
		"in.example.com": addrs("10.1.2.3"), "out.example.com": addrs("10.2.0.1"), "both.example.com": addrs("10.1.2.3", "10.2.0.1"),
		"mixed.example.com": addrs("10.1.2.3", "8.8.8.8"), "mapped.example.com": addrs("::ffff:10.1.2.3"),
		"six.example.com": addrs("fd00:1::5"), "other-six.example.com": addrs("fd00:2::5"), "compatible.example.com": addrs("::10.1.2.3"),
		"hooks": addrs("10.1.2.3"), "hooks.internal": addrs("10.1.255.255"), "out.internal": addrs("10.2.0.1"), "public.internal": addrs("8.8.8.8"),
		"mixed.internal": addrs("10.1.2.3", "8.8.8.8"), "mapped-rule.example.com": addrs("192.168.7.1"), "public.example.com": addrs("8.8.8.8"),
		"unmasked.example.com": addrs("192.168.8.200"),
	}
	allow := []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32"),
		netip.MustParsePrefix("::ffff:192.168.7.0/120"), netip.MustParsePrefix("192.168.8.5/24"),
	}
	g := netguard.New(netguard.Options{Resolver: names{known: known}, Allow: allow})
	for name, rule := range map[string]netguard.Rule{
		"in.example.com": "", "10.1.2.3": "", "six.example.com": "", "[fd00:1::5]": "", "hooks": "", "hooks.internal": "", "hooks:8443": "",
		"mixed.example.com": "", "mapped-rule.example.com": "", "192.168.7.9": "", "public.example.com": "", "unmasked.example.com": "",

		"out.example.com": "address", "both.example.com": "address", "10.2.0.1": "address", "mapped.example.com": "address",
		"[::ffff:10.1.2.3]": "address", "compatible.example.com": "address", "[::10.1.2.3]": "address", "other-six.example.com": "address",
		"[fd00:2::5]": "address", "out.internal": "address", "127.0.0.1": "address", "192.168.9.1": "address",

		"public.internal": "host", "mixed.internal": "host", "10.1.515": "host", "012.1.2.3": "host",
		"unknown.internal": "lookup", "localhost": "lookup", "hooks:80": "port",
	} {
		url := "https://" + name + "/"
		if got := refused(t, g.CheckURL(t.Context(), url)); got != rule {
			t.Errorf("CheckURL(%s) refuses by the rule %q, want %q", url, got, rule)
		}
		dialled, err := post(t, g, url)
		if rule == "" && !errors.Is(err, netguard.ErrNotDialled) || rule != "" && len(dialled) > 0 {
			t.Errorf("POST %s: dialled %v, %v, want a connection only where the rule %q is empty", url, dialled, err, rule)
		}
	}
	known["in.example.com"] = addrs("10.2.0.1")
	if dialled, err := post(t, g, "https://in.example.com/"); len(dialled) > 0 || refused(t, err) != netguard.RuleAddress {
		t.Errorf("POST after the host moved out of the network: dialled %v, %v, want nothing dialled and the rule %s", dialled, err, netguard.RuleAddress)
	}
}

// Even an exception for all of IPv6 is none for IPv4 in its guise.
func TestMappedAddressesAreNeverExcepted(t *testing.T) {
	g := netguard.New(netguard.Options{
		Resolver: names{other: netip.MustParseAddr("::ffff:127.0.0.1")}, Allow: []netip.Prefix{netip.MustParsePrefix("::/0")},
	})
	for _, url := range []string{"https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::ffff:8.8.8.8]/", "https://example.com/"} {
		if got := refused(t, g.CheckURL(t.Context(), url)); got != netguard.RuleAddress {
			t.Errorf("CheckURL(%s) refuses by the rule %q, want %q", url, got, netguard.RuleAddress)
		}
		if dialled, _ := post(t, g, url); len(dialled) > 0 {
			t.Errorf("POST %s dialled %v, want no address", url, dialled)
		}
	}
}

func TestEveryAddressOfAHostIsTried(t *testing.T) {
	g := netguard.New(netguard.Options{Resolver: names{known: map[string][]netip.Addr{"example.com": addrs("8.8.8.8", "2606:4700::1111", "8.8.4.4")}}})
	dialled, err := post(t, g, "https://example.com:8443/")
	if got := strings.Join(dialled, " "); got != "8.8.8.8:8443 [2606:4700::1111]:8443 8.8.4.4:8443" || !errors.Is(err, netguard.ErrNotDialled) {
		t.Errorf(`dialled %s, %v, want "8.8.8.8:8443 [2606:4700::1111]:8443 8.8.4.4:8443" and the error %v`, got, err, netguard.ErrNotDialled)
	}
}

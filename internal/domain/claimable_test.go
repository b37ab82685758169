package domain_test

import (
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestClaimableNames(t *testing.T) {
	label := strings.Repeat("a", 60) + "."
	run(t, func(t *testing.T, f *fixture) {
		f.max = 1000
		for requested, kept := range map[string]string{
			"shop.dev": "shop.dev", "SHOP.App.": "shop.app", "deep.below.shop.dev": "deep.below.shop.dev",
			"bücher.de": "xn--bcher-kva.de", "xn--bcher-kva.ch": "xn--bcher-kva.ch", "ＷＩＤＥ.net": "wide.net", "例え。jp": "xn--r8jz45g.jp",
			"mine.github.io": "mine.github.io", "www.ck": "www.ck", "host.corp": "host.corp", "gonebox-tests.net": "gonebox-tests.net",
			"notmx.gonebox-tests.net": "notmx.gonebox-tests.net", "xbox.gonebox-tests.net": "xbox.gonebox-tests.net",
			strings.Repeat(label, 3) + strings.Repeat("b", 58) + ".de": strings.Repeat(label, 3) + strings.Repeat("b", 58) + ".de",
		} {
			p, err := f.Claim(t.Context(), alice, requested)
			if err != nil || p.Name != kept {
				t.Errorf("Claim(%s) = %v, %v, want %s", requested, p, err, kept)
			}
		}
		for _, requested := range []string{
			"192.0.2.1", "[192.0.2.1]", "2001:db8::1", "[IPv6:2001:db8::1]", "[ipv6:::1]", "::ffff:192.0.2.1", "fe80::1%eth0",
			"192.0.2.1.", "1.2.3", "host.0x7f", "host.1", "com", "de.", "localhost", "example", "corp",
			"co.uk", "github.io", "any.ck", "s3.amazonaws.com", "xn--55qx5d.cn",
			"shop.example", "example.com", "a.EXAMPLE.org", "a.test", "a.b.local", "x.invalid", "hidden.onion", "a.internal", "1.0.0.127.in-addr.arpa", "a.alt",
			"box.gonebox-tests.net", "deep.box.gonebox-tests.net", "mx.gonebox-tests.net", "a.MX.gonebox-tests.net",
			strings.Repeat(label, 3) + strings.Repeat("b", 59) + ".de",
		} {
			_, err := f.Claim(t.Context(), alice, requested)
			if !problem.Has(err, problem.DomainNotAllowed) {
				t.Errorf("%q: f.Claim(alice, requested) = %v, want the problem %v", requested, err, problem.DomainNotAllowed)
			}
		}
		for _, requested := range []string{
			"", ".", "a..b", ".shop.dev", "shop.dev..", "a b.dev", "-a.dev", "a-.dev", "_dmarc.shop.dev", "a@shop.dev", "https://shop.dev", "shop.dev/x",
			"*.shop.dev", "shop.dev:25", "xn--zzzzzz--.de", "a\x00.dev", "\xff.dev", strings.Repeat("a", 64) + ".dev", strings.Repeat(label, 5) + "de",
		} {
			if _, err := f.Claim(t.Context(), alice, requested); !problem.Has(err, problem.RequestInvalid) {
				t.Errorf("%q: f.Claim(alice, requested) = %v, want the problem %v", requested, err, problem.RequestInvalid)
			}
		}
	})
}

// A claimable name is valid in DNS, below a public suffix and not one of the service's own, and normalizing it again changes
// nothing.
func FuzzClaim(f *testing.F) {
	for _, seed := range []string{
		"shop.dev", "bücher.de", "XN--BCHER-KVA.de.", "192.0.2.1", "[IPv6:::1]", "co.uk", "a..b", "例え。jp", "a.mx.gonebox-tests.net", "ß.de", "a\u00ad.de", "0x1.0x2", "\u2024.de",
	} {
		f.Add(seed)
	}
	w := newFixture(f, dbtest.Open(f, db.Options{}))
	f.Fuzz(func(t *testing.T, requested string) {
		kept, err := domain.Claimable(w.Service, requested)
		if err != nil {
			if !problem.Has(err, problem.RequestInvalid) && !problem.Has(err, problem.DomainNotAllowed) {
				t.Errorf("Claimable(%q) = %v, want the problem %v or %v", requested, err, problem.RequestInvalid, problem.DomainNotAllowed)
			}
			return
		}
		if again, err := domain.Claimable(w.Service, kept); again != kept || err != nil {
			t.Errorf("Claimable(%q) = %q, and Claimable of that = %q, %v, want the same again", requested, kept, again, err)
		}
		if strings.Trim(kept, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || len(kept) > 244 || !strings.Contains(kept, ".") {
			t.Errorf("Claimable(%q) = %q, want at most 244 lower-case letters, digits, hyphens and dots, with a dot", requested, kept)
		}
		for l := range strings.SplitSeq(kept, ".") {
			if l == "" || len(l) > 63 {
				t.Errorf("Claimable(%q) = %q, want labels of 1 to 63 characters", requested, kept)
			}
		}
		if _, err := netip.ParseAddr(kept); err == nil {
			t.Errorf("%q is an address, want an error", kept)
		}
		if suffix, _ := publicsuffix.PublicSuffix(kept); suffix == kept {
			t.Errorf("Claimable(%q) = %q, want no public suffix", requested, kept)
		}
		if strings.HasSuffix("."+kept, "."+hostname) || strings.HasSuffix("."+kept, "."+public) {
			t.Errorf("Claimable(%q) = %q, want no name of the service itself", requested, kept)
		}
	})
}

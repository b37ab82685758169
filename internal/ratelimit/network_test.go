package ratelimit_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// subnet returns the identity of a client in the nth /64 of the site with a number.
func subnet(site, n int) string {
	return ratelimit.AddrIdentity(netip.MustParseAddr(fmt.Sprintf("2001:db8:%x:%x::7", site, n)))
}

// The 65,536 networks of a /48 have together NetworkShare times what one has.
func TestSiteIsBoundedAsAWhole(t *testing.T) {
	const each = 3
	for name, who := range map[string]string{"addresses": "", "an account at addresses": "ada@example.org "} {
		l := ratelimit.New(clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)))
		limit := ratelimit.Limit{{Count: each, Per: time.Hour}}
		passed := 0
		for n := range 100 {
			for range each + 1 {
				if d := l.Take(ratelimit.Register, who+subnet(1, n), limit, 1); d.OK {
					passed++
				} else if d.RetryAfter <= 0 || d.RetryAfter > time.Hour {
					t.Errorf("%s: Take in network %d refuses for %s, want up to an hour", name, n, d.RetryAfter)
				}
			}
		}
		if want := each * ratelimit.NetworkShare; passed != want {
			t.Errorf("%s: of 400 calls of Take from 100 networks of a site %d passed, want %d", name, passed, want)
		}
		if d := l.Take(ratelimit.Register, who+subnet(2, 1), limit, 1); !d.OK {
			t.Errorf("%s: Take of another site = %+v, want OK", name, d)
		}
		if d := l.Take(ratelimit.Register, who+"192.0.2.1", limit, each); !d.OK {
			t.Errorf("%s: Take of an IPv4 address = %+v, want OK", name, d)
		}
	}
}

// A call that the site's limit refuses takes nothing from its network's, and Return gives back to both.
func TestSiteThatRefusesTakesNothing(t *testing.T) {
	l := ratelimit.New(clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)))
	limit := ratelimit.Limit{{Count: 1, Per: time.Hour}}
	for n := range ratelimit.NetworkShare {
		l.Take(ratelimit.Register, subnet(1, n), limit, 1)
	}
	late := subnet(1, 999)
	if l.Take(ratelimit.Register, late, limit, 1).OK {
		t.Fatalf("Take of network number %d of a site passes, want it refused", ratelimit.NetworkShare+1)
	}
	l.Return(ratelimit.Register, subnet(1, 0), limit, 1)
	if !l.Take(ratelimit.Register, late, limit, 1).OK {
		t.Error("Take was refused after another network had returned what it took, want it to pass")
	}
}

func TestSiteHoldsNoMoreAsAWhole(t *testing.T) {
	const each = 2
	g := ratelimit.NewGauge()
	var releases []func()
	for n := range 100 {
		for range each + 1 {
			if release, ok := g.Acquire(ratelimit.LongPolls, subnet(1, n), each); ok {
				releases = append(releases, release)
			} else {
				release()
			}
		}
	}
	if want := each * ratelimit.NetworkShare; len(releases) != want {
		t.Errorf("100 networks of a site hold %d, want %d", len(releases), want)
	}
	if _, ok := g.Acquire(ratelimit.LongPolls, subnet(2, 0), each); !ok {
		t.Error("Acquire of another site was refused, want it granted")
	}
	for _, release := range releases {
		release()
		release()
	}
	if held := g.Held(ratelimit.LongPolls, subnet(1, 0)) + g.Held(ratelimit.LongPolls, "2001:db8:1::/48"); held != 0 {
		t.Errorf("%d are held after all were released, want none", held)
	}
}

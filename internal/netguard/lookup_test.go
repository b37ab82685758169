package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/netguard"
)

// lookups is a resolver made of a function.
type lookups func(ctx context.Context) ([]netip.Addr, error)

func (l lookups) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) { return l(ctx) }

func TestHostsWithoutAddressesAreRefused(t *testing.T) {
	for what, answer := range map[string]error{
		"no such name": &net.DNSError{Err: "no such host", IsNotFound: true},
		"SERVFAIL":     &net.DNSError{Err: "server misbehaving", IsTemporary: true},
		"no address":   nil,
		"whatever":     errors.New("broken"),
	} {
		g := netguard.New(netguard.Options{Resolver: lookups(func(context.Context) ([]netip.Addr, error) { return nil, answer })})
		if got := refused(t, g.CheckURL(t.Context(), "https://example.com/")); got != netguard.RuleLookup {
			t.Errorf("%s: CheckURL(https://example.com/) refuses by the rule %q, want %q", what, got, netguard.RuleLookup)
		}
		if dialled, err := post(t, g, "https://example.com/"); len(dialled) > 0 || refused(t, err) != netguard.RuleLookup {
			t.Errorf("%s: POST https://example.com/ dialled %v, %v, want nothing dialled and the rule %s", what, dialled, err, netguard.RuleLookup)
		}
	}
}

func silent(ctx context.Context) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestASlowLookUpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := netguard.New(netguard.Options{Resolver: lookups(silent), Timeout: 7 * time.Second})
		start := time.Now()
		if got := refused(t, g.CheckURL(t.Context(), "https://example.com/")); got != netguard.RuleLookup || time.Since(start) != 7*time.Second {
			t.Errorf("CheckURL refuses by the rule %q after %v, want %q after 7 s", got, time.Since(start), netguard.RuleLookup)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.CheckURL(ctx, "https://example.com/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's patience: %v, want the error %v", err, context.DeadlineExceeded)
		}
	})
}

func TestPrivateNamesAreNotLookedUp(t *testing.T) {
	g := netguard.New(netguard.Options{Resolver: lookups(func(context.Context) ([]netip.Addr, error) {
		t.Error("a private name was looked up, want it refused before")
		return nil, nil
	})})
	for _, url := range []string{"https://localhost/", "https://db.internal/", "https://metadata/", "https://metadata.goog/", "https://127.1/", "https://10.0.0.1/"} {
		if g.CheckURL(t.Context(), url) == nil {
			t.Errorf("CheckURL(%s) returned no error, want it refused", url)
		}
	}
}

package domain_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/problem"
)

// claimSuspended suspends a domain and claims it for another account.
func (f *fixture) claimSuspended(t *testing.T, p *domain.Private) *domain.Private {
	t.Helper()
	f.dns.setMX(p.Name)
	for range 3 {
		f.recheck(t)
	}
	if got := f.status(t, p); got != domain.Suspended {
		t.Fatalf("the domain has the status %q, want %q", got, domain.Suspended)
	}
	return f.claim(t, bob, p.Name)
}

// Each check is a letter: y found, n not found, o of another host, 0 a null MX, t timeout, s SERVFAIL.
func TestThreeConsecutiveFailedChecksSuspend(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		for checks, want := range map[string]domain.Status{
			"":            domain.Verified,
			"nn":          domain.Verified,
			"nnn":         domain.Suspended,
			"no0":         domain.Suspended,
			"nnynn":       domain.Verified,
			"nnynnn":      domain.Suspended,
			"ttttt":       domain.Verified,
			"ssssss":      domain.Verified,
			"nntn":        domain.Suspended,
			"ntstsnsttn":  domain.Suspended,
			"ntsyn":       domain.Verified,
			"nnnyyy":      domain.Suspended, // only Verify ends the suspension
			"ytnsnyotntn": domain.Suspended,
		} {
			t.Run("checks "+checks, func(t *testing.T) {
				p := f.verified(t, alice, "shop.dev")
				for _, c := range checks {
					f.dns.fail(nil)
					switch c {
					case 'y':
						f.dns.setMX("shop.dev", hostname+".")
					case 'n':
						f.dns.setMX("shop.dev")
					case 'o':
						f.dns.setMX("shop.dev", "mx.elsewhere.dev.")
					case '0':
						f.dns.setMX("shop.dev", ".")
					case 't':
						f.dns.fail(timeout)
					case 's':
						f.dns.fail(servfail)
					}
					f.recheck(t)
				}
				if got := f.status(t, p); got != want {
					t.Errorf("the domain has the status %q, want %q", got, want)
				}
				f.dns.fail(nil)
				f.prove(p)
				p, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
				if err != nil || p.Status != domain.Verified {
					t.Errorf("Verify = %+v, %v, want the status %q", p, err, domain.Verified)
				}
				wantCode(t, f.Delete(t.Context(), alice, p.ID, f.boxes), "")
			})
		}
	})
}

// The TXT record may be removed after the verification: re-checks look up only the MX record.
func TestRecheckDoesNotNeedTheTXTRecord(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "shop.dev")
		f.dns.setTXT("_gonebox.shop.dev")
		for range 5 {
			f.recheck(t)
		}
		if got := f.status(t, p); got != domain.Verified {
			t.Errorf("the domain has the status %q, want %q", got, domain.Verified)
		}
	})
}

// No domain is checked too early, none is skipped, and they are not all checked at the same time.
func TestRechecksAreTimelyAndSpread(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		const n = 100
		f.max = n
		for i := range n {
			f.verified(t, alice, fmt.Sprintf("shop-%d.dev", i))
		}
		var looked atomic.Int64
		f.dns.onLookup = func() { looked.Add(1) }
		var at []int64
		for range 13 {
			if err := f.Recheck(t.Context()); err != nil {
				t.Fatal(err)
			}
			at = append(at, looked.Load())
			f.clock.Advance(every / 12)
		}
		if at[10] != 0 || at[12] != n {
			t.Errorf("looked up by twelfths of the time: %v, want none in the first ten and all %d in the end", at, n)
		}
		if at[11] == 0 || at[11] == n {
			t.Errorf("looked up by twelfths of the time: %v, want the look-ups of the last twelfth spread", at)
		}
	})
}

// A domain that was verified or deleted during the lookup is not changed by its result.
func TestRecheckDoesNotUndoConcurrentChanges(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "shop.dev")
		gone := f.verified(t, alice, "gone.dev")
		f.dns.setMX("shop.dev")
		f.recheck(t)
		f.recheck(t)
		var once atomic.Bool
		f.dns.onLookup = func() {
			if once.CompareAndSwap(false, true) {
				f.clock.Advance(time.Minute)
				f.dns.setMX("shop.dev", hostname+".")
				_, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
				wantCode(t, err, "")
				f.dns.setMX("shop.dev")
				wantCode(t, f.Delete(t.Context(), alice, gone.ID, f.boxes), "")
			}
		}
		f.recheck(t)
		f.dns.onLookup = nil
		if f.status(t, p) != domain.Verified || f.status(t, gone) != "" {
			t.Errorf("after the re-check the domain has the status %q and the one that was deleted meanwhile %q, want %q and none", f.status(t, p), f.status(t, gone), domain.Verified)
		}
	})
}

func TestSuspendedDomainGetsNoNewMailboxes(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.claimSuspended(t, f.verified(t, alice, "shop.dev"))
		_, _, err := f.Choose(t.Context(), "shop.dev", alice)
		wantCode(t, err, problem.MailboxDomainUnavailable)
		_, _, err = f.Served(t.Context(), "shop.dev")
		wantCode(t, err, problem.MailDomainSuspended)
	})
}

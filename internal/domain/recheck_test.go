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
func (w *fixture) claimSuspended(t *testing.T, p *domain.Private) *domain.Private {
	t.Helper()
	w.dns.setMX(p.Name)
	for range 3 {
		w.recheck(t)
	}
	if got := w.status(t, p); got != domain.Suspended {
		t.Fatal(got)
	}
	return w.claim(t, bob, p.Name)
}

// Each check is a letter: y found, n not found, o of another host, 0 a null MX, t timeout, s SERVFAIL.
func TestThreeConsecutiveFailedChecksSuspend(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
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
				p := w.verified(t, alice, "shop.dev")
				for _, c := range checks {
					w.dns.fail(nil)
					switch c {
					case 'y':
						w.dns.setMX("shop.dev", hostname+".")
					case 'n':
						w.dns.setMX("shop.dev")
					case 'o':
						w.dns.setMX("shop.dev", "mx.elsewhere.dev.")
					case '0':
						w.dns.setMX("shop.dev", ".")
					case 't':
						w.dns.fail(timeout)
					case 's':
						w.dns.fail(servfail)
					}
					w.recheck(t)
				}
				if got := w.status(t, p); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				w.dns.fail(nil)
				w.prove(p)
				p, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
				if err != nil || p.Status != domain.Verified {
					t.Errorf("%+v %v", p, err)
				}
				wantCode(t, w.Delete(t.Context(), alice, p.ID, w.boxes), "")
			})
		}
	})
}

// The TXT record may be removed after the verification: re-checks look up only the MX record.
func TestRecheckDoesNotNeedTheTXTRecord(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "shop.dev")
		w.dns.setTXT("_gonebox.shop.dev")
		for range 5 {
			w.recheck(t)
		}
		if got := w.status(t, p); got != domain.Verified {
			t.Error(got)
		}
	})
}

// No domain is checked too early, none is skipped, and they are not all checked at the same time.
func TestRechecksAreTimelyAndSpread(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		const n = 100
		w.max = n
		for i := range n {
			w.verified(t, alice, fmt.Sprintf("shop-%d.dev", i))
		}
		var looked atomic.Int64
		w.dns.onLookup = func() { looked.Add(1) }
		var at []int64
		for range 13 {
			if err := w.Recheck(t.Context()); err != nil {
				t.Fatal(err)
			}
			at = append(at, looked.Load())
			w.clock.Advance(every / 12)
		}
		if at[10] != 0 || at[12] != n {
			t.Errorf("looked up by twelfths of the time: %v", at)
		}
		if at[11] == 0 || at[11] == n {
			t.Errorf("all came at the same moment: %v", at)
		}
	})
}

// A domain that was verified or deleted during the lookup is not changed by its result.
func TestRecheckDoesNotUndoConcurrentChanges(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "shop.dev")
		gone := w.verified(t, alice, "gone.dev")
		w.dns.setMX("shop.dev")
		w.recheck(t)
		w.recheck(t)
		var once atomic.Bool
		w.dns.onLookup = func() {
			if once.CompareAndSwap(false, true) {
				w.clock.Advance(time.Minute)
				w.dns.setMX("shop.dev", hostname+".")
				_, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
				wantCode(t, err, "")
				w.dns.setMX("shop.dev")
				wantCode(t, w.Delete(t.Context(), alice, gone.ID, w.boxes), "")
			}
		}
		w.recheck(t)
		w.dns.onLookup = nil
		if w.status(t, p) != domain.Verified || w.status(t, gone) != "" {
			t.Errorf("%s, %q", w.status(t, p), w.status(t, gone))
		}
	})
}

func TestSuspendedDomainGetsNoNewMailboxes(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		w.claimSuspended(t, w.verified(t, alice, "shop.dev"))
		_, _, err := w.Choose(t.Context(), "shop.dev", alice)
		wantCode(t, err, problem.MailboxDomainUnavailable)
		_, _, err = w.Served(t.Context(), "shop.dev")
		wantCode(t, err, problem.MailDomainSuspended)
	})
}

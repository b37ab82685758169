package domain_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestClaimDoesNotBlockOtherAccounts(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		first := w.claim(t, alice, "shop.dev")
		second := w.claim(t, bob, "shop.dev")
		if w.Records(first)[0].Value == w.Records(second)[0].Value {
			t.Error("two accounts have the same proof")
		}
		_, err := w.Claim(t.Context(), alice, "SHOP.dev.")
		wantCode(t, err, problem.DomainTaken)

		w.prove(second)
		_, err = w.Verify(t.Context(), alice, first.ID, w.boxes) // DNS has the proof of the other account
		wantCode(t, err, problem.DomainVerificationFailed)
		_, err = w.Verify(t.Context(), bob, second.ID, w.boxes)
		wantCode(t, err, "")

		w.prove(first)
		_, err = w.Verify(t.Context(), alice, first.ID, w.boxes)
		wantCode(t, err, problem.DomainVerificationFailed)
		if w.status(t, first) != domain.Pending || w.status(t, second) != domain.Verified {
			t.Errorf("%s, %s", w.status(t, first), w.status(t, second))
		}
		_, err = w.Claim(t.Context(), "acc_carol", "shop.dev")
		wantCode(t, err, problem.DomainTaken)
	})
}

// An account may claim the parent, a subdomain and a sibling of a domain that another account has verified.
func TestParentAndSubdomainsAreIndependent(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		w.verified(t, alice, "eu.shop.dev")
		for _, name := range []string{"shop.dev", "us.shop.dev", "a.eu.shop.dev"} {
			w.verified(t, bob, name)
		}
		for name, owner := range map[string]id.Account{"eu.shop.dev": alice, "shop.dev": bob, "a.eu.shop.dev": bob} {
			if got, _, err := w.Served(t.Context(), name); got != owner || err != nil {
				t.Errorf("%s: %s %v", name, got, err)
			}
		}
		_, _, err := w.Served(t.Context(), "other.shop.dev")
		wantCode(t, err, problem.MailDomainNotServed)
	})
}

func TestPlanLimitsPrivateDomains(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		w.max = 2
		p := w.claim(t, alice, "one.dev")
		w.claim(t, alice, "two.dev")
		w.claim(t, bob, "one.dev")
		_, err := w.Claim(t.Context(), alice, "three.dev")
		wantCode(t, err, problem.DomainLimitReached)
		_, err = w.Claim(t.Context(), alice, "one.dev")
		wantCode(t, err, problem.DomainTaken)
		wantCode(t, w.Delete(t.Context(), alice, p.ID, w.boxes), "")
		w.claim(t, alice, "three.dev")
	})
}

func TestListIsNewestFirst(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		for _, name := range []string{"one.dev", "two.dev", "three.dev"} {
			w.claim(t, alice, name)
			w.clock.Advance(1e9)
		}
		w.claim(t, bob, "one.dev")
		var names []string
		var last id.Domain
		for range 4 {
			page, err := w.List(t.Context(), alice, last, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range page {
				names, last = append(names, p.Name), p.ID
			}
		}
		if len(names) != 3 || names[0] != "three.dev" || names[2] != "one.dev" {
			t.Errorf("%v", names)
		}
	})
}

// A domain of another account gets the same error as an unknown one.
func TestDomainOfAnotherAccountIsNotFound(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "shop.dev")
		for _, d := range []id.Domain{p.ID, "dom_x", ""} {
			_, err := w.Verify(t.Context(), bob, d, w.boxes)
			wantCode(t, err, problem.DomainNotFound)
			wantCode(t, w.Delete(t.Context(), bob, d, w.boxes), problem.DomainNotFound)
			if owns, err := w.Owns(t.Context(), bob, d); owns || err != nil {
				t.Errorf("%s: %v %v", d, owns, err)
			}
		}
		if owns, err := w.Owns(t.Context(), alice, p.ID); !owns || err != nil {
			t.Errorf("%v %v", owns, err)
		}
	})
}

func TestDeleteDestroysTheMailboxesFirst(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "shop.dev")
		other := w.claim(t, bob, "other.dev")
		w.boxes.between = func(id.Domain) {
			_, _, err := w.Served(t.Context(), "shop.dev")
			wantCode(t, err, problem.MailDomainNotServed)
			_, _, err = w.Choose(t.Context(), "shop.dev", alice)
			wantCode(t, err, problem.MailboxDomainUnavailable)
			_, err = w.Claim(t.Context(), bob, "shop.dev")
			wantCode(t, err, problem.DomainTaken)
			if got := w.status(t, p); got != "" {
				t.Errorf("it is still shown as %s", got)
			}
		}
		wantCode(t, w.Delete(t.Context(), alice, p.ID, w.boxes), "")
		w.boxes.between = nil
		wantCode(t, w.Delete(t.Context(), alice, p.ID, w.boxes), problem.DomainNotFound)
		wantCode(t, w.Delete(t.Context(), bob, other.ID, w.boxes), "")
		if len(w.boxes.ended) != 1 || w.boxes.ended[p.ID] != 1 {
			t.Errorf("%v", w.boxes.ended)
		}
		w.verified(t, bob, "shop.dev")
	})
}

func TestSweepFinishesAFailedDeletion(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "shop.dev")
		w.boxes.err = errors.New("the process ends")
		if err := w.Delete(t.Context(), alice, p.ID, w.boxes); !errors.Is(err, w.boxes.err) {
			t.Fatal(err)
		}
		if err := w.Sweep(t.Context(), w.boxes); !errors.Is(err, w.boxes.err) {
			t.Fatal(err)
		}
		w.boxes.err = nil
		if err := w.Sweep(t.Context(), w.boxes); err != nil || w.boxes.ended[p.ID] != 1 {
			t.Fatal(err, w.boxes.ended)
		}
		w.verified(t, alice, "shop.dev")
		if err := w.Sweep(t.Context(), w.boxes); err != nil || len(w.boxes.ended) != 1 {
			t.Fatal(err, w.boxes.ended)
		}
	})
}

func TestChooseAcceptsOwnPrivateDomains(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		p := w.verified(t, alice, "bücher.de")
		w.claim(t, alice, "pending.dev")
		for _, requested := range []string{"bücher.de", "BÜCHER.de", "xn--bcher-kva.de."} {
			name, private, err := w.Choose(t.Context(), requested, alice)
			if name != "xn--bcher-kva.de" || private != p.ID || err != nil {
				t.Errorf("%s %s %v", name, private, err)
			}
		}
		for account, requested := range map[id.Account]string{bob: "bücher.de", "": "bücher.de", alice: "pending.dev"} {
			_, _, err := w.Choose(t.Context(), requested, account)
			wantCode(t, err, problem.MailboxDomainUnavailable)
		}
		for _, requested := range []string{"", public} {
			if name, private, err := w.Choose(t.Context(), requested, alice); name != public || private != "" || err != nil {
				t.Errorf("%s %s %v", name, private, err)
			}
		}
	})
}

// Add rejects a domain that an account has verified. It accepts a claimed one, which then cannot be verified.
func TestVerifiedDomainCannotBecomePublic(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		w.verified(t, alice, "shop.dev")
		wantCode(t, w.Add(t.Context(), "shop.dev"), problem.DomainTaken)
		p := w.claim(t, alice, "eu.late.dev")
		wantCode(t, w.Add(t.Context(), "late.dev"), "")
		w.prove(p)
		_, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
		wantCode(t, err, problem.DomainVerificationFailed)
	})
}

// Holders are cached, and changes take effect at once.
func TestHolderChangesTakeEffectAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		served := func(code problem.Code) {
			t.Helper()
			for range 2 {
				_, _, err := w.Served(context.Background(), "shop.dev")
				wantCode(t, err, code)
			}
		}
		served(problem.MailDomainNotServed)
		p := w.claim(t, alice, "shop.dev")
		served(problem.MailDomainNotServed)
		w.prove(p)
		_, err := w.Verify(t.Context(), alice, p.ID, w.boxes)
		wantCode(t, err, "")
		served("")
		w.dns.setMX("shop.dev")
		for range 3 {
			served("")
			w.recheck(t)
		}
		served(problem.MailDomainSuspended)
		wantCode(t, w.Delete(t.Context(), alice, p.ID, w.boxes), "")
		served(problem.MailDomainNotServed)
	})
}

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
	run(t, func(t *testing.T, f *fixture) {
		first := f.claim(t, alice, "shop.dev")
		second := f.claim(t, bob, "shop.dev")
		if f.Records(first)[0].Value == f.Records(second)[0].Value {
			t.Error("two accounts have the same proof, want one of each account")
		}
		_, err := f.Claim(t.Context(), alice, "SHOP.dev.")
		wantCode(t, err, problem.DomainTaken)

		f.prove(second)
		_, err = f.Verify(t.Context(), alice, first.ID, f.boxes) // DNS has the proof of the other account
		wantCode(t, err, problem.DomainVerificationFailed)
		_, err = f.Verify(t.Context(), bob, second.ID, f.boxes)
		wantCode(t, err, "")

		f.prove(first)
		_, err = f.Verify(t.Context(), alice, first.ID, f.boxes)
		wantCode(t, err, problem.DomainVerificationFailed)
		if f.status(t, first) != domain.Pending || f.status(t, second) != domain.Verified {
			t.Errorf("the claims of alice and bob have the status %s and %s, want pending and verified", f.status(t, first), f.status(t, second))
		}
		_, err = f.Claim(t.Context(), "acc_carol", "shop.dev")
		wantCode(t, err, problem.DomainTaken)
	})
}

// An account may claim the parent, a subdomain and a sibling of a domain that another account has verified.
func TestParentAndSubdomainsAreIndependent(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.verified(t, alice, "eu.shop.dev")
		for _, name := range []string{"shop.dev", "us.shop.dev", "a.eu.shop.dev"} {
			f.verified(t, bob, name)
		}
		for name, owner := range map[string]id.Account{"eu.shop.dev": alice, "shop.dev": bob, "a.eu.shop.dev": bob} {
			if got, _, err := f.Served(t.Context(), name); got != owner || err != nil {
				t.Errorf("%s: f.Served(name) = %s %v, want %v and no error", name, got, err, owner)
			}
		}
		_, _, err := f.Served(t.Context(), "other.shop.dev")
		wantCode(t, err, problem.MailDomainNotServed)
	})
}

func TestPlanLimitsPrivateDomains(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.max = 2
		p := f.claim(t, alice, "one.dev")
		f.claim(t, alice, "two.dev")
		f.claim(t, bob, "one.dev")
		_, err := f.Claim(t.Context(), alice, "three.dev")
		wantCode(t, err, problem.DomainLimitReached)
		_, err = f.Claim(t.Context(), alice, "one.dev")
		wantCode(t, err, problem.DomainTaken)
		wantCode(t, f.Delete(t.Context(), alice, p.ID, f.boxes), "")
		f.claim(t, alice, "three.dev")
	})
}

func TestListIsNewestFirst(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{"one.dev", "two.dev", "three.dev"} {
			f.claim(t, alice, name)
			f.clock.Advance(1e9)
		}
		f.claim(t, bob, "one.dev")
		var names []string
		var last id.Domain
		for range 4 {
			page, err := f.List(t.Context(), alice, last, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range page {
				names, last = append(names, p.Name), p.ID
			}
		}
		if len(names) != 3 || names[0] != "three.dev" || names[2] != "one.dev" {
			t.Errorf("the domains are %v, want 3 from three.dev to one.dev", names)
		}
	})
}

// A domain of another account gets the same error as an unknown one.
func TestDomainOfAnotherAccountIsNotFound(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "shop.dev")
		for _, d := range []id.Domain{p.ID, "dom_x", ""} {
			_, err := f.Verify(t.Context(), bob, d, f.boxes)
			wantCode(t, err, problem.DomainNotFound)
			wantCode(t, f.Delete(t.Context(), bob, d, f.boxes), problem.DomainNotFound)
			if owns, err := f.Owns(t.Context(), bob, d); owns || err != nil {
				t.Errorf("Owns(bob, %s) = %t, %v, want false", d, owns, err)
			}
		}
		if owns, err := f.Owns(t.Context(), alice, p.ID); !owns || err != nil {
			t.Errorf("Owns(alice, %s) = %t, %v, want true", p.ID, owns, err)
		}
	})
}

func TestDeleteDestroysTheMailboxesFirst(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "shop.dev")
		other := f.claim(t, bob, "other.dev")
		f.boxes.between = func(id.Domain) {
			_, _, err := f.Served(t.Context(), "shop.dev")
			wantCode(t, err, problem.MailDomainNotServed)
			_, _, err = f.Choose(t.Context(), "shop.dev", alice)
			wantCode(t, err, problem.MailboxDomainUnavailable)
			_, err = f.Claim(t.Context(), bob, "shop.dev")
			wantCode(t, err, problem.DomainTaken)
			if got := f.status(t, p); got != "" {
				t.Errorf("a domain that is being deleted has the status %q, want it not shown", got)
			}
		}
		wantCode(t, f.Delete(t.Context(), alice, p.ID, f.boxes), "")
		f.boxes.between = nil
		wantCode(t, f.Delete(t.Context(), alice, p.ID, f.boxes), problem.DomainNotFound)
		wantCode(t, f.Delete(t.Context(), bob, other.ID, f.boxes), "")
		if len(f.boxes.ended) != 1 || f.boxes.ended[p.ID] != 1 {
			t.Errorf("the mailboxes of these domains were ended: %v, want those of %s, once", f.boxes.ended, p.ID)
		}
		f.verified(t, bob, "shop.dev")
	})
}

func TestSweepFinishesAFailedDeletion(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "shop.dev")
		f.boxes.err = errors.New("the process ends")
		if err := f.Delete(t.Context(), alice, p.ID, f.boxes); !errors.Is(err, f.boxes.err) {
			t.Fatalf("Delete = %v, want the error %v", err, f.boxes.err)
		}
		if err := f.Sweep(t.Context(), f.boxes); !errors.Is(err, f.boxes.err) {
			t.Fatalf("Sweep = %v, want the error %v", err, f.boxes.err)
		}
		f.boxes.err = nil
		if err := f.Sweep(t.Context(), f.boxes); err != nil || f.boxes.ended[p.ID] != 1 {
			t.Fatalf("Sweep = %v, and the mailboxes of these domains were ended: %v, want those of %s, once", err, f.boxes.ended, p.ID)
		}
		f.verified(t, alice, "shop.dev")
		if err := f.Sweep(t.Context(), f.boxes); err != nil || len(f.boxes.ended) != 1 {
			t.Fatalf("Sweep = %v, and the mailboxes of these domains were ended: %v, want no others", err, f.boxes.ended)
		}
	})
}

func TestChooseAcceptsOwnPrivateDomains(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		p := f.verified(t, alice, "bücher.de")
		f.claim(t, alice, "pending.dev")
		for _, requested := range []string{"bücher.de", "BÜCHER.de", "xn--bcher-kva.de."} {
			name, private, err := f.Choose(t.Context(), requested, alice)
			if name != "xn--bcher-kva.de" || private != p.ID || err != nil {
				t.Errorf(`f.Choose(requested, alice) = %s %s %v, want "xn--bcher-kva.de", %v and no error`, name, private, err, p.ID)
			}
		}
		for account, requested := range map[id.Account]string{bob: "bücher.de", "": "bücher.de", alice: "pending.dev"} {
			_, _, err := f.Choose(t.Context(), requested, account)
			wantCode(t, err, problem.MailboxDomainUnavailable)
		}
		for _, requested := range []string{"", public} {
			if name, private, err := f.Choose(t.Context(), requested, alice); name != public || private != "" || err != nil {
				t.Errorf(`f.Choose(requested, alice) = %s %s %v, want %v, "" and no error`, name, private, err, public)
			}
		}
	})
}

// Add rejects a domain that an account has verified. It accepts a claimed one, which then cannot be verified.
func TestVerifiedDomainCannotBecomePublic(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.verified(t, alice, "shop.dev")
		wantCode(t, f.Add(t.Context(), "shop.dev"), problem.DomainTaken)
		p := f.claim(t, alice, "eu.late.dev")
		wantCode(t, f.Add(t.Context(), "late.dev"), "")
		f.prove(p)
		_, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
		wantCode(t, err, problem.DomainVerificationFailed)
	})
}

// Holders are cached, and changes take effect at once.
func TestHolderChangesTakeEffectAtOnce(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		served := func(code problem.Code) {
			t.Helper()
			for range 2 {
				_, _, err := f.Served(context.Background(), "shop.dev")
				wantCode(t, err, code)
			}
		}
		served(problem.MailDomainNotServed)
		p := f.claim(t, alice, "shop.dev")
		served(problem.MailDomainNotServed)
		f.prove(p)
		_, err := f.Verify(t.Context(), alice, p.ID, f.boxes)
		wantCode(t, err, "")
		served("")
		f.dns.setMX("shop.dev")
		for range 3 {
			served("")
			f.recheck(t)
		}
		served(problem.MailDomainSuspended)
		wantCode(t, f.Delete(t.Context(), alice, p.ID, f.boxes), "")
		served(problem.MailDomainNotServed)
	})
}

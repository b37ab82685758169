package domain_test

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// race is a fixture together with a model of the expected state, for accounts that claim, verify, lose and delete the same domain.
type race struct {
	*fixture
	t            *testing.T
	claims       map[id.Account]*domain.Private
	status       map[id.Account]domain.Status
	failedChecks map[id.Account]int
	mx           bool // whether DNS has the MX record
}

var racers = []id.Account{alice, bob, "acc_carol"}

const prize = "shop.dev"

func drawRacer(r *rapid.T) id.Account { return rapid.SampledFrom(racers).Draw(r, "account") }

// other returns another account whose claim has a status, if there is one.
func (r *race) other(c id.Account, status domain.Status) (id.Account, bool) {
	for _, o := range racers {
		if o != c && r.status[o] == status {
			return o, true
		}
	}
	return "", false
}

func (r *race) claimOne(rt *rapid.T, c id.Account) {
	_, taken := r.other(c, domain.Verified)
	p, err := r.Claim(r.t.Context(), c, prize)
	switch {
	case r.claims[c] != nil || taken:
		wantCode(rt, err, problem.DomainTaken)
	case err != nil:
		rt.Fatalf("Claim by %s beside unverified claims: %v, want no error", c, err)
	default:
		r.claims[c], r.status[c] = p, domain.Pending
	}
}

func (r *race) verifyOne(rt *rapid.T) {
	c := drawRacer(rt)
	p := r.claims[c]
	if p == nil {
		return
	}
	proof := rapid.Bool().Draw(rt, "proof")
	r.dns.setTXT("_gonebox."+prize, "something")
	if proof {
		r.dns.setTXT("_gonebox."+prize, r.Records(p)[0].Value)
	}
	_, err := r.Verify(r.t.Context(), c, p.ID, r.boxes)
	_, taken := r.other(c, domain.Verified)
	if !proof || !r.mx || taken {
		wantCode(rt, err, problem.DomainVerificationFailed)
		return
	}
	wantCode(rt, err, "")
	r.status[c], r.failedChecks[c] = domain.Verified, 0
	if former, ok := r.other(c, domain.Suspended); ok {
		delete(r.claims, former)
		delete(r.status, former)
	}
}

func (r *race) deleteOne(rt *rapid.T) {
	c := drawRacer(rt)
	if p := r.claims[c]; p != nil {
		wantCode(rt, r.Delete(r.t.Context(), c, p.ID, r.boxes), "")
		delete(r.claims, c)
		delete(r.status, c)
	}
}

func (r *race) moveMail(*rapid.T) {
	if r.mx = !r.mx; r.mx {
		r.dns.setMX(prize, hostname+".")
	} else {
		r.dns.setMX(prize)
	}
}

func (r *race) recheckAll(*rapid.T) {
	r.recheck(r.t)
	for c, status := range r.status {
		switch {
		case status != domain.Verified:
		case r.mx:
			r.failedChecks[c] = 0
		default:
			if r.failedChecks[c]++; r.failedChecks[c] == 3 {
				r.status[c] = domain.Suspended
			}
		}
	}
}

// check compares the stored rows and the mail path with the model.
func (r *race) check(rt *rapid.T) {
	var holder id.Account
	for _, c := range racers {
		var got domain.Status
		if p := r.claims[c]; p != nil {
			got = r.fixture.status(r.t, p)
		}
		if got != r.status[c] {
			rt.Fatalf("%s is %q, want %q", c, got, r.status[c])
		}
		if got == domain.Verified {
			if holder != "" {
				rt.Fatalf("%s and %s have both verified the domain, want one at most", holder, c)
			}
			holder = c
		}
	}
	if served, _, _ := r.Served(r.t.Context(), prize); served != holder {
		rt.Fatalf("mail goes to %q, want %q", served, holder)
	}
}

// In any order of claims, verifications, losses and deletions a domain has at most one holder, and a pending claim never
// blocks another account.
func TestDomainHasOneHolderAtATime(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		rapid.Check(t, func(rt *rapid.T) {
			r := &race{
				fixture: f, t: t, claims: make(map[id.Account]*domain.Private), status: make(map[id.Account]domain.Status),
				failedChecks: make(map[id.Account]int),
			}
			defer r.clear()
			r.moveMail(rt)
			for _, account := range racers {
				r.claimOne(rt, account)
			}
			moves := []func(*rapid.T){
				func(rt *rapid.T) { r.claimOne(rt, drawRacer(rt)) },
				r.verifyOne, r.verifyOne, r.deleteOne, r.moveMail, r.recheckAll, r.recheckAll,
			}
			for range rapid.IntRange(1, 20).Draw(rt, "moves") {
				moves[rapid.IntRange(0, len(moves)-1).Draw(rt, "move")](rt)
				r.check(rt)
			}
		})
	})
}

// clear resets the fixture.
func (r *race) clear() {
	for c, p := range r.claims {
		_ = r.Delete(r.t.Context(), c, p.ID, r.boxes)
	}
	r.dns.setMX(prize)
}

// Of concurrent verifications of a domain one succeeds, and the others fail with the reason.
func TestConcurrentVerificationsHaveOneWinner(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		const n = 16
		var claims []*domain.Private
		var proofs []string
		for i := range n {
			p := f.claim(t, id.Account(fmt.Sprint("acc_", i)), "shop.dev")
			claims, proofs = append(claims, p), append(proofs, f.Records(p)[0].Value)
		}
		f.dns.setTXT("_gonebox.shop.dev", proofs...)
		f.dns.setMX("shop.dev", hostname+".")
		var all sync.WaitGroup
		errs := make([]error, n)
		for i, p := range claims {
			all.Go(func() { _, errs[i] = f.Verify(t.Context(), p.Account, p.ID, f.boxes) })
		}
		all.Wait()
		var winners int
		for i, err := range errs {
			if err == nil {
				winners++
			} else if !problem.Has(err, problem.DomainVerificationFailed) {
				t.Errorf("Verify of a loser = %v, want the problem %v", err, problem.DomainVerificationFailed)
			}
			if verified := f.status(t, claims[i]) == domain.Verified; verified != (err == nil) {
				t.Errorf("%d: %v, verified %v, want %v", i, err, verified, err == nil)
			}
		}
		if winners != 1 {
			t.Errorf("%d have it, want 1", winners)
		}
	})
}

package account_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
)

const day = 24 * time.Hour

func (h *fixture) use(credential string) error {
	_, err := h.Authorize(h.t.Context(), credential)
	return err
}

func TestTokenExpiresThirtyDaysAfterItsLastUse(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		used, _ := h.register()
		unused, err := h.signIn(email, password, "")
		wantCode(t, "sign in", err, "")
		for range 3 {
			h.clock.Advance(29 * day)
			wantCode(t, "a use every 29 days", h.use(used), "")
		}
		wantCode(t, "never used", h.use(unused), problem.AuthInvalidToken)
		s, err := h.Authorize(t.Context(), used)
		if err != nil || !s.ExpiresAt.Equal(h.clock.Now().Add(30*day)) || s.Account.Email != email {
			t.Fatalf("%+v, %v", s, err)
		}
		h.clock.Advance(30*day - time.Microsecond)
		wantCode(t, "the last moment", h.use(used), "")
		h.clock.Advance(30 * day)
		wantCode(t, "the moment after", h.use(used), problem.AuthInvalidToken)
		if err := h.Sweep(t.Context()); err != nil || h.count("SELECT count(*) FROM user_token") != 0 {
			t.Errorf("lapsed tokens are kept: %v", err)
		}
	})
}

func TestTokenIsExtendedAtMostOnceAnHour(t *testing.T) {
	var commits atomic.Int64
	d := dbtest.Open(t, db.Options{Commit: func(commit func() error) error { commits.Add(1); return commit() }})
	h := open(t, d, cheap)
	credential, _ := h.register()
	before := commits.Load()
	for range 180 { // three hours
		h.clock.Advance(time.Minute)
		wantCode(t, "use", h.use(credential), "")
	}
	if n := commits.Load() - before; n != 3 {
		t.Errorf("180 uses in three hours wrote %d times", n)
	}
}

func TestShortLivedTokensAreExtendedToo(t *testing.T) {
	d := dbtest.Open(t, db.Options{})
	h := open(t, d, cheap)
	p := policy(cheap)
	p.TokenTTL = 10 * time.Minute
	var err error
	if h.Service, err = account.New(d, h.clock, ratelimit.New(h.clock), p, account.Secrets{}); err != nil {
		t.Fatal(err)
	}
	credential, _ := h.register()
	for range 20 {
		h.clock.Advance(8 * time.Minute)
		wantCode(t, "use", h.use(credential), "")
	}
}

func TestSigningOutEndsOneToken(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		one, _ := h.register()
		other, err := h.signIn(email, password, "")
		wantCode(t, "sign in", err, "")
		s, err := h.Authorize(t.Context(), one)
		wantCode(t, "use", err, "")
		wantCode(t, "sign out", h.End(t.Context(), s), "")
		wantCode(t, "after that", h.use(one), problem.AuthInvalidToken)
		wantCode(t, "the other", h.use(other), "")
	})
}

// Disabling deletes all tokens; a token that is left nevertheless is invalid.
func TestTokenOfADisabledAccountIsInvalid(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		credential, a := h.register()
		err := h.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE account SET disabled = 1")
			return err
		})
		wantCode(t, "disable", err, "")
		wantCode(t, "use", h.use(credential), problem.AuthInvalidToken)
		_, err = h.SetUp(t.Context(), a)
		wantCode(t, "a call that was let in just before", err, problem.AuthInvalidToken)
	})
}

func TestOnlyUserTokensAreAuthorized(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		credential, _ := h.register()
		foreign, _ := token.MintSecret(token.User)
		guest, _ := token.MintSecret(token.Guest)
		for _, none := range []string{"", "xu_", foreign, guest, credential + "x", credential[:len(credential)-1], "xg_" + credential[3:]} {
			wantCode(t, none, h.use(none), problem.AuthInvalidToken)
		}
		if n := h.count("SELECT count(*) FROM user_token WHERE length(hash) = 32"); n != 1 {
			t.Errorf("%d hashes of 32 bytes are kept", n)
		}
	})
}

func TestUnknownAccountHasNoPlan(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		_, a := h.register()
		if code, err := h.Plan(t.Context(), a.ID); code != "free" || err != nil {
			t.Errorf("%q, %v", code, err)
		}
		if code, err := h.Plan(t.Context(), "acc_none"); err == nil {
			t.Errorf("an unknown account has %q", code)
		}
	})
}

func TestRegistryFindsAndListsAccounts(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		for _, who := range []string{"a_1@example.org", "a%1@example.org", "ab1@EXAMPLE.org", `a\1@example.com`} {
			h.clock.Advance(time.Second)
			_, _, err := h.Register(t.Context(), account.Registration{Email: who, Password: password})
			wantCode(t, who, err, "")
		}
		list := func(search string, after *account.Account, limit int) (emails []string, last *account.Account) {
			if after == nil {
				after = &account.Account{}
			}
			all, err := h.registry.List(t.Context(), search, after.ID, limit)
			wantCode(t, "list", err, "")
			for _, a := range all {
				emails, last = append(emails, a.Email), a
			}
			return emails, last
		}
		for search, want := range map[string]int{"": 4, "Example.ORG": 3, "a_1": 1, "a%": 1, `\`: 1, "unknown": 0, "@": 4} {
			if got, _ := list(search, nil, 10); len(got) != want {
				t.Errorf("search %q: %q, want %d", search, got, want)
			}
		}
		first, last := list("", nil, 3)
		rest, _ := list("", last, 3)
		if len(first) != 3 || first[0] != `a\1@example.com` || len(rest) != 1 || rest[0] != "a_1@example.org" {
			t.Errorf("pages %q and %q", first, rest)
		}
		if _, err := h.registry.Find(t.Context(), "unknown@example.org"); err == nil {
			t.Error("found an unknown account")
		}
		if a, err := h.registry.Find(t.Context(), string(last.ID)); err != nil || a.Email != last.Email {
			t.Errorf("by identifier: %+v, %v", a, err)
		}
	})
}

// A call whose context is canceled while it waits for the storage or the gate returns the error of the context.
func TestCanceledCallReturnsTheContextError(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		h.register()
		ctx, cancel := context.WithCancel(t.Context())
		h.OnDerive(func(account.Cost) { cancel() })
		if _, _, err := h.SignIn(ctx, account.Credentials{Email: email, Password: password}); err == nil {
			t.Error("a canceled call succeeded")
		}
	})
}

// A client whose turn does not come gets rate.limited.
func TestHashWaitsForItsTurnForTenSeconds(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		cores, _, _ := h.Gate()
		for i := range cores {
			slot, err := h.ReserveHash(fmt.Sprint("192.0.2.", i))
			if err == nil {
				err = slot.Wait(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			defer slot.Release()
		}
		late, err := h.ReserveHash("198.51.100.1")
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		go func() { answered <- late.Wait(t.Context()) }()
		h.clock.WaitForTimers(t, 1)
		h.clock.Advance(10 * time.Second)
		wantCode(t, "a turn that did not come", <-answered, problem.RateLimited)
		late.Release()
	})
}

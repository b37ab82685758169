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

func (f *fixture) use(credential string) error {
	_, err := f.Authorize(f.t.Context(), credential)
	return err
}

func TestTokenExpiresThirtyDaysAfterItsLastUse(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		used, _ := f.register()
		unused, err := f.signIn(email, password, "")
		wantCode(t, "sign in", err, "")
		for range 3 {
			f.clock.Advance(29 * day)
			wantCode(t, "a use every 29 days", f.use(used), "")
		}
		wantCode(t, "never used", f.use(unused), problem.AuthInvalidToken)
		s, err := f.Authorize(t.Context(), used)
		if err != nil || !s.ExpiresAt.Equal(f.clock.Now().Add(30*day)) || s.Account.Email != email {
			t.Fatalf("Authorize = %+v, %v, want the session of %s, valid until %v", s, err, email, f.clock.Now().Add(30*day))
		}
		f.clock.Advance(30*day - time.Microsecond)
		wantCode(t, "the last moment", f.use(used), "")
		f.clock.Advance(30 * day)
		wantCode(t, "the moment after", f.use(used), problem.AuthInvalidToken)
		if err := f.Sweep(t.Context()); err != nil || f.count("SELECT count(*) FROM user_token") != 0 {
			t.Errorf("Sweep = %v, and %d tokens are left, want no error and 0", err, f.count("SELECT count(*) FROM user_token"))
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
		t.Errorf("180 uses in three hours wrote %d times, want 3", n)
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
	each(t, func(t *testing.T, f *fixture) {
		one, _ := f.register()
		other, err := f.signIn(email, password, "")
		wantCode(t, "sign in", err, "")
		s, err := f.Authorize(t.Context(), one)
		wantCode(t, "use", err, "")
		wantCode(t, "sign out", f.End(t.Context(), s), "")
		wantCode(t, "after that", f.use(one), problem.AuthInvalidToken)
		wantCode(t, "the other", f.use(other), "")
	})
}

// Disabling deletes all tokens; a token that is left nevertheless is invalid.
func TestTokenOfADisabledAccountIsInvalid(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		credential, a := f.register()
		err := f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE account SET disabled = 1")
			return err
		})
		wantCode(t, "disable", err, "")
		wantCode(t, "use", f.use(credential), problem.AuthInvalidToken)
		_, err = f.SetUp(t.Context(), a)
		wantCode(t, "a call that was let in just before", err, problem.AuthInvalidToken)
	})
}

func TestOnlyUserTokensAreAuthorized(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		credential, _ := f.register()
		foreign, _ := token.MintSecret(token.User)
		guest, _ := token.MintSecret(token.Guest)
		for _, none := range []string{"", "xu_", foreign, guest, credential + "x", credential[:len(credential)-1], "xg_" + credential[3:]} {
			wantCode(t, none, f.use(none), problem.AuthInvalidToken)
		}
		if n := f.count("SELECT count(*) FROM user_token WHERE length(hash) = 32"); n != 1 {
			t.Errorf("%d hashes of 32 bytes are kept, want 1", n)
		}
	})
}

func TestUnknownAccountHasNoPlan(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, a := f.register()
		if code, err := f.Plan(t.Context(), a.ID); code != "free" || err != nil {
			t.Errorf(`f.Plan(a.ID) = %q, %v, want "free" and no error`, code, err)
		}
		if code, err := f.Plan(t.Context(), "acc_none"); err == nil {
			t.Errorf("an unknown account has %q, want an error", code)
		}
	})
}

func TestRegistryFindsAndListsAccounts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, who := range []string{"a_1@example.org", "a%1@example.org", "ab1@EXAMPLE.org", `a\1@example.com`} {
			f.clock.Advance(time.Second)
			_, _, err := f.Register(t.Context(), account.Registration{Email: who, Password: password})
			wantCode(t, who, err, "")
		}
		list := func(search string, after *account.Account, limit int) (emails []string, last *account.Account) {
			if after == nil {
				after = &account.Account{}
			}
			all, err := f.registry.List(t.Context(), search, after.ID, limit)
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
			t.Errorf(`the pages are %q and %q, want three addresses from a\1@example.com on, and then a_1@example.org`, first, rest)
		}
		if _, err := f.registry.Find(t.Context(), "unknown@example.org"); err == nil {
			t.Error("Find(unknown@example.org) found an account, want an error")
		}
		if a, err := f.registry.Find(t.Context(), string(last.ID)); err != nil || a.Email != last.Email {
			t.Errorf("by identifier: %+v, %v, want Email %v", a, err, last.Email)
		}
	})
}

// A call whose context is canceled while it waits for the storage or the gate returns the error of the context.
func TestCanceledCallReturnsTheContextError(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.register()
		ctx, cancel := context.WithCancel(t.Context())
		f.OnDerive(func(account.Cost) { cancel() })
		if _, _, err := f.SignIn(ctx, account.Credentials{Email: email, Password: password}); err == nil {
			t.Error("SignIn with a canceled context returned no error, want the error of the context")
		}
	})
}

// A client whose turn does not come gets rate.limited.
func TestHashWaitsForItsTurnForTenSeconds(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		cores, _, _ := f.Gate()
		for i := range cores {
			slot, err := f.ReserveHash(fmt.Sprint("192.0.2.", i))
			if err == nil {
				err = slot.Wait(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			defer slot.Release()
		}
		late, err := f.ReserveHash("198.51.100.1")
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		go func() { answered <- late.Wait(t.Context()) }()
		f.clock.WaitForTimers(t, 1)
		f.clock.Advance(10 * time.Second)
		wantCode(t, "a turn that did not come", <-answered, problem.RateLimited)
		late.Release()
	})
}

// The link that the start prints signs in without a password and a code, also where two-factor is active, and one start's token at a
// time is valid. Other sessions stay.
func TestStartSessionReplacesThatOfTheStartBefore(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other, a := f.register()
		f.activate(a)
		first, err := f.OpenStartSession(t.Context(), a)
		wantCode(t, "OpenStartSession", err, "")
		wantCode(t, "Authorize of the first token", f.use(first), "")
		f.clock.Advance(time.Minute)
		second, err := f.OpenStartSession(t.Context(), a)
		wantCode(t, "OpenStartSession again", err, "")
		wantCode(t, "Authorize of the first token after the second start", f.use(first), problem.AuthInvalidToken)
		s, err := f.Authorize(t.Context(), second)
		wantCode(t, "Authorize of the second token", err, "")
		all, err := f.Sessions(t.Context(), s, "", 10)
		if err != nil || len(all) != 2 {
			t.Fatalf("Sessions: got %d, %v, want 2", len(all), err)
		}
		if all[0].UserAgent != "gonebox serve" || all[0].Address != "" || !all[0].Current {
			t.Errorf("Sessions: the newest is %+v, want that of gonebox serve, which is current", *all[0])
		}
		wantCode(t, "EndStartSession", f.EndStartSession(t.Context(), a.ID), "")
		wantCode(t, "Authorize of the second token after EndStartSession", f.use(second), problem.AuthInvalidToken)
		wantCode(t, "Authorize of another token after EndStartSession", f.use(other), "")
	})
}

package apikey_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wake"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// plans allows every account three keys, except disabled ones.
type plans struct{ barred map[id.Account]bool }

func (p plans) KeyLimits(_ context.Context, account id.Account) (apikey.Limits, error) {
	if p.barred[account] {
		return apikey.Limits{}, problem.New(problem.AuthInvalidToken)
	}
	return apikey.Limits{Max: 3, Tier: "free"}, nil
}

// fixture is a service with two accounts.
type fixture struct {
	*apikey.Service
	t        *testing.T
	clock    *clock.Fake
	plans    plans
	ann, ben id.Account
}

func run(t *testing.T, test func(t *testing.T, f *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := &fixture{t: t, clock: clock.NewFake(noon), plans: plans{map[id.Account]bool{}}, ann: id.New[id.Account](noon), ben: id.New[id.Account](noon)}
		f.Service = apikey.New(d, f.clock, wake.New(), f.plans)
		test(t, f)
	})
}

func (f *fixture) create(account id.Account, w apikey.Params) (*apikey.Key, string) {
	f.t.Helper()
	if w.Name == "" {
		w.Name, w.Scopes = "test", []string{"otp:read"}
	}
	k, credential, err := f.Create(f.t.Context(), account, w)
	if err != nil {
		f.t.Fatal(err)
	}
	return k, credential
}

func (f *fixture) listed(account id.Account) []*apikey.Key {
	f.t.Helper()
	keys, err := f.List(f.t.Context(), account, apikey.Mark{}, 100)
	if err != nil {
		f.t.Fatal(err)
	}
	return keys
}

func (f *fixture) wantCode(err error, code problem.Code) {
	f.t.Helper()
	if !problem.Has(err, code) {
		f.t.Errorf("the error is %v, want the problem %s", err, code)
	}
}

func TestKeyIsAuthorizedForItsAccount(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		made, credential := f.create(f.ann, apikey.Params{
			Name: "deploy", Scopes: []string{"otp:read", "mailboxes:write"}, Networks: []string{"192.0.2.0/24"}, ExpiresAt: noon.Add(time.Hour),
		})
		if !strings.HasPrefix(credential, "x_"+made.Prefix+"_") {
			t.Errorf("the credential begins with %.13q, want x_%s_", credential, made.Prefix)
		}
		k, err := f.Authorize(t.Context(), credential)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(made, k, cmpopts.IgnoreUnexported(apikey.Key{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("Authorize of the new key (-want as made, +got):\n%s", diff)
		}
	})
}

func TestInvalidKeyIsRejected(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		expiring, soon := f.create(f.ann, apikey.Params{Name: "n", Scopes: []string{"otp:read"}, ExpiresAt: noon.Add(time.Hour)})
		_, other := f.create(f.ann, apikey.Params{})
		for name, credential := range map[string]string{
			"nothing": "", "no key": "x_", "mistyped": soon[:len(soon)-1] + "-", "of another kind": "xu_" + soon[2:],
			"another's secret": "x_" + expiring.Prefix + other[strings.LastIndexByte(other, '_'):],
		} {
			if _, err := f.Authorize(t.Context(), credential); !problem.Has(err, problem.AuthInvalidToken) {
				t.Errorf("%s: f.Authorize(credential) = %v, want the problem %v", name, err, problem.AuthInvalidToken)
			}
		}
		f.clock.Advance(time.Hour - time.Microsecond)
		if _, err := f.Authorize(t.Context(), soon); err != nil {
			t.Errorf("just before it expires: %v", err)
		}
		f.clock.Advance(time.Microsecond)
		_, err := f.Authorize(t.Context(), soon)
		f.wantCode(err, problem.AuthInvalidToken)

		f.plans.barred[f.ann] = true
		_, err = f.Authorize(t.Context(), other)
		f.wantCode(err, problem.AuthInvalidToken)
	})
}

func TestRevokedKeyIsInvalidAtOnce(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		k, credential := f.create(f.ann, apikey.Params{})
		f.wantCode(f.Revoke(t.Context(), f.ben, k.Prefix), problem.KeyNotFound)
		f.wantCode(f.Revoke(t.Context(), f.ann, "0000000000"), problem.KeyNotFound)
		if _, err := f.Authorize(t.Context(), credential); err != nil {
			t.Fatalf("another's revocation: %v", err)
		}
		if err := f.Revoke(t.Context(), f.ann, k.Prefix); err != nil {
			t.Fatal(err)
		}
		_, err := f.Authorize(t.Context(), credential)
		f.wantCode(err, problem.AuthInvalidToken)
		f.wantCode(f.Revoke(t.Context(), f.ann, k.Prefix), problem.KeyNotFound)
	})
}

func TestCreateRejectsInvalidParams(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		otp := []string{"otp:read"}
		for _, w := range []apikey.Params{
			{Name: "no scope"},
			{Name: "unknown scope", Scopes: []string{"admin"}},
			{Name: "no network", Scopes: otp, Networks: []string{"everywhere"}},
			{Name: "over already", Scopes: otp, ExpiresAt: noon},
			{Name: "long over", Scopes: otp, ExpiresAt: noon.Add(-time.Hour)},
		} {
			if _, _, err := f.Create(t.Context(), f.ann, w); !problem.Has(err, problem.RequestInvalid) {
				t.Errorf("%s: f.Create(f.ann, w) = %v, want the problem %v", w.Name, err, problem.RequestInvalid)
			}
		}
		first, _ := f.create(f.ann, apikey.Params{})
		f.create(f.ann, apikey.Params{})
		f.create(f.ann, apikey.Params{})
		_, _, err := f.Create(t.Context(), f.ann, apikey.Params{Name: "n", Scopes: otp})
		f.wantCode(err, problem.KeyLimitReached)
		f.create(f.ben, apikey.Params{})
		if err := f.Revoke(t.Context(), f.ann, first.Prefix); err != nil {
			t.Fatal(err)
		}
		f.create(f.ann, apikey.Params{})
	})
}

func TestListPagesNewestFirst(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		var made []string
		for i := range 3 {
			k, _ := f.create(f.ann, apikey.Params{})
			made = append([]string{k.Prefix}, made...)
			f.clock.Advance(time.Duration(i) * time.Second)
		}
		f.create(f.ben, apikey.Params{})
		var listed []string
		for mark, more := (apikey.Mark{}), true; more; {
			keys, err := f.List(t.Context(), f.ann, mark, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				listed, mark = append(listed, k.Prefix), apikey.Mark{CreatedAt: k.CreatedAt, Prefix: k.Prefix}
			}
			more = len(keys) > 0
		}
		sortTies := cmpopts.SortSlices(func(a, b string) bool { return a < b }) // the first two were made at the same time
		if diff := cmp.Diff(made, listed, sortTies); diff != "" || listed[0] != made[0] {
			t.Errorf("listed %v, want %v", listed, made)
		}
	})
}

func TestAdmitChecksTheNetworkFirst(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		k, _ := f.create(f.ann, apikey.Params{Name: "n", Scopes: []string{"otp:read"}, Networks: []string{"192.0.2.0/24", "2001:db8::/32"}})
		for _, c := range []struct {
			from  string
			scope apikey.Scope
			code  problem.Code
		}{
			{"192.0.2.9", apikey.OTPRead, ""},
			{"::ffff:192.0.2.9", apikey.OTPRead, ""},
			{"2001:db8::9", apikey.OTPRead, ""},
			{"192.0.2.9", apikey.MessagesRead, problem.AuthScopeMissing},
			{"192.0.3.1", apikey.OTPRead, problem.AuthAddressNotAllowed},
			{"2001:db9::1", apikey.OTPRead, problem.AuthAddressNotAllowed},
			{"192.0.3.1", apikey.MessagesRead, problem.AuthAddressNotAllowed},
		} {
			err := f.Admit(k, netip.MustParseAddr(c.from), c.scope)
			if c.code == "" && err != nil || c.code != "" && !problem.Has(err, c.code) {
				t.Errorf("Admit(%s, %s) = %v, want the problem %q (none if empty)", c.from, c.scope, err, c.code)
			}
		}
	})
}

func TestFlushWritesLastUses(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		f := &fixture{Service: apikey.New(d, c, wake.New(), plans{}), t: t, clock: c, ann: id.New[id.Account](noon)}
		k, _ := f.create(f.ann, apikey.Params{})
		last := func(s *apikey.Service) time.Time {
			f.Service = s
			return f.listed(f.ann)[0].LastUsedAt
		}
		here := f.Service
		restarted := func() *apikey.Service { return apikey.New(d, c, wake.New(), plans{}) }
		use := func() {
			c.Advance(time.Minute)
			if err := here.Admit(k, netip.MustParseAddr("192.0.2.1"), apikey.OTPRead); err != nil {
				t.Fatal(err)
			}
		}
		if !last(here).IsZero() {
			t.Errorf("the key that was not used was last used at %s, want never", last(here))
		}
		use()
		if got := last(here); !got.Equal(c.Now()) {
			t.Errorf("before the flush: %s, want %v", got, c.Now())
		}
		if got := last(restarted()); !got.IsZero() {
			t.Errorf("after a restart the last use is %s, want none: the call itself writes nothing", got)
		}
		_ = here.Admit(k, netip.MustParseAddr("192.0.2.1"), apikey.MessagesRead) // refused: no use
		for range 2 {
			if err := here.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := last(restarted()); !got.Equal(c.Now()) {
				t.Errorf("after the flush: %s, want %s", got, c.Now())
			}
			use()
			if err := here.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

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

func run(t *testing.T, test func(t *testing.T, h *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		h := &fixture{t: t, clock: clock.NewFake(noon), plans: plans{map[id.Account]bool{}}, ann: id.New[id.Account](noon), ben: id.New[id.Account](noon)}
		h.Service = apikey.New(d, h.clock, wake.New(), h.plans)
		test(t, h)
	})
}

func (h *fixture) create(account id.Account, w apikey.Params) (*apikey.Key, string) {
	h.t.Helper()
	if w.Name == "" {
		w.Name, w.Scopes = "test", []string{"otp:read"}
	}
	k, credential, err := h.Create(h.t.Context(), account, w)
	if err != nil {
		h.t.Fatal(err)
	}
	return k, credential
}

func (h *fixture) listed(account id.Account) []*apikey.Key {
	h.t.Helper()
	keys, err := h.List(h.t.Context(), account, apikey.Mark{}, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return keys
}

func (h *fixture) wantCode(err error, code problem.Code) {
	h.t.Helper()
	if !problem.Has(err, code) {
		h.t.Errorf("%v, want %s", err, code)
	}
}

func TestKeyIsAuthorizedForItsAccount(t *testing.T) {
	run(t, func(t *testing.T, h *fixture) {
		made, credential := h.create(h.ann, apikey.Params{
			Name: "deploy", Scopes: []string{"otp:read", "mailboxes:write"}, Networks: []string{"192.0.2.0/24"}, ExpiresAt: noon.Add(time.Hour),
		})
		if !strings.HasPrefix(credential, "x_"+made.Prefix+"_") {
			t.Errorf("the key is not named %s", made.Prefix)
		}
		k, err := h.Authorize(t.Context(), credential)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(made, k, cmpopts.IgnoreUnexported(apikey.Key{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("stored (-made +read):\n%s", diff)
		}
	})
}

func TestInvalidKeyIsRejected(t *testing.T) {
	run(t, func(t *testing.T, h *fixture) {
		expiring, soon := h.create(h.ann, apikey.Params{Name: "n", Scopes: []string{"otp:read"}, ExpiresAt: noon.Add(time.Hour)})
		_, other := h.create(h.ann, apikey.Params{})
		for name, credential := range map[string]string{
			"nothing": "", "no key": "x_", "mistyped": soon[:len(soon)-1] + "-", "of another kind": "xu_" + soon[2:],
			"another's secret": "x_" + expiring.Prefix + other[strings.LastIndexByte(other, '_'):],
		} {
			if _, err := h.Authorize(t.Context(), credential); !problem.Has(err, problem.AuthInvalidToken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		h.clock.Advance(time.Hour - time.Microsecond)
		if _, err := h.Authorize(t.Context(), soon); err != nil {
			t.Errorf("just before it expires: %v", err)
		}
		h.clock.Advance(time.Microsecond)
		_, err := h.Authorize(t.Context(), soon)
		h.wantCode(err, problem.AuthInvalidToken)

		h.plans.barred[h.ann] = true
		_, err = h.Authorize(t.Context(), other)
		h.wantCode(err, problem.AuthInvalidToken)
	})
}

func TestRevokedKeyIsInvalidAtOnce(t *testing.T) {
	run(t, func(t *testing.T, h *fixture) {
		k, credential := h.create(h.ann, apikey.Params{})
		h.wantCode(h.Revoke(t.Context(), h.ben, k.Prefix), problem.KeyNotFound)
		h.wantCode(h.Revoke(t.Context(), h.ann, "0000000000"), problem.KeyNotFound)
		if _, err := h.Authorize(t.Context(), credential); err != nil {
			t.Fatalf("another's revocation: %v", err)
		}
		if err := h.Revoke(t.Context(), h.ann, k.Prefix); err != nil {
			t.Fatal(err)
		}
		_, err := h.Authorize(t.Context(), credential)
		h.wantCode(err, problem.AuthInvalidToken)
		h.wantCode(h.Revoke(t.Context(), h.ann, k.Prefix), problem.KeyNotFound)
	})
}

func TestCreateRejectsInvalidParams(t *testing.T) {
	run(t, func(t *testing.T, h *fixture) {
		otp := []string{"otp:read"}
		for _, w := range []apikey.Params{
			{Name: "no scope"},
			{Name: "unknown scope", Scopes: []string{"admin"}},
			{Name: "no network", Scopes: otp, Networks: []string{"everywhere"}},
			{Name: "over already", Scopes: otp, ExpiresAt: noon},
			{Name: "long over", Scopes: otp, ExpiresAt: noon.Add(-time.Hour)},
		} {
			if _, _, err := h.Create(t.Context(), h.ann, w); !problem.Has(err, problem.RequestInvalid) {
				t.Errorf("%s: %v", w.Name, err)
			}
		}
		first, _ := h.create(h.ann, apikey.Params{})
		h.create(h.ann, apikey.Params{})
		h.create(h.ann, apikey.Params{})
		_, _, err := h.Create(t.Context(), h.ann, apikey.Params{Name: "n", Scopes: otp})
		h.wantCode(err, problem.KeyLimitReached)
		h.create(h.ben, apikey.Params{})
		if err := h.Revoke(t.Context(), h.ann, first.Prefix); err != nil {
			t.Fatal(err)
		}
		h.create(h.ann, apikey.Params{})
	})
}

func TestListPagesNewestFirst(t *testing.T) {
	run(t, func(t *testing.T, h *fixture) {
		var made []string
		for i := range 3 {
			k, _ := h.create(h.ann, apikey.Params{})
			made = append([]string{k.Prefix}, made...)
			h.clock.Advance(time.Duration(i) * time.Second)
		}
		h.create(h.ben, apikey.Params{})
		var listed []string
		for mark, more := (apikey.Mark{}), true; more; {
			keys, err := h.List(t.Context(), h.ann, mark, 1)
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
	run(t, func(t *testing.T, h *fixture) {
		k, _ := h.create(h.ann, apikey.Params{Name: "n", Scopes: []string{"otp:read"}, Networks: []string{"192.0.2.0/24", "2001:db8::/32"}})
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
			err := h.Admit(k, netip.MustParseAddr(c.from), c.scope)
			if c.code == "" && err != nil || c.code != "" && !problem.Has(err, c.code) {
				t.Errorf("%s for %s: %v", c.from, c.scope, err)
			}
		}
	})
}

func TestFlushWritesLastUses(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		h := &fixture{Service: apikey.New(d, c, wake.New(), plans{}), t: t, clock: c, ann: id.New[id.Account](noon)}
		k, _ := h.create(h.ann, apikey.Params{})
		last := func(s *apikey.Service) time.Time {
			h.Service = s
			return h.listed(h.ann)[0].LastUsedAt
		}
		here := h.Service
		restarted := func() *apikey.Service { return apikey.New(d, c, wake.New(), plans{}) }
		use := func() {
			c.Advance(time.Minute)
			if err := here.Admit(k, netip.MustParseAddr("192.0.2.1"), apikey.OTPRead); err != nil {
				t.Fatal(err)
			}
		}
		if !last(here).IsZero() {
			t.Error("an unused key was used")
		}
		use()
		if got := last(here); !got.Equal(c.Now()) {
			t.Errorf("before the flush: %s", got)
		}
		if got := last(restarted()); !got.IsZero() {
			t.Errorf("it was written with the call: %s", got)
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

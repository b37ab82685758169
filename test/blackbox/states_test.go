package blackbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// Requests that the state table (docs/spec/accounts.md#two-factor-authentication) does not list leave the state of
// two-factor authentication as it is, in each of its states.
func TestTwoFactorStateIgnoresInvalidTransitions(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	confirm := func(code string) apptest.Response {
		return s.Call(http.MethodPost, "/me/2fa/confirm", u.Token, fields{"code": code})
	}
	end := func(code string) apptest.Response {
		return s.Call(http.MethodDelete, "/me/2fa", u.Token, fields{"code": code})
	}
	stays := func(status string, without int, code string) { // and signing in without a code is answered so
		t.Helper()
		want(t, end("nocode"), 422, "totp.invalid_code")
		want(t, end(""), 422, "totp.invalid_code")
		a, _ := s.signIn("ada@example.org", "wrong", "")
		want(t, a, 401, "auth.invalid_credentials")
		a, token := s.signIn("ada@example.org", userPassword, "")
		if want(t, a, without, code); token != "" {
			s.call(http.MethodDelete, "/auth/token", token, 204, "")
		}
		if got := get[account](s, "/me", u.Token).TwoFactor; got != status {
			t.Errorf("two-factor is %s, want %s", got, status)
		}
	}
	want(t, confirm("123456"), 422, "totp.not_pending")
	stays("off", 200, "")

	app := s.setUp(u.Token)
	want(t, confirm("nocode"), 422, "totp.invalid_code")
	stays("pending", 200, "")
	s.Clock.Advance(10*time.Minute - time.Second)
	stays("pending", 200, "")
	want(t, confirm(app.code(0)), 200, "")

	s.Clock.Advance(time.Hour) // until more wrong codes may be tried
	s.call(http.MethodPost, "/me/2fa/setup", u.Token, 409, "totp.already_active")
	want(t, confirm(app.code(0)), 422, "totp.not_pending")
	stays("active", 401, "auth.totp_required")
	a, _ := s.signIn("ada@example.org", userPassword, app.code(0))
	want(t, a, 200, "")
	stays("active", 401, "auth.totp_required")
	want(t, end(app.code(1)), 204, "")
	stays("off", 200, "")
}

// A filter applies as long as it is active, and a change of its status takes effect with the next mail.
func TestOnlyActiveFiltersApply(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	m := s.create(u.Token, nil)
	f := s.filter(u, fields{"extractRegex": `order (\w+)`, "status": "disabled"})
	for _, c := range []struct{ status, code string }{
		{"", "482913"}, {"active", "AB12"}, {"active", "AB12"}, {"disabled", "482913"}, {"disabled", "482913"}, {"active", "AB12"},
	} {
		if c.status != "" {
			a := s.Call(http.MethodPatch, "/me/filters/"+f.ID, u.Token, fields{"status": c.status})
			want(t, a, 200, "")
			if a.Into(t, &f); f.Status != c.status {
				t.Errorf("the status is %s, want %s", f.Status, c.status)
			}
		}
		got := s.mail(m.box(), apptest.Mail{Subject: "order AB12", Text: "Your verification code is 482913."})
		if got.OTP == nil || got.OTP.Code != c.code {
			t.Errorf("made %q, the code is %+v, want %s", c.status, got.OTP, c.code)
		}
	}
}

// A domain keeps its state where DNS has only one of the two records, or none, or does not answer.
func TestIncompleteProofDoesNotVerifyDomain(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	p := w.claim(w.ada, shop)
	stays := func(status string) {
		t.Helper()
		want(t, w.verify(w.ada, p), 422, "domain.verification_failed")
		if got := w.shown(p); got.Status != status {
			t.Errorf("the domain is %s, want %s", got.Status, status)
		}
	}
	halves := func(status string) {
		t.Helper()
		for _, drop := range []string{p.Records[0].Name, p.Records[1].Name} {
			w.prove(p)
			w.dns.drop(drop)
			stays(status)
		}
		w.dns.drop(p.Records[0].Name)
		stays(status)
	}
	halves("pending")
	w.prove(p)
	want(t, w.verify(w.ada, p), 200, "")
	halves("verified") // a failed verify is no re-check
	for _, status := range []string{"verified", "verified", "suspended"} {
		w.recheck(p)
		if got := w.shown(p); got.Status != status {
			t.Errorf("the domain is %s, want %s", got.Status, status)
		}
	}
	halves("suspended")
	w.prove(p)
	want(t, w.verify(w.ada, p), 200, "")
}

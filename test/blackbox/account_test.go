package blackbox_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// user is an account and a token for it.
type user struct {
	Token     string
	TokenType string
	ExpiresAt time.Time
	Account   account
}

type account struct {
	ID, Email, Locale, Plan, TwoFactor, Role string
	CreatedAt                                time.Time
}

const userPassword = "correct horse"

// startAccounts starts a service with cheap password hashes and high limits.
func startAccounts(t testing.TB, set settings) *service {
	t.Helper()
	own := settings{
		"account.password.memory": "64KiB", "account.password.passes": "1",
		"limits.signin": "100000/1m", "limits.signin_account": "100000/1m", "limits.signin_address": "100000/1m", "limits.register": "100000/1m",
	}
	maps.Copy(own, set)
	return start(t, own)
}

// account registers an account.
func (s *service) account(email string) (u user) {
	s.t.Helper()
	a := s.Call(http.MethodPost, "/auth/register", "", fields{"email": email, "password": userPassword})
	if a.Status != http.StatusCreated {
		s.t.Fatalf("register %s: %d %s, want Status %v", email, a.Status, a.Body, http.StatusCreated)
	}
	a.Into(s.t, &u)
	return u
}

// fields are a JSON object.
type fields map[string]any

// signIn signs in with a code ("": none) and returns the answer and its token.
func (s *service) signIn(email, password, code string) (apptest.Response, string) {
	s.t.Helper()
	body := fields{"email": email, "password": password}
	if code != "" {
		body["code"] = code
	}
	a := s.Call(http.MethodPost, "/auth/token", "", body)
	var u user
	if a.Status == http.StatusOK {
		a.Into(s.t, &u)
	}
	return a, u.Token
}

// authenticator is an authenticator app (RFC 6238) whose clock is some steps off the service's.
type authenticator struct {
	s   *service
	key []byte
}

func (a authenticator) code(steps int64) string {
	mac := hmac.New(sha1.New, a.key)
	_ = binary.Write(mac, binary.BigEndian, a.s.Clock.Now().Unix()/30+steps)
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fff_ffff%1_000_000)
}

// wrong returns a code of six digits that is not the app's, now or soon.
func (a authenticator) wrong() string {
	for n := range 10 {
		wrong := fmt.Sprintf("%06d", n)
		if !slices.Contains([]string{a.code(-2), a.code(-1), a.code(0), a.code(1), a.code(2)}, wrong) {
			return wrong
		}
	}
	panic("five codes are ten")
}

// setUp begins a two-factor enrolment.
func (s *service) setUp(token string) authenticator {
	s.t.Helper()
	a := s.call(http.MethodPost, "/me/2fa/setup", token, 200, "")
	var e struct {
		Secret, OtpauthURL string
		ExpiresAt          time.Time
	}
	a.Into(s.t, &e)
	key, err := base32.StdEncoding.DecodeString(e.Secret)
	if err != nil || len(key) != 20 || !strings.HasPrefix(e.OtpauthURL, "otpauth://totp/Gonebox:") || !strings.Contains(e.OtpauthURL, "secret="+e.Secret+"&") {
		s.t.Fatalf("POST /me/2fa/setup = %s, %v, want a secret of 20 octets and an otpauth URL of Gonebox with it", a.Body, err)
	}
	if want := s.Clock.Now().Add(10 * time.Minute); !e.ExpiresAt.Equal(want) {
		s.t.Errorf("POST /me/2fa/setup: got expiresAt %s, want %s, in 10 minutes", e.ExpiresAt, want)
	}
	return authenticator{s, key}
}

// twoFactor turns two-factor authentication on, which uses up the current code.
func (s *service) twoFactor(token string) (authenticator, []string) {
	s.t.Helper()
	app := s.setUp(token)
	a := s.Call(http.MethodPost, "/me/2fa/confirm", token, fields{"code": app.code(0)})
	want(s.t, a, 200, "")
	var done struct {
		Status        string
		RecoveryCodes []string
	}
	a.Into(s.t, &done)
	if done.Status != "active" || len(done.RecoveryCodes) != 10 || len(done.RecoveryCodes[0]) != 10 {
		s.t.Fatalf("POST /me/2fa/confirm = %s, want it active and 10 recovery codes of 10 characters", a.Body)
	}
	return app, done.RecoveryCodes
}

func TestRegisteringSignsIn(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("Ada@Example.ORG")
	identifier(t, u.Account.ID, "acc")
	now := s.Clock.Now()
	wanted := account{
		ID: u.Account.ID, Email: "ada@example.org", Locale: "en", Plan: "free", TwoFactor: "off", Role: "user", CreatedAt: now,
	}
	if u.Account != wanted || u.TokenType != "Bearer" || !u.ExpiresAt.Equal(now.AddDate(0, 0, 30)) || !strings.HasPrefix(u.Token, "xu_") {
		t.Errorf(`s.account("Ada@Example.ORG") = %+v, want Account %v, TokenType "Bearer", ExpiresAt %v and Token beginning with "xu_"`, u, wanted, now.AddDate(0, 0, 30))
	}
	if got := get[account](s, "/me", u.Token); got != wanted {
		t.Errorf("GET /me = %+v, want %+v", got, wanted)
	}
	a, token := s.signIn("ADA@example.org", userPassword, "")
	want(t, a, 200, "")
	if token == u.Token || get[account](s, "/me", token) != wanted {
		t.Errorf("signing in again: the same token: %t, GET /me: %+v, want another token and %+v", token == u.Token, get[account](s, "/me", token), wanted)
	}
	for _, taken := range []string{"ada@example.org", "ADA@EXAMPLE.ORG"} {
		want(t, s.Call(http.MethodPost, "/auth/register", "", fields{"email": taken, "password": "another horse"}), 409, "account.email_taken")
	}
	a, _ = s.signIn("ada@example.org", "another horse", "")
	want(t, a, 401, "auth.invalid_credentials")
}

func TestRegistrationIsValidated(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	for what, c := range map[string]struct {
		body    any
		pointer string
	}{
		"no body":        {nil, ""},
		"no object":      {[]byte("[]"), ""},
		"no JSON":        {[]byte("{"), ""},
		"no e-mail":      {fields{"password": userPassword}, ""},
		"no password":    {fields{"email": "a@b"}, ""},
		"null":           {fields{"email": nil, "password": userPassword}, "/email"},
		"unknown field":  {fields{"email": "a@b", "password": userPassword, "role": "staff"}, "/role"},
		"no address":     {fields{"email": "a", "password": userPassword}, "/email"},
		"two addresses":  {fields{"email": "a@b@c", "password": userPassword}, "/email"},
		"long address":   {fields{"email": strings.Repeat("a", 254) + "@b", "password": userPassword}, "/email"},
		"short password": {fields{"email": "a@b", "password": "1234567"}, "/password"},
		"long password":  {fields{"email": "a@b", "password": strings.Repeat("é", 201)}, "/password"},
		"locale":         {fields{"email": "a@b", "password": userPassword, "locale": "tlh_"}, "/locale"},
		"empty locale":   {fields{"email": "a@b", "password": userPassword, "locale": ""}, "/locale"},
		"long locale":    {fields{"email": "a@b", "password": userPassword, "locale": "en-US-x-abc"}, "/locale"},
	} {
		a := s.Call(http.MethodPost, "/auth/register", "", c.body)
		want(t, a, 422, "request.invalid")
		if p := problemOf(t, a); c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %s, want one error, at %s", what, a.Body, c.pointer)
		}
		if strings.Contains(string(a.Body), "horse") {
			t.Errorf("%s: the response is %s, want no password in it", what, a.Body)
		}
	}
	a := s.Call(http.MethodPost, "/auth/register", "", fields{"email": "a@b", "password": strings.Repeat("é", 200), "locale": "VI-vn"})
	want(t, a, 201, "")
	var u user
	a.Into(t, &u)
	if u.Account.Locale != "vi-VN" {
		t.Errorf("POST /auth/register = %+v, want the locale vi-VN", u)
	}
}

func TestFailedSignInsAnswerAlike(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	s.account("plain@example.org")
	u := s.account("two@example.org")
	app, _ := s.twoFactor(u.Token)
	bodies := make(map[string]bool)
	for what, c := range map[string]fields{
		"unknown":                     {"email": "unknown@example.org", "password": userPassword},
		"no address at all":           {"email": "", "password": userPassword},
		"wrong password":              {"email": "plain@example.org", "password": "wrong"},
		"empty password":              {"email": "plain@example.org", "password": ""},
		"wrong password, two-factor":  {"email": "two@example.org", "password": "wrong"},
		"wrong password, right code":  {"email": "two@example.org", "password": "wrong", "code": app.code(1)},
		"right password, wrong code":  {"email": "two@example.org", "password": userPassword, "code": "nocode"},
		"right password, spent code":  {"email": "two@example.org", "password": userPassword, "code": app.code(0)},
		"unknown address with a code": {"email": "unknown@example.org", "password": userPassword, "code": "123456"},
	} {
		a := s.Call(http.MethodPost, "/auth/token", "", c)
		want(t, a, 401, "auth.invalid_credentials")
		p := problemOf(t, a)
		bodies[strings.ReplaceAll(string(a.Body), p.TraceID, "")] = true
		if len(bodies) != 1 {
			t.Fatalf("%s: the responses but for their traces are %v, want the same each time", what, bodies)
		}
	}
	a, _ := s.signIn("two@example.org", userPassword, "")
	want(t, a, 401, "auth.totp_required")
	a, _ = s.signIn("two@example.org", userPassword, app.code(1))
	want(t, a, 200, "")
	a, _ = s.signIn("plain@example.org", userPassword, "123456") // a code, although two-factor is off
	want(t, a, 200, "")
	want(t, s.Call(http.MethodPost, "/auth/token", "", fields{"email": "a@b", "password": strings.Repeat("x", 201)}), 422, "request.invalid")
	want(t, s.Call(http.MethodPost, "/auth/token", "", fields{"email": "a@b", "password": "x", "code": strings.Repeat("1", 17)}), 422, "request.invalid")
}

func TestLocaleCanBeChanged(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	change := func(body any, status int, code, locale string) {
		t.Helper()
		want(t, s.Call(http.MethodPatch, "/me", u.Token, body), status, code)
		if got := get[account](s, "/me", u.Token).Locale; got != locale {
			t.Errorf("%v: the locale is %q, want %v", body, got, locale)
		}
	}
	change(fields{"locale": "pt-br"}, 200, "", "pt-BR")
	change(fields{}, 200, "", "pt-BR")
	change(fields{"locale": "xx"}, 422, "request.invalid", "pt-BR")
	change(fields{"locale": "en-GB-oxendict"}, 422, "request.invalid", "pt-BR")
	change(fields{"plan": "pro"}, 422, "request.invalid", "pt-BR")
	change(fields{"locale": "vi", "role": "staff"}, 422, "request.invalid", "pt-BR")
	change(nil, 422, "request.invalid", "pt-BR")
}

func TestUserTokenExpiresThirtyDaysAfterLastUse(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	_, unused := s.signIn("ada@example.org", userPassword, "")
	for range 3 {
		s.Clock.Advance(29 * 24 * time.Hour)
		s.call(http.MethodGet, "/me", u.Token, 200, "")
	}
	s.call(http.MethodGet, "/me", unused, 401, "auth.invalid_token")
	s.Clock.Advance(30 * 24 * time.Hour)
	s.call(http.MethodGet, "/me", u.Token, 401, "auth.invalid_token")
}

func TestSigningOutEndsOnlyThePresentedToken(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	_, other := s.signIn("ada@example.org", userPassword, "")
	s.call(http.MethodDelete, "/auth/token", u.Token, 204, "")
	s.call(http.MethodDelete, "/auth/token", u.Token, 401, "auth.invalid_token")
	s.call(http.MethodGet, "/me", u.Token, 401, "auth.invalid_token")
	s.call(http.MethodGet, "/me", other, 200, "")
}

func TestTwoFactorStates(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	type state struct {
		Status            string
		PendingExpiresAt  *time.Time
		RecoveryCodesLeft int
	}
	is := func(status string, left int) {
		t.Helper()
		got := get[state](s, "/me/2fa", u.Token)
		if got.Status != status || got.RecoveryCodesLeft != left || (got.PendingExpiresAt != nil) != (status == "pending") {
			t.Errorf("GET /me/2fa = %+v, want %s and %d recovery codes left", got, status, left)
		}
		if a := get[account](s, "/me", u.Token); a.TwoFactor != status {
			t.Errorf("GET /me says %s, want %s", a.TwoFactor, status)
		}
	}
	confirm := func(code string) apptest.Response {
		return s.Call(http.MethodPost, "/me/2fa/confirm", u.Token, fields{"code": code})
	}
	end := func(code string) apptest.Response {
		return s.Call(http.MethodDelete, "/me/2fa", u.Token, fields{"code": code})
	}
	is("off", 0)
	want(t, confirm("123456"), 422, "totp.not_pending")
	want(t, end("123456"), 422, "totp.invalid_code")

	replaced := s.setUp(u.Token)
	app := s.setUp(u.Token)
	is("pending", 0)
	want(t, confirm(replaced.code(0)), 422, "totp.invalid_code")
	want(t, end(app.code(0)), 422, "totp.invalid_code")
	a, _ := s.signIn("ada@example.org", userPassword, "")
	want(t, a, 200, "")
	s.Clock.Advance(10 * time.Minute)
	is("off", 0)
	want(t, confirm(app.code(0)), 422, "totp.not_pending")

	app, codes := s.twoFactor(u.Token)
	is("active", 10)
	s.call(http.MethodPost, "/me/2fa/setup", u.Token, 409, "totp.already_active")
	want(t, confirm(app.code(1)), 422, "totp.not_pending")
	a, _ = s.signIn("ada@example.org", userPassword, strings.ToUpper(codes[0][:4]+" - "+codes[0][4:]))
	want(t, a, 200, "")
	is("active", 9)
	a, _ = s.signIn("ada@example.org", userPassword, codes[0])
	want(t, a, 401, "auth.invalid_credentials")
	want(t, end(app.code(0)), 422, "totp.invalid_code") // spent when it was confirmed
	want(t, end(app.code(1)), 204, "")
	is("off", 0)
	_, codes = s.twoFactor(u.Token)
	want(t, end(codes[9]), 204, "")
	is("off", 0)
	a, _ = s.signIn("ada@example.org", userPassword, "")
	want(t, a, 200, "")
}

func TestGuessingCodesIsLimited(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	app, _ := s.twoFactor(u.Token)
	for i := range 10 {
		if i%2 == 0 {
			want(t, s.Call(http.MethodDelete, "/me/2fa", u.Token, fields{"code": "x"}), 422, "totp.invalid_code")
		} else {
			a, _ := s.signIn("ada@example.org", userPassword, "x")
			want(t, a, 401, "auth.invalid_credentials")
		}
	}
	want(t, s.Call(http.MethodDelete, "/me/2fa", u.Token, fields{"code": app.code(1)}), 429, "rate.limited")
	a, _ := s.signIn("ada@example.org", userPassword, app.code(1))
	want(t, a, 429, "rate.limited")
	s.Clock.Advance(6 * time.Minute)
	want(t, s.Call(http.MethodDelete, "/me/2fa", u.Token, fields{"code": app.code(0)}), 204, "")
	s.setUp(u.Token)
	want(t, s.Call(http.MethodPost, "/me/2fa/confirm", u.Token, fields{"code": "x"}), 422, "totp.invalid_code")
	want(t, s.Call(http.MethodPost, "/me/2fa/confirm", u.Token, fields{"code": "x"}), 429, "rate.limited")
}

func TestSignInLimits(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.signin": "3/5m", "limits.signin_account": "5/5m", "http.trusted_proxies": "127.0.0.1"})
	s.account("ada@example.org")
	from := func(address, email, password string) apptest.Response {
		t.Helper()
		return s.from(address, http.MethodPost, "/auth/token", fields{"email": email, "password": password})
	}
	for _, email := range []string{"ada@example.org", "unknown@example.org"} { // whether there is such an account or not
		for _, same := range []string{email, strings.ToUpper(email), email} {
			a := from("198.51.100.1", same, "wrong")
			want(t, a, 401, "auth.invalid_credentials")
			if a.Header.Get("RateLimit-Policy") != `"signin";q=3;w=300` || a.Header.Get("RateLimit") == "" {
				t.Errorf("a wrong password: the header is %v, want the policy signin of 3 in 300 s", a.Header)
			}
		}
		for range 10 { // which must not use up what others have
			a := from("198.51.100.1", email, userPassword)
			want(t, a, 429, "rate.limited")
			if a.Header.Get("RateLimit-Policy") != `"signin";q=3;w=300` {
				t.Errorf(`from("198.51.100.1", email, userPassword) = %v, want RateLimit-Policy "\"signin\";q=3;w=300"`, a.Header)
			}
		}
		want(t, from("198.51.100.2", email, "wrong"), 401, "auth.invalid_credentials")
		want(t, from("198.51.100.3", email, "wrong"), 401, "auth.invalid_credentials")
		a := from("198.51.100.4", email, userPassword)
		want(t, a, 429, "rate.limited")
		if a.Header.Get("RateLimit-Policy") != `"signin_account";q=5;w=300` {
			t.Errorf(`from("198.51.100.4", email, userPassword) = %v, want RateLimit-Policy "\"signin_account\";q=5;w=300"`, a.Header)
		}
	}
	want(t, from("198.51.100.1", "another@example.org", "wrong"), 401, "auth.invalid_credentials")
	s.Clock.Advance(5 * time.Minute)
	want(t, from("198.51.100.1", "ada@example.org", userPassword), 200, "")
}

// from makes calls with a client address, set by a trusted proxy.
func (s *service) from(address, method, path string, body any) apptest.Response {
	s.t.Helper()
	return s.do(method, path, "", body, func(r *http.Request) { r.Header.Set("X-Forwarded-For", address) })
}

// Sign-ins that reach the password hash are counted by address, whatever the account; those refused before are not.
func TestPasswordHashesAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.signin_address": "4/5m", "limits.signin_account": "5/5m", "http.trusted_proxies": "127.0.0.1"})
	signIn := func(address, email, password string) apptest.Response {
		t.Helper()
		return s.from(address, http.MethodPost, "/auth/token", fields{"email": email, "password": password})
	}
	register := func(address, email, password string) apptest.Response {
		t.Helper()
		return s.from(address, http.MethodPost, "/auth/register", fields{"email": email, "password": password})
	}
	const flood, other = "2001:db8::1", "198.51.100.1"
	for range 10 {
		want(t, signIn(flood, "a@b", strings.Repeat("x", 201)), 422, "request.invalid")
		want(t, register(flood, "no address", userPassword), 422, "request.invalid")
		want(t, s.from(flood, http.MethodPost, "/auth/token", []byte("{")), 422, "request.invalid")
	}
	want(t, register(flood, "ada@example.org", userPassword), 201, "")
	want(t, register(flood, "ada@example.org", userPassword), 409, "account.email_taken")
	want(t, signIn(flood, "one@example.org", "wrong"), 401, "auth.invalid_credentials")
	want(t, signIn("2001:db8::2", "two@example.org", "wrong"), 401, "auth.invalid_credentials") // the same /64
	for range 10 {                                                                              // which count against no account
		a := signIn(flood, "ada@example.org", userPassword)
		want(t, a, 429, "rate.limited")
		if a.Header.Get("RateLimit-Policy") != `"signin_address";q=4;w=300` || a.Header.Get("Retry-After") == "" {
			t.Errorf("a sign-in after failures from the same network: the header is %v, want the policy signin_address of 4 in 300 s, and Retry-After", a.Header)
		}
		want(t, register(flood, "eve@example.org", userPassword), 429, "rate.limited")
	}
	want(t, signIn(other, "ada@example.org", userPassword), 200, "")
	want(t, register(other, "eve@example.org", userPassword), 201, "")
	s.Clock.Advance(75 * time.Second)
	want(t, signIn(flood, "ada@example.org", userPassword), 200, "")
}

// A call that finds the queue of hashes full counts against no limit, neither its account's nor its address's.
func TestCallRefusedByFullHashQueueIsNotCounted(t *testing.T) {
	t.Parallel()
	signIn := func() (path string, body fields) {
		return "/auth/token", fields{"email": "ada@example.org", "password": "wrong"}
	}
	var registered atomic.Int64
	register := func() (path string, body fields) {
		return "/auth/register", fields{"email": fmt.Sprintf("user-%d@example.org", registered.Add(1)), "password": userPassword}
	}
	t.Run("account", func(t *testing.T) { fullQueueDoesNotCount(t, "limits.signin", signIn) })
	t.Run("address", func(t *testing.T) { fullQueueDoesNotCount(t, "limits.signin_address", signIn) })
	t.Run("registrations of an address", func(t *testing.T) { fullQueueDoesNotCount(t, "limits.register", register) })
}

func fullQueueDoesNotCount(t *testing.T, key string, call func() (path string, body fields)) {
	const limit = 6
	s := startAccounts(t, settings{"account.password.memory": "65MiB", key: strconv.Itoa(limit) + "/5m"}) // one hash at once, since two exceed the bound
	var all sync.WaitGroup
	var hashed, busy atomic.Int64
	attempt := func() bool {
		path, body := call()
		a, err := s.TryCall(t.Context(), http.MethodPost, path, "", body)
		switch {
		case err != nil:
			t.Error(err)
		case a.Status == http.StatusUnauthorized, a.Status == http.StatusCreated:
			hashed.Add(1)
			return true
		case strings.Contains(string(a.Body), "sign-ins are under way"):
			busy.Add(1)
			return true
		}
		return false
	}
	for range limit {
		all.Go(func() { attempt() })
	}
	all.Wait()
	t.Logf("%d passwords hashed, %d calls found the queue full", hashed.Load(), busy.Load())
	for attempt() {
	}
	if hashed.Load() != limit {
		t.Errorf("%d passwords were hashed, want the limit to apply after %d", hashed.Load(), limit)
	}
}

func TestRegistrationsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.register": "2/1h"})
	s.account("a@example.org")
	s.account("b@example.org")
	want(t, s.Call(http.MethodPost, "/auth/register", "", fields{"email": "c@example.org", "password": userPassword}), 429, "rate.limited")
	s.Clock.Advance(time.Hour)
	s.account("c@example.org")
}

func TestTokensOfAnAccountShareItsLimit(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.other": "9/1m"})
	u, eve := s.account("ada@example.org"), s.account("eve@example.org")
	_, other := s.signIn("ada@example.org", userPassword, "")
	for range 9 {
		s.call(http.MethodGet, "/me", u.Token, 200, "")
	}
	for _, call := range operationsOf("=/me", "/me/2fa", "/auth") {
		words := strings.Fields(call)
		if strings.HasPrefix(words[1], "/me") && call != "DELETE /me" { // which counts as a sign-in
			s.call(words[0], words[1], u.Token, 429, "rate.limited")
			s.call(words[0], words[1], other, 429, "rate.limited")
		}
	}
	s.call(http.MethodDelete, "/auth/token", u.Token, 429, "rate.limited")
	s.call(http.MethodGet, "/me", eve.Token, 200, "")
}

func TestOnlyUserTokenOpensAccount(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	foreign := startAccounts(t, nil).account("ada@example.org").Token
	for _, call := range answersOf("=/me", "/me/2fa", "/auth") {
		words := strings.Fields(call)
		if words[2] != "401" || words[3] != "auth.required" {
			continue
		}
		s.call(words[0], words[1], "", 401, "auth.required")
		for _, wrong := range []string{s.create("", nil).Token, s.startSession().Key, foreign, mistyped(u.Token), u.Token[3:], "xu_", "garbage"} {
			s.call(words[0], words[1], wrong, 401, "auth.invalid_token")
		}
	}
	for _, call := range []string{"GET /mailboxes/me", "GET /mailboxes/me/messages", "GET /session", "DELETE /session"} {
		method, path, _ := strings.Cut(call, " ")
		s.call(method, path, u.Token, 401, "auth.invalid_token")
	}
}

func TestBodiesAndQueriesOfAccounts(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"http.body_max": "1KiB"})
	u := s.account("ada@example.org")
	for _, call := range answersOf("=/me", "/me/2fa", "/auth") {
		words := strings.Fields(call)
		method, path := words[0], words[1]
		switch words[2] {
		case "413":
			want(t, s.Call(method, path, u.Token, append([]byte(`{"code":"1`), make([]byte, 2000)...)), 413, "request.too_large")
		case "415":
			a := s.do(method, path, u.Token, fields{"code": "1"}, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			want(t, a, 415, "request.media_type")
		case "422":
			query := "?no=1"
			if path == "/auth/oidc/callback" { // whose query the issuer defines
				query = "?state=" + strings.Repeat("x", 201)
			}
			s.call(method, path+query, u.Token, 422, "request.invalid")
		}
	}
}

// Every sign-in is answered, and its answer does not depend on the others.
func TestConcurrentSignInsAreAllAnswered(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	s.account("ada@example.org")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			a, err := s.TryCall(t.Context(), http.MethodPost, "/auth/token", "", fields{"email": "ada@example.org", "password": []string{userPassword, "wrong"}[i%2]})
			if err != nil || a.Status != 429 && a.Status != []int{200, 401}[i%2] {
				t.Errorf("POST /auth/token = %d %s, %v, want %d or 429", a.Status, a.Body, err, []int{200, 401}[i%2])
			}
		})
	}
	wg.Wait()
}

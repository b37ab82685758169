package oidc_test

import (
	"context"
	"crypto/rsa"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/oidc"
)

// fixture is a client of an issuer that has one user, sub-1.
type fixture struct {
	*oidc.Client
	t      testing.TB
	issuer *apptest.Issuer
	clock  *clock.Fake
}

func start(t testing.TB, change func(*oidc.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, issuer: apptest.NewIssuer(t), clock: clock.NewFake(apptest.Noon())}
	f.issuer.User, f.issuer.Now = "sub-1", f.clock.Now
	f.claims(map[string]any{"email": "ada@example.org"})
	c := oidc.Config{
		Issuer: f.issuer.URL, ClientID: f.issuer.ClientID, ClientSecret: f.issuer.ClientSecret, RedirectURL: "https://box.example/callback",
		GroupsClaim: "groups", Clock: f.clock, Secret: [32]byte{1},
	}
	if change != nil {
		change(&c)
	}
	var err error
	if f.Client, err = oidc.New(c); err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(f.Close)
	return f
}

// claims sets what the ID tokens of the user say.
func (f *fixture) claims(claims map[string]any) {
	f.issuer.Set(func() { f.issuer.Users["sub-1"] = apptest.IssuerUser{Subject: "sub-1", Claims: claims} })
}

// answer has the issuer answer requests for a path with a status and a body. "" restores its own answers.
func (f *fixture) answer(path string, status int, body string) {
	f.issuer.Set(func() {
		f.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if path == "" || r.URL.Path != path {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return true
		}
	})
}

// visit lets the issuer sign its user in, and returns the state and the code that the browser brings back.
func (f *fixture) visit(a *oidc.Attempt) (state, code string) {
	f.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	res, err := client.Get(a.URL)
	if err != nil {
		f.t.Fatalf("GET %s: %v", a.URL, err)
	}
	res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		f.t.Fatalf("GET %s: got the location %q, want a URL", a.URL, res.Header.Get("Location"))
	}
	return back.Query().Get("state"), back.Query().Get("code")
}

// signIn walks through a sign-in.
func (f *fixture) signIn() (*oidc.Identity, error) {
	f.t.Helper()
	a, err := f.Begin(f.t.Context())
	if err != nil {
		return nil, err
	}
	state, code := f.visit(a)
	back, err := f.Open(state, a.Cookie)
	if err != nil {
		return nil, err
	}
	return back.Exchange(f.t.Context(), code)
}

// kind names the kind of an error.
func kind(err error) string {
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, oidc.ErrRefused):
		return "refused"
	case errors.Is(err, oidc.ErrUnavailable):
		return "unavailable"
	}
	return "other: " + err.Error()
}

func TestIdentityIsWhatTheClaimsSay(t *testing.T) {
	f := start(t, nil)
	type claims = map[string]any
	for _, test := range []struct {
		claims   claims
		email    string
		verified bool
		groups   []string
	}{
		{claims{"email": "ada@example.org", "email_verified": true, "groups": []string{"dev", "ops"}}, "ada@example.org", true, []string{"dev", "ops"}},
		{claims{"email": "ada@example.org", "email_verified": "true", "groups": "dev"}, "ada@example.org", true, []string{"dev"}},
		{claims{"email": "ada@example.org", "email_verified": "True", "groups": []string{}}, "ada@example.org", false, []string{}},
		{claims{"email": "ada@example.org", "email_verified": 1, "groups": ""}, "ada@example.org", false, nil},
		{claims{"email": "ada@example.org", "email_verified": []bool{true}, "groups": 7}, "ada@example.org", false, nil},
		{claims{"email": "ada@example.org", "email_verified": false, "groups": []any{"dev", 7}}, "ada@example.org", false, nil},
		{claims{"email": "ada@example.org", "groups": claims{"dev": true}}, "ada@example.org", false, nil},
		{claims{"email": []string{"ada@example.org"}, "email_verified": true, "groups": []string{"dev"}}, "", true, []string{"dev"}},
		{claims{"email": nil, "email_verified": true, "groups": nil}, "", false, nil},
		{claims{"Groups": []string{"dev"}}, "", false, nil},
	} {
		f.claims(test.claims)
		got, err := f.signIn()
		if err != nil {
			t.Errorf("a sign-in with the claims %v: got the error %v, want none", test.claims, err)
			continue
		}
		if got.RefreshToken == "" {
			t.Errorf("a sign-in with the claims %v: got no refresh token, want the issuer's", test.claims)
		}
		got.RefreshToken = ""
		want := &oidc.Identity{Issuer: f.issuer.URL, Subject: "sub-1", Email: test.email, EmailVerified: test.verified, Groups: test.groups}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("a sign-in with the claims %v: got %+v, want %+v", test.claims, got, want)
		}
	}
}

// What the ID token lacks is taken from the UserInfo endpoint; an address and whether it is verified come from the same place.
func TestUserInfoHasWhatTheIDTokenLacks(t *testing.T) {
	f := start(t, nil)
	type claims = map[string]any
	for _, test := range []struct {
		claims   claims
		userInfo string
		want     string
	}{
		{claims{}, `{"sub":"sub-1","email":"ada@example.org","email_verified":true,"groups":["dev"]}`, "ada@example.org true [dev]"},
		{claims{"email": nil, "groups": nil}, `{"sub":"sub-1","email":"ada@example.org","email_verified":true,"groups":["dev"]}`, "ada@example.org true [dev]"},
		{claims{"email_verified": true}, `{"sub":"sub-1","email":"eve@example.org","groups":[]}`, "eve@example.org false []"},
		{claims{"email": "ada@example.org"}, `{"sub":"sub-1","email":"eve@example.org","email_verified":true,"groups":["dev"]}`, "ada@example.org false [dev]"},
		{claims{"email": "ada@example.org", "groups": []string{"ops"}}, `not asked`, "ada@example.org false [ops]"},
		{claims{}, `{"sub":"sub-1"}`, " false []"},
		{claims{}, `{"sub":"sub-2","email":"ada@example.org"}`, "refused"},
		{claims{}, `{"email":"ada@example.org"}`, "refused"},
		{claims{}, `<html>`, "unavailable"},
		{claims{}, `[]`, "unavailable"},
	} {
		f.claims(test.claims)
		f.answer("/userinfo", 200, test.userInfo)
		who, err := f.signIn()
		got := kind(err)
		if err == nil {
			got = who.Email + " " + map[bool]string{true: "true", false: "false"}[who.EmailVerified] + " [" + strings.Join(who.Groups, " ") + "]"
		}
		if got != test.want {
			t.Errorf("a sign-in with the claims %v and UserInfo %s: got %s, want %s", test.claims, test.userInfo, got, test.want)
		}
	}
	f.answer("/userinfo", 500, "")
	f.claims(map[string]any{})
	if _, err := f.signIn(); kind(err) != "unavailable" {
		t.Errorf("a sign-in without UserInfo: got %s, want unavailable", kind(err))
	}
}

func TestIDTokenMustBeForThisClient(t *testing.T) {
	f := start(t, nil)
	for _, test := range []struct {
		change map[string]any
		want   string
	}{
		{nil, "none"},
		{map[string]any{"aud": []string{"gonebox"}}, "none"},
		{map[string]any{"aud": []string{"gonebox", "other"}, "azp": "gonebox"}, "none"},
		{map[string]any{"azp": "gonebox"}, "none"},
		{map[string]any{"aud": []string{"gonebox", "other"}}, "refused"},
		{map[string]any{"aud": []string{"gonebox", "other"}, "azp": "other"}, "refused"},
		{map[string]any{"azp": "other"}, "refused"},
		{map[string]any{"azp": []string{"gonebox"}}, "refused"},
		{map[string]any{"aud": "other"}, "refused"},
		{map[string]any{"aud": []string{}}, "refused"},
		{map[string]any{"aud": "gonebox "}, "refused"},
		{map[string]any{"iss": "https://issuer.example"}, "refused"},
		{map[string]any{"nonce": "other"}, "refused"},
		{map[string]any{"nonce": ""}, "refused"},
		{map[string]any{"exp": apptest.Noon().Add(-time.Second).Unix()}, "refused"},
		{map[string]any{"exp": "tomorrow"}, "refused"},
		{map[string]any{"nbf": apptest.Noon().Add(time.Hour).Unix()}, "refused"},
		{map[string]any{"sub": ""}, "refused"},
		{map[string]any{"sub": strings.Repeat("s", 255)}, "none"},
		{map[string]any{"sub": strings.Repeat("s", 256)}, "refused"},
		{map[string]any{"sub": "a\x00b"}, "refused"},
		{map[string]any{"sub": 1}, "refused"},
	} {
		f.issuer.Set(func() {
			f.issuer.Claims = func(claims map[string]any) {
				claims["groups"] = []string{}
				maps.Copy(claims, test.change)
			}
		})
		if _, err := f.signIn(); kind(err) != test.want {
			t.Errorf("a sign-in with the claims %v in the ID token: got %s, want %s", test.change, kind(err), test.want)
		}
	}
}

// The cookie of an attempt is of use with its state alone, to this service alone, and for ten minutes.
func TestAttemptIsOpenedByItsBrowserAlone(t *testing.T) {
	f := start(t, nil)
	other := start(t, func(c *oidc.Config) { c.Issuer, c.Secret = f.issuer.URL, [32]byte{2} })
	begin := func(c *oidc.Client) *oidc.Attempt {
		a, err := c.Begin(t.Context())
		if err != nil {
			t.Fatalf("Begin: %v", err)
		}
		return a
	}
	a, b, foreign := begin(f.Client), begin(f.Client), begin(other.Client)
	middle := len(a.Cookie) / 2
	changed := a.Cookie[:middle] + map[bool]string{true: "B", false: "A"}[a.Cookie[middle] == 'A'] + a.Cookie[middle+1:]
	for what, test := range map[string]struct{ state, cookie, want string }{
		"its own":                   {a.State, a.Cookie, "none"},
		"another attempt":           {b.State, a.Cookie, "refused"},
		"no cookie":                 {a.State, "", "refused"},
		"no state":                  {"", a.Cookie, "refused"},
		"part of a cookie":          {a.State, a.Cookie[:middle], "refused"},
		"a changed cookie":          {a.State, changed, "refused"},
		"a cookie with padding":     {a.State, a.Cookie + "==", "refused"},
		"no base64":                 {a.State, "a cookie", "refused"},
		"the state in another case": {strings.ToLower(a.State), a.Cookie, "refused"},
		"another service":           {foreign.State, foreign.Cookie, "refused"},
	} {
		if _, err := f.Open(test.state, test.cookie); kind(err) != test.want {
			t.Errorf("Open with the state and cookie of %s: got %s, want %s", what, kind(err), test.want)
		}
	}
	f.clock.Advance(oidc.AttemptTTL - time.Second)
	if _, err := f.Open(a.State, a.Cookie); err != nil {
		t.Errorf("Open a second before the end of an attempt: got %v, want no error", err)
	}
	f.clock.Advance(time.Second)
	if _, err := f.Open(a.State, a.Cookie); kind(err) != "refused" {
		t.Errorf("Open at the end of an attempt: got %s, want refused", kind(err))
	}
}

// refusals are answers of the token endpoint, and what they mean for a code and for a refresh token.
var refusals = []struct {
	status        int
	body          string
	code, refresh string
}{
	{400, `{"error":"invalid_grant"}`, "refused", "refused"},
	{401, `{"error":"invalid_grant","error_description":"x"}`, "refused", "refused"},
	{400, `{"error":"invalid_request","error_description":"the refresh token has expired"}`, "unavailable", "refused"},
	{500, `{"error":"invalid_grant"}`, "unavailable", "unavailable"},
	{500, `{"error":"invalid_request"}`, "unavailable", "unavailable"},
	{401, `{"error":"invalid_client"}`, "unavailable", "unavailable"},
	{400, `{"error":"temporarily_unavailable"}`, "unavailable", "unavailable"},
	{400, `{"error":["invalid_grant"]}`, "unavailable", "unavailable"},
	{400, ``, "unavailable", "unavailable"},
	{200, `{"error":"invalid_grant"}`, "unavailable", "unavailable"},
	{200, `<html>`, "unavailable", "unavailable"},
	{200, `{}`, "unavailable", "unavailable"},
	{200, `{"access_token":"a","token_type":"Bearer"}`, "refused", "unavailable"}, // no ID token; UserInfo is about another subject
	{302, ``, "unavailable", "unavailable"},
}

func TestAnswersOfTheTokenEndpoint(t *testing.T) {
	f := start(t, nil)
	if _, err := f.signIn(); err != nil { // it is discovered
		t.Fatalf("a sign-in: got the error %v, want none", err)
	}
	for _, test := range refusals {
		f.answer("/token", test.status, test.body)
		if _, err := f.signIn(); kind(err) != test.code {
			t.Errorf("a code that is answered %d %s: got %s, want %s", test.status, test.body, kind(err), test.code)
		}
		if _, err := f.Refresh(t.Context(), "sub-1", "a token"); kind(err) != test.refresh {
			t.Errorf("a refresh token that is answered %d %s: got %s, want %s", test.status, test.body, kind(err), test.refresh)
		}
	}
}

func TestRefreshAsksAgain(t *testing.T) {
	f := start(t, nil)
	f.claims(map[string]any{"email": "ada@example.org", "groups": []string{"dev"}})
	who, err := f.signIn()
	if err != nil {
		t.Fatalf("a sign-in: got the error %v, want none", err)
	}
	f.claims(map[string]any{"email": "lovelace@example.org", "groups": []string{"ops"}})
	again, err := f.Refresh(t.Context(), "sub-1", who.RefreshToken)
	if err != nil || again.Email != "lovelace@example.org" || !reflect.DeepEqual(again.Groups, []string{"ops"}) || again.RefreshToken == who.RefreshToken || again.RefreshToken == "" {
		t.Fatalf("Refresh: got %+v, %v, want the new address, the group ops and another refresh token", again, err)
	}
	if _, err := f.Refresh(t.Context(), "sub-1", who.RefreshToken); kind(err) != "refused" {
		t.Errorf("Refresh with a token that was used: got %s, want refused", kind(err))
	}
	if _, err := f.Refresh(t.Context(), "sub-2", again.RefreshToken); kind(err) != "unavailable" {
		t.Errorf("Refresh of another subject: got %s, want unavailable", kind(err))
	}
	if who, err = f.signIn(); err != nil {
		t.Fatalf("a sign-in: got the error %v, want none", err)
	}
	f.issuer.Set(func() { f.issuer.Token = func(string, *rsa.PrivateKey) string { return "" } })
	f.answer("/userinfo", 200, `{"sub":"sub-1","groups":["sales"]}`)
	again, err = f.Refresh(t.Context(), "sub-1", who.RefreshToken)
	if err != nil || !reflect.DeepEqual(again.Groups, []string{"sales"}) {
		t.Errorf("Refresh without an ID token: got %+v, %v, want the group of UserInfo", again, err)
	}
}

// An issuer whose keys cannot be fetched, or that does not answer at all, is unavailable: it has not refused the user.
func TestIssuerWithoutKeysIsUnavailable(t *testing.T) {
	for _, body := range []string{"", "<html>", `{"keys":`} {
		f := start(t, nil)
		f.answer("/keys", 500, body)
		if _, err := f.signIn(); kind(err) != "unavailable" {
			t.Errorf("a sign-in where the keys are answered 500 %s: got %s, want unavailable", body, kind(err))
		}
	}
	f := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Discover(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Discover with a context that has ended: got %v, want its error", err)
	}
}

// Errors are logged, so neither codes nor tokens are in them.
func TestErrorsHaveNoSecrets(t *testing.T) {
	f := start(t, nil)
	const secret = "tok-4711"
	for _, body := range []string{
		`{"access_token":"` + secret + `","token_type":"Bearer","id_token":"` + secret + `"}`,
		`{"access_token":"` + secret, secret, `{"error":"invalid_client","error_description":"` + secret + `","refresh_token":"` + secret + `"}`,
	} {
		for _, status := range []int{200, 400} {
			f.answer("/token", status, body)
			_, err := f.signIn()
			_, again := f.Refresh(t.Context(), "sub-1", secret)
			for what, err := range map[string]error{"a sign-in": err, "Refresh": again} {
				if err == nil || strings.Contains(err.Error(), secret) || len(err.Error()) > 500 {
					t.Errorf("%s that is answered %d %s: got the error %v, want a short one without the token", what, status, body, err)
				}
			}
		}
	}
}

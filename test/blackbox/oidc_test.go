package blackbox_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// oidcFixture is a service whose users sign in with an issuer.
type oidcFixture struct {
	*service
	issuer *apptest.Issuer
}

func startOIDC(t testing.TB, set settings) *oidcFixture {
	t.Helper()
	i := apptest.NewIssuer(t)
	own := settings{"oidc.issuer": i.URL, "oidc.client_id": i.ClientID, "oidc.client_secret": i.ClientSecret, "oidc.name": "Example Inc."}
	maps.Copy(own, set)
	f := &oidcFixture{startAccounts(t, own), i}
	i.Set(func() { i.Now = f.Clock.Now })
	return f
}

// member adds a user of the issuer, who signs in next.
func (f *oidcFixture) member(subject, email string, groups ...string) {
	f.issuer.Set(func() {
		f.issuer.User = subject
		f.issuer.Users[subject] = apptest.IssuerUser{Subject: subject, Claims: map[string]any{"email": email, "email_verified": true, "groups": groups}}
	})
}

// browser keeps the cookies of a visitor.
type browser struct {
	f       *oidcFixture
	cookies map[string]*http.Cookie
	others  string // further cookies, as a header field has them
	accept  string
}

func (f *oidcFixture) browser() *browser {
	return &browser{f: f, cookies: map[string]*http.Cookie{}}
}

// get calls the service with the cookies of the browser, and keeps those that it is sent.
func (b *browser) get(path string) apptest.Response {
	b.f.t.Helper()
	r, err := b.f.Request(b.f.t.Context(), http.MethodGet, path, "", nil)
	if err != nil {
		b.f.t.Fatal(err)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	if b.others != "" {
		r.Header.Set("Cookie", strings.TrimSuffix(b.others+"; "+r.Header.Get("Cookie"), "; "))
	}
	if b.accept != "" {
		r.Header.Set("Accept", b.accept)
	}
	a, err := b.f.Do(r)
	if err != nil {
		b.f.t.Fatalf("GET %s: %v", path, err)
	}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		b.cookies[c.Name] = c
	}
	return a
}

// start begins a sign-in and returns the URL of the issuer.
func (b *browser) start() string {
	b.f.t.Helper()
	a := b.get("/auth/oidc/start")
	want(b.f.t, a, 303, "")
	return a.Header.Get("Location")
}

// visit lets the issuer sign its user in, and returns the path of the callback with its query.
func (b *browser) visit(location string) string {
	b.f.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	res, err := client.Get(location)
	if err != nil {
		b.f.t.Fatalf("GET %s: %v", location, err)
	}
	defer res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusFound {
		b.f.t.Fatalf("GET %s: got %d, %v, want a redirect", location, res.StatusCode, err)
	}
	return strings.TrimPrefix(back.Path, "/api/v1") + "?" + back.RawQuery
}

// signIn signs in with the issuer and returns the answer of the callback, and what its cookie says.
func (b *browser) signIn() (apptest.Response, string) {
	b.f.t.Helper()
	a := b.get(b.visit(b.start()))
	return a, b.result(a)
}

// result returns the cookie of a callback's answer, "" if there is none.
func (b *browser) result(a apptest.Response) string {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == "gonebox_sign_in" {
			return c.Value
		}
	}
	return ""
}

// enter signs in and returns the user token.
func (b *browser) enter() string {
	b.f.t.Helper()
	a, got := b.signIn()
	if a.Status != 303 || !strings.HasPrefix(got, "xu_") {
		b.f.t.Fatalf("%s: got %d %s with the result %q, want a user token", a.Request, a.Status, a.Body, got)
	}
	return got
}

// shownAccount is what GET /me says.
type shownAccount struct {
	ID, Email, Role             string
	HasPassword, EmailConfirmed bool
}

func (f *oidcFixture) me(credential string) (shown shownAccount) {
	f.t.Helper()
	f.call(http.MethodGet, "/me", credential, 200, "").Into(f.t, &shown)
	return shown
}

func TestTeamSignsInWithItsIssuer(t *testing.T) {
	f := startOIDC(t, settings{"access.registration": "closed"})
	f.member("sub-1", "Ada@Example.org")
	b := f.browser()
	location := b.start()
	u, _ := url.Parse(location)
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" || !strings.HasSuffix(q.Get("redirect_uri"), "/api/v1/auth/oidc/callback") {
		t.Errorf("GET /auth/oidc/start: got a redirect to %s, want PKCE, a nonce, a state and the callback", location)
	}
	for name, c := range b.cookies {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.MaxAge != 600 || c.Path != "/api/v1/auth/oidc/callback" {
			t.Errorf("cookie %s: got %v, want HttpOnly, SameSite=Lax, 600 s, for the callback alone, not Secure with http", name, c)
		}
	}
	a := b.get(b.visit(location))
	want(t, a, 303, "")
	if to := a.Header.Get("Location"); !strings.HasSuffix(to, "/sign-in#signed-in") || strings.Contains(to, "?") {
		t.Errorf("%s: got the redirect %s, want the sign-in page without a query", a.Request, to)
	}
	first := f.me(b.result(a))
	if first.Email != "ada@example.org" || first.HasPassword || !first.EmailConfirmed || first.Role != "user" {
		t.Errorf("GET /me of a new user: got %+v, want the confirmed address, no password, the role user", first)
	}
	f.member("sub-1", "ada.new@example.org") // matched by the subject
	if again := f.me(f.browser().enter()); again.ID != first.ID || again.Email != first.Email {
		t.Errorf("GET /me after a second sign-in with another address: got %+v, want %+v", again, first)
	}
	var x struct {
		Account struct {
			Email string
			Links []struct{ Issuer, Subject string }
		}
	}
	f.call(http.MethodGet, "/me/export", f.browser().enter(), 200, "").Into(t, &x)
	if links := x.Account.Links; x.Account.Email != first.Email || len(links) != 1 || links[0].Subject != "sub-1" || links[0].Issuer != f.issuer.URL {
		t.Errorf("GET /me/export: got the links %v, want one of sub-1 at %s", x.Account.Links, f.issuer.URL)
	}
	var access struct {
		Password bool
		OIDC     string
	}
	f.call(http.MethodGet, "/access", "", 200, "").Into(t, &access)
	if access.OIDC != "Example Inc." || !access.Password {
		t.Errorf("GET /access: got %+v, want the name of the issuer, and passwords", access)
	}
}

// Other programs on the same host set cookies that are none by the rules.
func TestCookiesOfOthersDoNotDisturbASignIn(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	for _, others := range []string{`theme={"dark": true, "size": 2}`, `a b=c`, `=x`, `;`, "name=\xff", `"x"`, `q="unclosed`, `gonebox_oidc_=x; gonebox_oidc`, strings.Repeat("c=1; ", 200) + "c=1"} {
		b := f.browser()
		b.others = others
		if a, got := b.signIn(); a.Status != 303 || !strings.HasPrefix(got, "xu_") {
			t.Errorf("a sign-in with the cookies %.80q: got %d %s with the result %q, want a user token", others, a.Status, a.Body, got)
		}
	}
}

// A cookie is Secure where the service is reached over https.
func TestCookiesOfHTTPSAreSecure(t *testing.T) {
	f := startOIDC(t, settings{"base_url": "https://box.example/mail"})
	r, _ := f.Request(t.Context(), http.MethodGet, "/auth/oidc/start", "", nil)
	r.URL.Path = "/mail" + r.URL.Path
	a, err := f.Do(r)
	if err != nil || a.Status != 303 {
		t.Fatalf("%s: got %d %s, %v, want 303", a.Request, a.Status, a.Body, err)
	}
	cookies := (&http.Response{Header: a.Header}).Cookies()
	if len(cookies) != 1 || !cookies[0].Secure || cookies[0].Path != "/mail/api/v1/auth/oidc/callback" {
		t.Errorf("%s: got the cookies %v, want a Secure one below the path of base_url", a.Request, cookies)
	}
}

// Tabs of one browser sign in independently of each other.
func TestTwoTabsSignInAtTheSameTime(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	b := f.browser()
	one, two := b.visit(b.start()), b.visit(b.start())
	for _, path := range []string{one, two} {
		if a := b.get(path); a.Status != 303 || !strings.HasPrefix(b.result(a), "xu_") {
			t.Errorf("%s: got %d %s, want a user token", a.Request, a.Status, a.Body)
		}
	}
}

func TestAttemptBelongsToABrowserAndCountsOnce(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	b, other := f.browser(), f.browser()
	path := b.visit(b.start())
	other.start()
	want(t, other.get(path), 400, "oidc.failed") // of another browser, which has an attempt of its own
	want(t, f.browser().get(path), 400, "oidc.failed")
	q, _ := url.ParseQuery(path[strings.Index(path, "?")+1:])
	want(t, b.get("/auth/oidc/callback?code="+q.Get("code")+"&state="+q.Get("state")[:12]+"AAAAAAAAAAAAAA"), 400, "oidc.failed")
	want(t, b.get(path), 303, "")
	before := f.issuer.Requests("/token")
	want(t, b.get(path), 400, "oidc.failed")
	if after := f.issuer.Requests("/token"); after != before {
		t.Errorf("a callback that comes twice: got %d requests for tokens, want %d", after, before)
	}
	late := b.visit(b.start())
	f.Clock.Advance(10 * time.Minute)
	want(t, b.get(late), 400, "oidc.failed")
	want(t, f.browser().get("/auth/oidc/callback"), 400, "oidc.failed")
	denied := b.visit(b.start())
	q, _ = url.ParseQuery(denied[strings.Index(denied, "?")+1:])
	want(t, b.get("/auth/oidc/callback?error=access_denied&error_description=no&state="+q.Get("state")), 400, "oidc.failed")
}

// pemOf is the public key as an attacker would use it as the secret of HS256.
func pemOf(key *rsa.PrivateKey) []byte {
	der, _ := x509.MarshalPKIXPublicKey(key.Public())
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// resign replaces the header and the signature of a token.
func resign(signed string, header map[string]any, sign func(text string) []byte) string {
	parts := strings.Split(signed, ".")
	text, _ := json.Marshal(header)
	whole := base64.RawURLEncoding.EncodeToString(text) + "." + parts[1]
	return whole + "." + base64.RawURLEncoding.EncodeToString(sign(whole))
}

func TestWrongTokensOfTheIssuerAreRefused(t *testing.T) {
	f := startOIDC(t, nil)
	claim := func(name string, value any) func() {
		return func() { f.issuer.Claims = func(c map[string]any) { c[name] = value } }
	}
	token := func(change func(signed string, key *rsa.PrivateKey) string) func() {
		return func() { f.issuer.Token = change }
	}
	kid := func(signed string) any {
		var h map[string]any
		text, _ := base64.RawURLEncoding.DecodeString(strings.Split(signed, ".")[0])
		_ = json.Unmarshal(text, &h)
		return h["kid"]
	}
	for name, misbehave := range map[string]func(){
		"wrong nonce":      claim("nonce", "another"),
		"no nonce":         claim("nonce", ""),
		"wrong issuer":     claim("iss", "https://login.example"),
		"wrong audience":   claim("aud", "another"),
		"other party":      claim("azp", "another"),
		"two audiences":    claim("aud", []string{f.issuer.ClientID, "another"}),
		"expired":          claim("exp", apptest.Noon().Add(-time.Hour).Unix()),
		"not yet valid":    claim("nbf", apptest.Noon().Add(time.Hour).Unix()),
		"no subject":       claim("sub", ""),
		"long subject":     claim("sub", strings.Repeat("x", 256)),
		"NUL in a subject": claim("sub", "a\x00b"),
		"no token":         token(func(string, *rsa.PrivateKey) string { return "" }),
		"no JWT":           token(func(string, *rsa.PrivateKey) string { return "a.b" }),
		"no signature":     token(func(s string, _ *rsa.PrivateKey) string { return s[:strings.LastIndex(s, ".")+1] }),
		"algorithm none": token(func(s string, _ *rsa.PrivateKey) string {
			return resign(s, map[string]any{"alg": "none", "kid": kid(s)}, func(string) []byte { return nil })
		}),
		"HS256 with the public key": token(func(s string, key *rsa.PrivateKey) string {
			return resign(s, map[string]any{"alg": "HS256", "kid": kid(s)}, func(text string) []byte {
				mac := hmac.New(sha256.New, pemOf(key))
				mac.Write([]byte(text))
				return mac.Sum(nil)
			})
		}),
		"HS256 with the secret": token(func(s string, _ *rsa.PrivateKey) string {
			return resign(s, map[string]any{"alg": "HS256", "kid": kid(s)}, func(text string) []byte {
				mac := hmac.New(sha256.New, []byte(f.issuer.ClientSecret))
				mac.Write([]byte(text))
				return mac.Sum(nil)
			})
		}),
		"another key": token(func(s string, _ *rsa.PrivateKey) string {
			key, _ := rsa.GenerateKey(rand.Reader, 2048)
			return resign(s, map[string]any{"alg": "RS256", "kid": kid(s)}, func(text string) []byte {
				sum := sha256.Sum256([]byte(text))
				signature, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
				return signature
			})
		}),
	} {
		f.member("sub-1", "ada@example.org")
		f.issuer.Set(misbehave)
		a, got := f.browser().signIn()
		if a.Status != 400 || a.Code() != "oidc.failed" || got != "" {
			t.Errorf("a sign-in with %s: got %d %s, result %q, want 400 oidc.failed and no cookie", name, a.Status, a.Body, got)
		}
		f.issuer.Set(func() { f.issuer.Claims, f.issuer.Token = nil, nil })
	}
	f.browser().enter() // the issuer is fine otherwise
	f.issuer.Rotate(t)
	f.browser().enter() // its keys are read again
}

func TestIssuerThatDoesNotAnswerWell(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	huge := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"x":"`))
		for range 64 {
			_, _ = w.Write([]byte(strings.Repeat("x", 1<<16)))
		}
		_, _ = w.Write([]byte(`"}`))
	}
	answers := map[string]func(w http.ResponseWriter){
		"500":      func(w http.ResponseWriter) { w.WriteHeader(500) },
		"no JSON":  func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"huge":     huge,
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "http://127.0.0.1:1/"); w.WriteHeader(307) },
		"client":   func(w http.ResponseWriter) { w.WriteHeader(401); _, _ = w.Write([]byte(`{"error":"invalid_client"}`)) },
		"hang up":  func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	}
	at := func(path string, answer func(http.ResponseWriter)) {
		f.issuer.Set(func() {
			f.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				answer(w)
				return true
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		at("/.well-known/openid-configuration", answers[name])
		want(t, f.browser().get("/auth/oidc/start"), 503, "oidc.unavailable")
	}
	f.issuer.Set(func() { f.issuer.Before = nil })
	f.browser().enter()
	discovered := f.issuer.Requests("/.well-known/openid-configuration")
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		at("/token", answers[name])
		b := f.browser()
		want(t, b.get(b.visit(b.start())), 503, "oidc.unavailable")
	}
	b := f.browser()
	b.accept = "text/html,application/xhtml+xml"
	a := b.get(b.visit(b.start()))
	if a.Status != 303 || !strings.HasSuffix(a.Header.Get("Location"), "/sign-in#problem=oidc.unavailable") {
		t.Errorf("%s of a browser: got %d to %q, want the sign-in page with the problem", a.Request, a.Status, a.Header.Get("Location"))
	}
	f.issuer.Set(func() { f.issuer.Before = nil })
	b.accept = ""
	b.enter()
	if n := f.issuer.Requests("/.well-known/openid-configuration"); n != discovered {
		t.Errorf("discovery: got %d requests, want %d: what was answered is kept", n, discovered)
	}
}

// What an issuer has not verified is refused alike, whether there is an account with the address or not.
func TestUnverifiedAddressShowsNothing(t *testing.T) {
	f := startOIDC(t, nil)
	f.account("ada@example.org")
	for name, claims := range map[string]map[string]any{
		"known, unverified":   {"email": "ada@example.org", "email_verified": false},
		"known, no word":      {"email": "ada@example.org"},
		"unknown, unverified": {"email": "bob@example.org", "email_verified": false},
		"unknown, no word":    {"email": "bob@example.org"},
		"no address":          {"email_verified": true},
		"no address at all":   {},
		"malformed":           {"email": "bob", "email_verified": true},
		"a list":              {"email": []string{"ada@example.org"}, "email_verified": true},
	} {
		f.issuer.Set(func() {
			f.issuer.User = "sub-1"
			f.issuer.Users["sub-1"] = apptest.IssuerUser{Subject: "sub-1", Claims: claims}
		})
		a, got := f.browser().signIn()
		if a.Status != 403 || a.Code() != "oidc.email_unverified" || got != "" {
			t.Errorf("a sign-in with an address that is %s: got %d %s, result %q, want 403 oidc.email_unverified", name, a.Status, a.Body, got)
		}
	}
}

// ticketOf returns the ticket of a callback's result.
func (f *oidcFixture) ticketOf(result, need string) string {
	f.t.Helper()
	ticket, ok := strings.CutPrefix(result, need+".")
	if !ok {
		f.t.Fatalf("the callback: got the result %q, want %s and a ticket", result, need)
	}
	return ticket
}

func TestExistingAccountIsLinkedByItsPassword(t *testing.T) {
	f := startOIDC(t, nil)
	ada := f.account("ada@example.org")
	f.member("sub-1", "ada@example.org")
	_, result := f.browser().signIn()
	ticket := f.ticketOf(result, "password")
	finish := func(body fields) apptest.Response { return f.Call(http.MethodPost, "/auth/oidc/finish", "", body) }
	want(t, finish(fields{"ticket": ticket}), 401, "auth.invalid_credentials")
	want(t, finish(fields{"ticket": ticket, "password": "not the password"}), 401, "auth.invalid_credentials")
	want(t, finish(fields{"ticket": "unknown", "password": userPassword}), 400, "oidc.failed")
	var signedIn struct {
		Token   string
		Account shownAccount
	}
	finish(fields{"ticket": ticket, "password": userPassword}).Into(t, &signedIn)
	if got := f.me(signedIn.Token); got.ID != ada.Account.ID || !got.HasPassword {
		t.Errorf("GET /me of a linked account: got %+v, want %s with its password", got, ada.Account.ID)
	}
	want(t, finish(fields{"ticket": ticket, "password": userPassword}), 400, "oidc.failed")
	if got := f.me(f.browser().enter()); got.ID != ada.Account.ID {
		t.Errorf("GET /me after a sign-in of a linked user: got %+v, want %s", got, ada.Account.ID)
	}
	// Another user of the issuer with the same address starts over, and a ticket is not tried for ever.
	f.member("sub-2", "ada@example.org")
	_, result = f.browser().signIn()
	ticket = f.ticketOf(result, "password")
	for range 10 {
		want(t, finish(fields{"ticket": ticket, "password": "not the password"}), 401, "auth.invalid_credentials")
	}
	want(t, finish(fields{"ticket": ticket, "password": userPassword}), 400, "oidc.failed")
	_, result = f.browser().signIn()
	late := f.ticketOf(result, "password")
	f.Clock.Advance(10 * time.Minute)
	want(t, finish(fields{"ticket": late, "password": userPassword}), 400, "oidc.failed")
}

func TestTriesOfTicketsCountAsSignIns(t *testing.T) {
	f := startOIDC(t, settings{"limits.signin": "3/1h"})
	f.account("ada@example.org")
	f.member("sub-1", "ada@example.org")
	b := f.browser()
	for n := range 4 {
		_, result := b.signIn()
		a := f.Call(http.MethodPost, "/auth/oidc/finish", "", fields{"ticket": f.ticketOf(result, "password"), "password": "not the password"})
		if n < 3 {
			want(t, a, 401, "auth.invalid_credentials")
		} else {
			want(t, a, 429, "rate.limited")
		}
	}
	want(t, f.Call(http.MethodPost, "/auth/token", "", fields{"email": "ada@example.org", "password": userPassword}), 429, "rate.limited")
}

func TestSecondFactorIsAskedForWithAnIssuer(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	app, _ := f.twoFactor(f.browser().enter())
	_, result := f.browser().signIn()
	ticket := f.ticketOf(result, "code")
	finish := func(body fields) apptest.Response { return f.Call(http.MethodPost, "/auth/oidc/finish", "", body) }
	want(t, finish(fields{"ticket": ticket}), 401, "auth.totp_required")
	want(t, finish(fields{"ticket": ticket, "code": app.wrong()}), 401, "auth.invalid_credentials")
	want(t, finish(fields{"ticket": ticket, "code": app.code(1)}), 200, "")
}

func TestGroupsDecideWhoMaySignIn(t *testing.T) {
	f := startOIDC(t, settings{"oidc.allow_groups": "dev, ops", "oidc.staff_group": "admin"})
	f.member("sub-1", "ada@example.org", "sales")
	a, _ := f.browser().signIn()
	want(t, a, 403, "oidc.not_allowed")
	f.member("sub-1", "ada@example.org")
	a, _ = f.browser().signIn()
	want(t, a, 403, "oidc.not_allowed")
	f.member("sub-1", "ada@example.org", "ops", "admin")
	token := f.browser().enter()
	if got := f.me(token); got.Role != "staff" {
		t.Errorf("GET /me of a user of the staff group: got %+v, want the role staff", got)
	}
	f.member("sub-1", "ada@example.org", "ops")
	if got := f.me(f.browser().enter()); got.Role != "user" {
		t.Errorf("GET /me of a user who has left the staff group: got %+v, want the role user", got)
	}
	f.member("sub-1", "ada@example.org", "sales")
	a, _ = f.browser().signIn()
	want(t, a, 403, "oidc.not_allowed")
	f.call(http.MethodGet, "/me", token, 401, "auth.invalid_token") // it is out at once
}

// hours moves the clock in steps of the job that asks the issuer.
func (f *oidcFixture) minutes(n int) {
	for range n {
		f.Clock.Advance(time.Minute)
	}
}

func TestUserWhoLeftTheGroupIsSignedOutWithinTheHour(t *testing.T) {
	f := startOIDC(t, settings{"oidc.allow_groups": "dev", "oidc.staff_group": "admin"})
	f.member("sub-2", "bob@example.org", "dev")
	bob := f.browser().enter()
	f.member("sub-1", "ada@example.org", "dev")
	ada := f.browser().enter()
	f.minutes(50)
	f.member("sub-1", "ada@example.org", "dev", "admin")
	f.minutes(10)
	eventually(t, "the role of the group", func() bool { return f.me(ada).Role == "staff" })
	f.me(bob)
	f.member("sub-1", "ada@example.org", "sales")
	f.issuer.Set(func() { delete(f.issuer.Users, "sub-2") }) // the issuer ends the sign-in: invalid_grant
	f.minutes(60)
	for name, token := range map[string]string{"ada": ada, "bob": bob} {
		eventually(t, name+" is signed out", func() bool { return f.Call(http.MethodGet, "/me", token, nil).Code() == "auth.invalid_token" })
	}
	asked := f.issuer.Requests("/token")
	f.minutes(60)
	if again := f.issuer.Requests("/token"); again != asked {
		t.Errorf("an hour without users who are signed in: got %d requests for tokens, want none", again-asked)
	}
}

// A user whom the issuer does not confirm for a day is signed out, whatever it answers: some have no answer for users who were removed.
func TestUserWhoIsNotConfirmedIsSignedOutAfterADay(t *testing.T) {
	f := startOIDC(t, settings{"oidc.allow_groups": "dev"})
	f.member("sub-1", "ada@example.org", "dev")
	token := f.browser().enter()
	f.issuer.Set(func() {
		f.issuer.Before = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(500)
			_, _ = w.Write([]byte(`{"error":"invalid_request"}`))
			return true
		}
	})
	f.Clock.Advance(23 * time.Hour)
	f.minutes(10)
	f.me(token)
	f.Clock.Advance(time.Hour)
	f.minutes(10)
	eventually(t, "the sign-out after a day", func() bool { return f.Call(http.MethodGet, "/me", token, nil).Code() == "auth.invalid_token" })
}

// The issuer has ended the sign-in, as Dex says it.
func TestRefreshTokenThatDexRefusesEndsTheSession(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	token := f.browser().enter()
	f.issuer.Set(func() {
		f.issuer.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"error":"invalid_request","error_description":"the token was revoked"}`))
			return true
		}
	})
	f.minutes(57)
	eventually(t, "the sign-out", func() bool { return f.Call(http.MethodGet, "/me", token, nil).Code() == "auth.invalid_token" })
}

// While an issuer is down its users stay signed in, for hours, and the issuer is asked again.
func TestSilentIssuerSignsNobodyOut(t *testing.T) {
	f := startOIDC(t, settings{"oidc.allow_groups": "dev"})
	f.member("sub-1", "ada@example.org", "dev")
	token := f.browser().enter()
	f.member("sub-1", "ada@example.org", "sales")
	for _, status := range []int{500, 401, 429, 400, 302} {
		f.issuer.Set(func() {
			f.issuer.Before = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return true }
		})
		// The process with the job may not have discovered the issuer yet.
		requests := func() int {
			return f.issuer.Requests("/token") + f.issuer.Requests("/.well-known/openid-configuration")
		}
		before := requests()
		f.minutes(70)
		f.me(token)
		if requests() == before {
			t.Errorf("70 minutes with an issuer that answers %d: got no request, want some", status)
		}
	}
	f.issuer.Set(func() { f.issuer.Before = nil })
	f.minutes(6)
	eventually(t, "the sign-out once the issuer answers", func() bool { return f.Call(http.MethodGet, "/me", token, nil).Code() == "auth.invalid_token" })
}

// Where groups matter and the issuer gives no refresh tokens, a session ends within the hour.
func TestSessionWithoutRefreshTokenLivesAnHour(t *testing.T) {
	f := startOIDC(t, settings{"oidc.allow_groups": "dev"})
	f.issuer.Set(func() { f.issuer.NoRefresh = true })
	f.member("sub-1", "ada@example.org", "dev")
	token := f.browser().enter()
	f.Clock.Advance(59 * time.Minute)
	f.me(token)
	f.Clock.Advance(time.Minute)
	f.call(http.MethodGet, "/me", token, 401, "auth.invalid_token")
}

func TestPasswordsOff(t *testing.T) {
	f := startOIDC(t, settings{"access.password": "off"})
	want(t, f.Call(http.MethodPost, "/auth/register", "", fields{"email": "ada@example.org", "password": userPassword}), 403, "access.closed")
	want(t, f.Call(http.MethodPost, "/auth/token", "", fields{"email": "ada@example.org", "password": userPassword}), 403, "access.closed")
	want(t, f.Call(http.MethodPost, "/auth/password/forgot", "", fields{"email": "ada@example.org"}), 403, "access.closed")
	f.member("sub-1", "ada@example.org")
	token := f.browser().enter()
	want(t, f.Call(http.MethodPost, "/me/password", token, fields{"current": "", "password": userPassword}), 422, "account.password_wrong")
	f.Clock.Advance(11 * time.Minute)
	want(t, f.Call(http.MethodDelete, "/me", token, fields{"password": ""}), 422, "account.password_wrong")
	fresh := f.browser().enter()
	want(t, f.Call(http.MethodDelete, "/me", fresh, fields{"password": ""}), 204, "")
	f.call(http.MethodGet, "/me", token, 401, "auth.invalid_token")
	for _, table := range []string{"oidc_link", "user_token"} {
		var n int
		if err := f.Database().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
			t.Errorf("rows of %s after the account was deleted: got %d, %v, want none", table, n, err)
		}
	}
	if got := f.me(f.browser().enter()); got.Email != "ada@example.org" {
		t.Errorf("GET /me of a user who comes again: got %+v, want a new account", got)
	}
}

func TestDisabledAccountIsRefusedWithAnIssuer(t *testing.T) {
	f := startOIDC(t, nil)
	f.member("sub-1", "ada@example.org")
	f.browser().enter()
	if _, err := f.Database().Exec("UPDATE account SET disabled = 1"); err != nil {
		t.Fatal(err)
	}
	a, _ := f.browser().signIn()
	want(t, a, 403, "oidc.not_allowed")
}

// 1,000 callbacks and tickets of no sign-in show nothing, and each operation is limited by address.
func TestGuessedSignInsShowNothing(t *testing.T) {
	f := startOIDC(t, nil)
	f.account("ada@example.org")
	f.member("sub-1", "ada@example.org")
	_, result := f.browser().signIn()
	ticket := f.ticketOf(result, "password")
	before := f.issuer.Requests("/token")
	for n := range 500 {
		guess := fmt.Sprintf("%.20s%06d", ticket, n)
		want(t, f.Call(http.MethodPost, "/auth/oidc/finish", "", fields{"ticket": guess, "password": userPassword}), 400, "oidc.failed")
		a := f.browser().get("/auth/oidc/callback?code=" + guess + "&state=" + guess)
		want(t, a, 400, "oidc.failed")
		if len(a.Header.Values("Set-Cookie")) > 0 {
			t.Fatalf("%s: got the cookies %q, want none", a.Request, a.Header.Values("Set-Cookie"))
		}
	}
	if after := f.issuer.Requests("/token"); after != before {
		t.Errorf("500 guessed callbacks: got %d requests for tokens, want none", after-before)
	}
	limited := startOIDC(t, settings{"limits.other": "1/1h", "limits.signin_address": "2/1h"})
	limited.browser().get("/auth/oidc/start")
	want(t, limited.browser().get("/auth/oidc/start"), 429, "rate.limited")
	want(t, limited.browser().get("/auth/oidc/callback?code=x&state=y"), 400, "oidc.failed")
	want(t, limited.Call(http.MethodPost, "/auth/oidc/finish", "", fields{"ticket": "x"}), 400, "oidc.failed")
	want(t, limited.browser().get("/auth/oidc/callback?code=x&state=y"), 429, "rate.limited")
	want(t, limited.Call(http.MethodPost, "/auth/oidc/finish", "", fields{"ticket": "x"}), 429, "rate.limited")
}

func TestNoIssuer(t *testing.T) {
	s := startAccounts(t, nil)
	s.call(http.MethodGet, "/auth/oidc/start", "", 403, "oidc.missing")
	s.call(http.MethodGet, "/auth/oidc/callback?code=x&state=y", "", 403, "oidc.missing")
	want(t, s.Call(http.MethodPost, "/auth/oidc/finish", "", fields{"ticket": "x"}), 400, "oidc.failed")
}

// Neither refresh tokens nor tickets can be read from the database, and logs have no secrets.
func TestSecretsOfSignInsAreSealed(t *testing.T) {
	f := startOIDC(t, nil)
	f.account("bob@example.org")
	f.member("sub-1", "ada@example.org")
	f.browser().enter()
	f.member("sub-2", "bob@example.org")
	_, result := f.browser().signIn()
	ticket := f.ticketOf(result, "password")
	for _, query := range []string{"SELECT refresh FROM oidc_link", "SELECT identity FROM oidc_step WHERE account_id IS NOT NULL", "SELECT hash FROM oidc_step WHERE account_id IS NOT NULL"} {
		var stored []byte
		if err := f.Database().QueryRow(query).Scan(&stored); err != nil {
			t.Fatalf("query %s: got the error %v, want a row", query, err)
		}
		if text := string(stored); len(stored) == 0 || strings.Contains(text, ticket) || strings.Contains(text, "sub-") || strings.Contains(text, "bob@") {
			t.Errorf("%s: got %q, want nothing readable", query, text)
		}
	}
}

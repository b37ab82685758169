package oidc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/oidc"
)

// known fails unless an error is none or of one of the two kinds.
func known(t *testing.T, what string, err error) {
	t.Helper()
	if got := kind(err); strings.HasPrefix(got, "other") {
		t.Errorf("%s: got the error %v, want none, ErrRefused or ErrUnavailable", what, err)
	}
}

func FuzzCookie(f *testing.F) {
	c := start(f, nil)
	a, err := c.Begin(f.Context())
	if err != nil {
		f.Fatalf("Begin: %v", err)
	}
	f.Add(a.State, a.Cookie)
	f.Add(a.State, a.Cookie[1:])
	f.Add("", "")
	f.Add("x", "AAAA")
	f.Fuzz(func(t *testing.T, state, cookie string) {
		_, err := c.Open(state, cookie)
		known(t, "Open", err)
		if _, err := c.Open(state+"x", cookie); kind(err) != "refused" {
			t.Errorf("Open(%q, %q) with an x behind the state: got %s, want refused", state, cookie, kind(err))
		}
	})
}

func FuzzClaims(f *testing.F) {
	f.Add([]byte(`{"email":"ada@example.org","email_verified":true,"groups":["dev"]}`))
	f.Add([]byte(`{"email":null,"email_verified":"true","groups":"dev"}`))
	f.Add([]byte(`{"email":{},"groups":[1,[],{}]}`))
	f.Add([]byte(`[]`))
	c := start(f, nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		var claims map[string]json.RawMessage
		if json.Unmarshal(text, &claims) != nil {
			return
		}
		said := map[string]any{}
		for name, value := range claims {
			said[name] = value
		}
		c := &fixture{Client: c.Client, t: t, issuer: c.issuer, clock: c.clock}
		c.claims(said)
		who, err := c.signIn()
		known(t, "a sign-in", err)
		if err != nil {
			return
		}
		if who.EmailVerified && !strings.Contains(string(text), "tru") && !strings.Contains(string(text), `\u`) {
			t.Errorf("the claims %q: got a verified address, want none where nothing says true", text)
		}
		for _, g := range who.Groups {
			if g != "" && len(g) > len(text)*3 { // an invalid octet becomes three
				t.Errorf("the claims %q: got the group %q, want one of them", text, g)
			}
		}
	})
}

// fuzzAnswer fuzzes what the issuer answers to requests for a path.
func fuzzAnswer(f *testing.F, path string, seeds ...string) {
	f.Helper()
	for _, seed := range seeds {
		f.Add(200, seed)
	}
	f.Add(400, `{"error":"invalid_grant"}`)
	f.Add(500, "")
	c := start(f, nil)
	if path != "/.well-known/openid-configuration" {
		if err := c.Discover(f.Context()); err != nil {
			f.Fatalf("Discover: %v", err)
		}
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 || status == 204 || status == 304 {
			status = 200
		}
		c := &fixture{Client: c.Client, t: t, issuer: c.issuer, clock: c.clock}
		c.answer(path, status, body)
		if path == "/.well-known/openid-configuration" {
			fresh, err := oidc.New(oidc.Config{Issuer: c.issuer.URL, ClientID: c.issuer.ClientID, Clock: c.clock})
			if err != nil {
				t.Fatalf("New: got the error %v, want none", err)
			}
			defer fresh.Close()
			known(t, "Discover", fresh.Discover(t.Context()))
			return
		}
		_, err := c.signIn()
		known(t, "a sign-in", err)
		_, err = c.Refresh(t.Context(), "sub-1", "a token")
		known(t, "Refresh", err)
	})
}

func FuzzTokenResponse(f *testing.F) {
	fuzzAnswer(f, "/token", `{"access_token":"a","token_type":"Bearer","expires_in":60,"id_token":"e30.e30.e30","refresh_token":"r"}`,
		`{"access_token":"a","expires_in":"never"}`, `{"access_token":"a","id_token":7}`, `access_token=a&id_token=b`, `{`)
}

func FuzzUserInfo(f *testing.F) {
	fuzzAnswer(f, "/userinfo", `{"sub":"sub-1","email":"ada@example.org","email_verified":"true","groups":["dev"]}`, `{"sub":7}`, `null`, `{"sub":"sub-1","groups":null}`)
}

func FuzzKeys(f *testing.F) {
	fuzzAnswer(f, "/keys", `{"keys":[]}`, `{"keys":[{"kty":"RSA","n":"AQ","e":"AQ"}]}`, `{"keys":[{"kty":"oct","k":"AA"}]}`, `{"keys":{}}`)
}

func FuzzDiscovery(f *testing.F) {
	fuzzAnswer(f, "/.well-known/openid-configuration", `{"issuer":"https://issuer.example"}`, `{"scopes_supported":"openid"}`, `[]`)
}

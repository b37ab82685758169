package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// mockUser is a user of mockoidc.
func mockUser(groups ...string) *mockoidc.MockUser {
	return &mockoidc.MockUser{Subject: "mock-1", Email: "ada@example.org", EmailVerified: true, Groups: groups}
}

// An issuer that others wrote signs users in and out.
func TestSignInWithMockOIDC(t *testing.T) {
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	m.FastForward(time.Until(apptest.Noon()))
	s := startAccounts(t, settings{
		"oidc.issuer": m.Issuer(), "oidc.client_id": m.ClientID, "oidc.client_secret": m.ClientSecret, "oidc.allow_groups": "dev", "oidc.staff_group": "admin",
	})
	f := &oidcFixture{service: s}
	signIn := func(user *mockoidc.MockUser) (apptest.Response, string) {
		m.QueueUser(user)
		return f.browser().signIn()
	}
	a, _ := signIn(mockUser("sales"))
	want(t, a, 403, "oidc.not_allowed")
	unverified := mockUser("dev")
	unverified.EmailVerified = false
	a, _ = signIn(unverified)
	want(t, a, 403, "oidc.email_unverified")
	ada := mockUser("dev", "admin")
	_, token := signIn(ada)
	if !strings.HasPrefix(token, "xu_") {
		t.Fatalf("the callback: got the result %q, want a user token", token)
	}
	if got := f.me(token); got.Email != "ada@example.org" || got.Role != "staff" {
		t.Errorf("GET /me: got %+v, want ada@example.org with the role staff", got)
	}
	m.FastForward(56 * time.Minute)
	ada.Groups = []string{"sales"}
	f.minutes(57)
	eventually(t, "the sign-out of a user who left the group", func() bool { return f.Call(http.MethodGet, "/me", token, nil).Code() == "auth.invalid_token" })
}

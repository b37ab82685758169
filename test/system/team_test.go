package system_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// team is an issuer with one member.
type team struct {
	*apptest.Issuer
	t *testing.T
}

func newTeam(t *testing.T) *team {
	t.Helper()
	i := apptest.NewIssuer(t)
	i.Now, i.User = time.Now, "member"
	i.Users["member"] = apptest.IssuerUser{Subject: "member", Claims: map[string]any{"email": "member@example.org", "email_verified": true}}
	return &team{i, t}
}

// settings are those of a service that the team signs in to.
func (i *team) settings() map[string]string {
	return map[string]string{"oidc.issuer": i.URL, "oidc.client_id": i.ClientID, "oidc.client_secret": i.ClientSecret}
}

// get requests an address that redirects.
func (i *team) get(client *http.Client, address string) *http.Response {
	i.t.Helper()
	res, err := client.Get(address)
	if err != nil {
		i.t.Fatalf("GET %s: got the error %v, want a redirect", address, err)
	}
	res.Body.Close()
	if res.StatusCode/100 != 3 {
		i.t.Fatalf("GET %s: got %d, want a redirect", address, res.StatusCode)
	}
	return res
}

// visit goes to the issuer as a browser does. It returns where the issuer sends the browser back to, as the service's own address instead of
// the one below base_url, whose name is not looked up, and the cookies for it.
func (i *team) visit(s *service) (back string, cookies []*http.Cookie) {
	i.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	begun := i.get(client, s.url+"/auth/oidc/start")
	address := i.get(client, begun.Header.Get("Location")).Header.Get("Location")
	u, err := url.Parse(address)
	if err != nil {
		i.t.Fatalf("the issuer redirects to %q: %v", address, err)
	}
	return s.url + strings.TrimPrefix(u.RequestURI(), "/api/v1"), begun.Cookies()
}

// signIn signs the user of the issuer in as a browser does, and returns the identifier of the account.
func (i *team) signIn(s *service) (account string) {
	i.t.Helper()
	back, cookies := i.visit(s)
	r, err := http.NewRequest(http.MethodGet, back, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		i.t.Fatalf("GET %s: got the error %v, want a redirect", back, err)
	}
	res.Body.Close()
	for _, c := range res.Cookies() {
		if c.Name != "gonebox_sign_in" {
			continue
		}
		status, text := s.call(http.MethodGet, "/me", c.Value, nil)
		var me struct{ Data struct{ ID string } }
		if err := json.Unmarshal(text, &me); err != nil || status != http.StatusOK {
			i.t.Fatalf("GET /me: got %d %s, %v, want an account", status, text, err)
		}
		return me.Data.ID
	}
	i.t.Fatalf("the callback %s: got %d and no cookie with a user token, want one", back, res.StatusCode)
	return ""
}

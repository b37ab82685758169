package blackbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// tokenScopes are the scopes that a key needs to be given mailbox tokens: together they allow what a token allows.
var tokenScopes = []string{"messages:read", "otp:read", "mailboxes:write"}

// For every combination of scopes, a token is returned if the key may do all that the token may; otherwise the field is
// absent.
func TestKeyGetsTokensOnlyWithTheirScopes(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"plans.free.keys.max": "16", "plans.free.mailboxes.max": "100"})
	u := s.account("ada@example.org")
	s.create(u.Token, nil)
	for set := 1; set < 1<<len(allScopes); set++ {
		var scopes []string
		for i, scope := range allScopes {
			if set&(1<<i) != 0 {
				scopes = append(scopes, scope)
			}
		}
		k := s.key(u, fields{"scopes": scopes})
		gets := !slices.ContainsFunc(tokenScopes, func(needed string) bool { return !slices.Contains(scopes, needed) })
		for method, needs := range map[string]string{http.MethodGet: "mailboxes:read", http.MethodPost: "mailboxes:write"} {
			if !slices.Contains(scopes, needs) {
				continue
			}
			a := s.Call(method, "/keys/mailboxes", k.Key, nil)
			if a.Status/100 != 2 || strings.Contains(string(a.Body), `"token"`) != gets {
				t.Errorf("%s /keys/mailboxes with %v: %d %s, want success, and tokens: %t", method, scopes, a.Status, a.Body, gets)
			}
		}
	}
	list := get[[]mailbox](s, "/me/mailboxes", u.Token)
	if slices.ContainsFunc(list, func(m mailbox) bool { return m.Token == "" }) {
		t.Errorf("GET /me/mailboxes = %+v, want a token in each", list)
	}
}

// withToken are the calls that a mailbox token may make on a message, with the status for a valid token; the last ends
// the mailbox.
func withToken(m message) []struct {
	call   string
	status int
} {
	one := "/messages/" + m.ID
	return []struct {
		call   string
		status int
	}{
		{"GET /mailboxes/me", 200},
		{"GET /mailboxes/me/messages", 200},
		{"GET /mailboxes/me/otp/latest", 200},
		{"GET /mailboxes/me/deliveries", 200},
		{"GET " + one, 200},
		{"GET " + one + "/raw", 200},
		{"GET " + one + "/checks", 200},
		{"GET " + one + "/attachments/" + m.Attachments[0].ID, 200},
		{"POST /mailboxes/me/extend", 200},
		{"POST /mailboxes/me/messages", 201},
		{"PATCH " + one, 200},
		{"DELETE " + one, 204},
		{"DELETE /mailboxes/me", 204},
	}
}

// deliveredTo delivers a mail with a code and a file to a mailbox.
func (s *service) deliveredTo(m mailbox) message {
	s.t.Helper()
	got := s.mail(m.box(), apptest.Mail{Raw: mailWithFile})
	return get[message](s, "/messages/"+got.ID, m.Token)
}

func TestTokenIsRefusedOutsideNetworksOfItsKey(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"http.trusted_proxies": "127.0.0.1/32"})
	u := s.account("ada@example.org")
	k := s.key(u, fields{"allowedCidrs": []string{"192.0.2.0/24"}, "scopes": allScopes})
	from := func(addr, method, path, token string) apptest.Response {
		return s.do(method, path, token, nil, func(r *http.Request) { r.Header.Set("X-Forwarded-For", addr) })
	}
	const inside, outside = "192.0.2.7", "192.0.3.7"
	own := s.create(u.Token, nil)
	delivered := s.deliveredTo(own)
	tokens := make(map[string]string)
	var list []mailbox
	from(inside, http.MethodGet, "/keys/mailboxes", k.Key).Into(t, &list)
	tokens["listed"] = list[0].Token
	var extended mailbox
	from(inside, http.MethodPost, "/mailboxes/me/extend", list[0].Token).Into(t, &extended)
	tokens["extended"] = extended.Token
	for what, token := range tokens {
		for _, c := range withToken(delivered) {
			method, path, _ := strings.Cut(c.call, " ")
			want(t, from(outside, method, path, token), 403, "auth.address_not_allowed")
			if method == http.MethodGet {
				if a := from(inside, method, path, token); a.Status != c.status {
					t.Errorf("%s with the %s token: %d %s, want Status %v", c.call, what, a.Status, a.Body, c.status)
				}
				want(t, from(outside, method, path, own.Token), c.status, "")
			}
		}
	}
	var made mailbox
	from(inside, http.MethodPost, "/keys/mailboxes", k.Key).Into(t, &made)
	want(t, from(outside, http.MethodGet, "/mailboxes/me", made.Token), 403, "auth.address_not_allowed")
	s.Clock.Advance(8 * 24 * time.Hour)
	want(t, from(outside, http.MethodGet, "/mailboxes/me", made.Token), 403, "auth.address_not_allowed") // not told that it has expired
	want(t, from(inside, http.MethodGet, "/mailboxes/me", made.Token), 410, "mailbox.expired")
}

// waysToEnd are the ways in which a key ends.
var waysToEnd = map[string]func(s *service, u user, k developerKey){
	"revoked": func(s *service, u user, k developerKey) {
		s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, u.Token, 204, "")
	},
	"expired": func(s *service, _ user, k developerKey) { s.Clock.Advance(k.ExpiresAt.Sub(s.Clock.Now())) },
	"disabled": func(s *service, u user, _ developerKey) {
		if _, err := s.Database().Exec("UPDATE account SET disabled = 1 WHERE id = $1", u.Account.ID); err != nil {
			s.t.Fatal(err)
		}
	},
}

func TestTokenEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	for how, end := range waysToEnd {
		t.Run(how, func(t *testing.T) {
			u := s.account(how + "@example.org")
			k, other := s.key(u, fields{"expiresAt": s.Clock.Now().Add(time.Hour)}), s.key(u, nil)
			m := s.keyMailbox(k, nil)
			delivered := s.deliveredTo(m)
			var extended mailbox
			s.Call(http.MethodPost, "/mailboxes/me/extend", m.Token, nil).Into(t, &extended)
			own := get[[]mailbox](s, "/me/mailboxes", u.Token)[0].Token
			others := get[[]mailbox](s, "/keys/mailboxes", other.Key)[0].Token
			end(s, u, k)
			for _, c := range withToken(delivered) {
				method, path, _ := strings.Cut(c.call, " ")
				for _, token := range []string{m.Token, extended.Token} {
					s.call(method, path, token, 401, "auth.invalid_token")
				}
			}
			s.call(http.MethodGet, "/mailboxes/me", own, 200, "")
			if how == "disabled" {
				s.call(http.MethodGet, "/mailboxes/me", others, 401, "auth.invalid_token")
			} else {
				s.call(http.MethodGet, "/mailboxes/me", others, 200, "")
			}
		})
	}
}

// A wait that depends on a key, directly or by a token, ends with the key and returns nothing afterwards.
func TestWaitEndsWithItsKey(t *testing.T) {
	t.Parallel()
	for how, end := range waysToEnd {
		t.Run(how, func(t *testing.T) {
			s := startKeys(t, nil)
			u := s.account("ada@example.org")
			k := s.key(u, fields{"expiresAt": s.Clock.Now().Add(time.Hour)})
			m := s.keyMailbox(k, nil)
			of := "/keys/mailboxes/" + m.ID
			var answers []func() apptest.Response
			for range 2 { // on PostgreSQL, at each of two processes
				answers = append(answers, s.waiting(waitForMail, m.Token), s.waiting(waitForCode, m.Token),
					s.waiting(of+"/messages?wait=60", k.Key), s.waiting(of+"/otp/latest?wait=60", k.Key))
			}
			own := get[[]mailbox](s, "/me/mailboxes", u.Token)[0].Token
			mail := s.waiting(waitForMail, own)
			end(s, u, k)
			if how == "expired" { // a moment that no call brings about: it is noticed when there is something to answer with
				s.Send(apptest.Mail{To: []string{m.Address}, Subject: "Sign in", Text: "Your verification code is 482913."})
			}
			for _, answer := range answers {
				want(t, answer(), 401, "auth.invalid_token")
			}
			if how == "disabled" { // a disabled account receives no mail
				if _, err := s.Database().Exec("UPDATE account SET disabled = 0"); err != nil {
					t.Fatal(err)
				}
			}
			if how != "expired" {
				s.Send(apptest.Mail{To: []string{m.Address}})
			}
			want(t, mail(), 200, "")
		})
	}
}

// A wait does not outlast the key.
func TestWaitIsBoundedByKeyExpiry(t *testing.T) {
	t.Parallel()
	// The wait ends after so much real time. The test has set the clock on by then, and no wait looks again before 5 s.
	const soon = 4 * time.Second
	s := startKeys(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, fields{"expiresAt": s.Clock.Now().Add(soon)})
	m := s.keyMailbox(k, nil)
	answer := s.waiting(waitForMail, m.Token)
	s.Clock.Advance(soon)
	want(t, answer(), 401, "auth.invalid_token")
}

func TestTokenUseCountsAsKeyUse(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"http.trusted_proxies": "127.0.0.1/32"})
	u := s.account("ada@example.org")
	k := s.key(u, fields{"allowedCidrs": []string{"192.0.2.0/24"}})
	inside := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") }
	var m mailbox
	s.do(http.MethodPost, "/keys/mailboxes", k.Key, nil, inside).Into(t, &m)
	s.Clock.Advance(time.Minute)
	at := s.Clock.Now().Truncate(time.Millisecond)
	want(t, s.do(http.MethodGet, "/mailboxes/me", m.Token, nil, inside), 200, "")
	s.Clock.Advance(time.Second)
	s.call(http.MethodGet, "/mailboxes/me", m.Token, 403, "auth.address_not_allowed") // no use
	eventually(t, "the use", func() bool {
		s.Clock.Advance(30 * time.Second) // until the process that took the call has written it
		used := get[[]developerKey](s, "/me/api-keys", u.Token)[0].LastUsedAt
		return used != nil && used.Equal(at)
	})
}

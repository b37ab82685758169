package blackbox_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

func TestAccountListsItsMailboxes(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u, other := s.account("ada@example.org"), s.account("bob@example.org")
	if got := get[[]mailbox](s, "/me/mailboxes", u.Token); len(got) != 0 {
		t.Errorf("GET /me/mailboxes = %+v, want none", got)
	}
	var made []mailbox
	for _, ttl := range []int{60, 3 * day, 2 * day} {
		made = append(made, s.create(u.Token, body{"ttl": ttl}))
		s.Clock.Advance(time.Second)
	}
	s.create(other.Token, nil)
	s.create("", nil)
	destroyed := s.create(u.Token, nil)
	s.call(http.MethodDelete, "/mailboxes/me", destroyed.Token, 204, "")

	got := get[[]mailbox](s, "/me/mailboxes", u.Token)
	if len(got) != 3 || got[0].ID != made[2].ID || got[1].ID != made[1].ID || got[2].ID != made[0].ID {
		t.Fatalf("GET /me/mailboxes = %+v, want %s, %s and %s", got, made[2].ID, made[1].ID, made[0].ID)
	}
	for _, m := range got {
		if shown := get[mailbox](s, "/mailboxes/me", m.Token); shown.ID != m.ID || m.Source != "account" || m.Tier != "free" {
			t.Errorf(`%+v opens %+v, want ID %v, Source "account" and Tier "free"`, m, shown, m.ID)
		}
	}
	s.Clock.Advance(time.Minute)
	var p struct {
		Data       []mailbox
		NextCursor *string
	}
	for i, id := range []string{made[2].ID, made[1].ID} { // page by page, without the expired one
		path := "/me/mailboxes?limit=1"
		if p.NextCursor != nil {
			path += "&cursor=" + *p.NextCursor
		}
		if err := json.Unmarshal(s.call(http.MethodGet, path, u.Token, 200, "").Body, &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Data) != 1 || p.Data[0].ID != id || (p.NextCursor == nil) != (i == 1) {
			t.Errorf("page %d: %+v, want the mailbox %s alone, and a cursor unless it is the last", i, p, id)
		}
	}
}

func TestListingAccountMailboxesRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.other": "5/1h"})
	m, key := s.create("", nil), s.startSession().Key
	s.call(http.MethodGet, "/me/mailboxes", "", 401, "auth.required")
	for _, credential := range []string{m.Token, key, "xu_", mistyped(m.Token)} {
		s.call(http.MethodGet, "/me/mailboxes", credential, 401, "auth.invalid_token")
	}
	u := s.account("ada@example.org")
	for _, query := range []string{"limit=0", "cursor=x", "wait=1", "limit=1&limit=2"} {
		s.call(http.MethodGet, "/me/mailboxes?"+query, u.Token, 422, "request.invalid")
	}
	s.call(http.MethodGet, "/me/mailboxes", u.Token, 200, "")
	s.call(http.MethodGet, "/me/mailboxes", u.Token, 429, "rate.limited")
}

package blackbox_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// What an account has beyond the free plan stays readable when its subscription lapses, and nothing can be added to it.
func TestResourcesBeyondFreePlanStayReadable(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"plans.free.mailboxes.max": "1", "plans.free.filters.max": "1", "plans.free.mail.daily.max": "2", "webhooks.allow_networks": "127.0.0.0/8"})
	u := w.ada
	w.grant(u, 50)
	end := w.subscribe(u, "plus", "monthly").Subscription.CurrentPeriodEnd
	p := w.verified(u, shop)
	w.claim(u, "other.gonebox-tests.net")
	var boxes []mailbox
	for range 3 {
		boxes = append(boxes, w.create(u.Token, body{"ttl": 60 * day}))
	}
	w.filter(u, fields{"extractRegex": "a"})
	w.filter(u, fields{"extractRegex": "b"})
	old, second := w.key(u, nil), w.key(u, nil)
	w.create(u.Token, body{"domain": shop, "localPart": "ann", "ttl": 60 * day})
	for i := range 3 { // one more than the free plan takes in a day
		got := w.mail(boxes[0].box(), apptest.Mail{Subject: fmt.Sprint(i)})
		if full := get[message](w.service, "/messages/"+got.ID, boxes[0].Token); !full.RawExpiresAt.Equal(got.ReceivedAt.Add(time.Hour)) {
			t.Errorf("a raw message is kept until %s, want RawExpiresAt %v", full.RawExpiresAt, got.ReceivedAt.Add(time.Hour))
		}
	}
	w.register(u, unanswered)
	w.register(u, unanswered)
	u = w.again(u)
	w.until(end)

	w.stands("at once", u, "free", 0, "expired")
	for path, n := range map[string]int{"/me/mailboxes": 4, "/me/filters": 2, "/me/api-keys": 2, "/me/domains": 2, "/me/webhooks": 2} {
		if got := get[[]any](w.service, path, u.Token); len(got) != n {
			t.Errorf("GET %s lists %d, want %d as before", path, len(got), n)
		}
	}
	if got := get[[]summary](w.service, "/mailboxes/me/messages", boxes[0].Token); len(got) != 3 {
		t.Errorf("%d messages are left, want 3", len(got))
	}
	for _, k := range []developerKey{old, second} {
		w.call(http.MethodGet, "/keys/mailboxes/"+boxes[0].ID+"/messages", k.Key, 200, "")
	}

	post := func(path string, params any, status int, code string) {
		t.Helper()
		want(t, w.Call(http.MethodPost, path, u.Token, params), status, code)
	}
	post("/mailboxes", nil, 422, "mailbox.limit_reached")
	post("/mailboxes", body{"ttl": 7*day + 1}, 422, "mailbox.ttl_too_long")
	want(t, w.Call(http.MethodPost, "/keys/mailboxes", old.Key, nil), 422, "mailbox.limit_reached")
	want(t, w.Call(http.MethodPost, "/mailboxes/me/extend", boxes[0].Token, body{"ttl": 7*day + 1}), 403, "mailbox.lifetime_exceeded")
	post("/me/filters", fields{"name": "n", "extractRegex": "c"}, 422, "filter.limit_reached")
	post("/me/api-keys", fields{"name": "n", "scopes": allScopes}, 403, "key.limit_reached")
	post("/me/domains", body{"domain": "third.gonebox-tests.net"}, 403, "domain.limit_reached")
	post("/me/webhooks", unanswered, 403, "webhook.limit_reached")
	if got := w.mail(boxes[0].box(), apptest.Mail{}); got.ID == "" {
		t.Error("mail within the free plan was refused, want it stored")
	} else if full := get[message](w.service, "/messages/"+got.ID, boxes[0].Token); !full.RawExpiresAt.Equal(got.ReceivedAt.Add(15 * time.Minute)) {
		t.Errorf("a raw message is kept until %s, want RawExpiresAt %v", full.RawExpiresAt, got.ReceivedAt.Add(15*time.Minute))
	}
	w.refused("new@"+shop, "452")
	w.mail(boxes[1].box(), apptest.Mail{})
	w.refused(boxes[0].Address, "452")
	want(t, w.verify(u, p), 200, "")

	// Deleting resources frees their quota again.
	for _, f := range get[[]extraction](w.service, "/me/filters", u.Token) {
		w.call(http.MethodDelete, "/me/filters/"+f.ID, u.Token, 204, "")
	}
	w.filter(u, fields{"extractRegex": "c"})
	w.grant(u, 50)
	w.subscribe(u, "plus", "monthly")
	w.create(u.Token, body{"ttl": 60 * day})
	w.mail(boxes[0].box(), apptest.Mail{})
}

// unanswered is an endpoint on which no process listens.
var unanswered = fields{"url": "https://127.99.0.1:8443/hook", "events": []string{"message.received"}}

// Each entitlement is the better of the assigned and the bought plan, and the end of the subscription leaves the
// assigned plan.
func TestBetterOfAssignedAndBoughtPlanApplies(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	s.grant(u, 250)
	s.plan(u, "pro")
	s.stands("assigned", u, "pro", 250, "")
	end := s.subscribe(u, "plus", "monthly").Subscription.CurrentPeriodEnd
	s.stands("with a lesser one bought", u, "pro", 200, "active")
	s.plan(u, "free")
	s.stands("with the bought one alone", u, "plus", 200, "active")
	s.subscribe(u, "pro", "monthly")
	s.plan(u, "plus")
	s.stands("with a better one bought", u, "pro", 0, "active")
	u = s.again(u)
	s.until(end)
	s.settled(u, 0, "expired")
	s.stands("when that has ended", u, "plus", 0, "expired")
}

// A period that ends while the service is down is renewed once when it is back, however long that took.
func TestPeriodsThatEndDuringDowntimeRenewOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		down time.Duration
		end  time.Time
	}{
		"an hour":     {31*24*time.Hour + time.Hour, apptest.Noon().AddDate(0, 2, 0)},
		"half a year": {180 * 24 * time.Hour, apptest.Noon().Add(180*24*time.Hour).AddDate(0, 1, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			s := startAccounts(t, settings{"account.token_ttl": "9000h"})
			u := s.account("ada@example.org")
			s.grant(u, 1000)
			s.subscribe(u, "plus", "monthly")
			s.Clock.Advance(c.down) // all of it at once, as for a service that was stopped
			s.settled(u, 900, "active")
			s.stands("back again", u, "plus", 900, "active")
			if got := s.standing(u).Subscription.CurrentPeriodEnd; !got.Equal(c.end) {
				t.Errorf("until %s, want %s", got, c.end)
			}
		})
	}
}

package blackbox_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// object is a JSON object with any fields.
type object map[string]any

// eventsByType returns the events that a receiver got, by type.
func (s *service) eventsByType(h hook, all []apptest.Delivery) map[string][]webhookEvent {
	s.t.Helper()
	byType := make(map[string][]webhookEvent)
	for _, d := range all {
		e := s.read(h.Secret, d)
		byType[e.Type] = append(byType[e.Type], e)
	}
	return byType
}

// is compares the data of an event with the resource as the API shows it, plus the fields that the event adds.
func (e webhookEvent) is(t *testing.T, resource, more object) {
	t.Helper()
	var data object
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	wanted := maps.Clone(resource)
	maps.Copy(wanted, more)
	got, _ := json.Marshal(data)
	want, _ := json.Marshal(wanted)
	if !bytes.Equal(got, want) { // both in the order of their keys
		t.Errorf("%s has\n%s\nwant what the API shows\n%s", e.Type, got, want)
	}
}

func TestEventsMatchAPIResources(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, allEvents...)
	m := s.create(u.Token, body{"ttl": 3600})
	created := get[object](s, "/mailboxes/me", m.Token)
	s.mail(m.box(), apptest.Mail{Subject: "Hello <you> & me", Text: "nothing to see"})
	s.Clock.Advance(time.Second)
	s.mail(m.box(), apptest.Mail{Subject: "Your code", Text: "Your verification code is 482913."})
	messages := get[[]object](s, "/mailboxes/me/messages", m.Token) // newest first
	code := get[object](s, "/mailboxes/me/otp/latest", m.Token)
	of := s.eventsByType(h, arrived(t, r, 5))
	if len(of["message.received"]) != 2 || len(of["otp.extracted"]) != 1 || len(of["mailbox.created"]) != 1 {
		t.Fatalf("the events by type are %v, want message.received twice, otp.extracted and mailbox.created", of)
	}
	place := object{"mailboxId": m.ID, "address": m.Address}
	for _, e := range of["message.received"] {
		i := slices.IndexFunc(messages, func(o object) bool { return bytes.Contains(e.Data, []byte(o["id"].(string))) })
		e.is(t, messages[i], place)
		if !e.Timestamp.Equal(parsed(t, messages[i]["receivedAt"])) {
			t.Errorf("timestamp %s, want Timestamp %v", e.Timestamp, parsed(t, messages[i]["receivedAt"]))
		}
	}
	of["otp.extracted"][0].is(t, code, place)
	of["mailbox.created"][0].is(t, created, object{"mailboxId": m.ID})

	s.attempted(u, h, 5) // settled before the clock takes their leases away
	expiring := get[object](s, "/mailboxes/me", m.Token)
	s.Clock.Advance(2 * time.Hour)
	eventually(t, "the expiry", func() bool { s.nextRound(); return len(r.Got()) > 5 })
	last := distinct(r)[5]
	var e webhookEvent
	if err := json.Unmarshal(last.Body, &e); err != nil || e.Type != "mailbox.expired" {
		t.Fatalf("the last delivery is %s, want mailbox.expired", last.Body)
	}
	e.is(t, expiring, object{"mailboxId": m.ID, "ttl": 0})
	if !e.Timestamp.Equal(m.ExpiresAt) {
		t.Errorf("timestamp %s, it expired at %s, want Timestamp %v", e.Timestamp, m.ExpiresAt, m.ExpiresAt)
	}
}

// distinct returns the events that a receiver got without repetitions. A test that moves the clock during deliveries
// expires their leases, so that some are sent twice.
func distinct(r *apptest.Receiver) (all []apptest.Delivery) {
	for _, d := range r.Got() {
		if !slices.ContainsFunc(all, func(before apptest.Delivery) bool { return before.Event() == d.Event() }) {
			all = append(all, d)
		}
	}
	return all
}

func parsed(t *testing.T, stamp any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, stamp.(string))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestDomainEvents(t *testing.T) {
	t.Parallel()
	w := startDomains(t, hookSettings(settings{"domain.recheck_every": "1h", "domain.suspend_after": "1"}))
	r := authority.NewReceiver(t)
	h := w.hook(w.ada, r, "domain.verified", "domain.suspended")
	p := w.verified(w.ada, shop)
	shown := get[[]object](w.service, "/me/domains", w.ada.Token)[0]
	e := w.read(h.Secret, arrived(t, r, 2)[1])
	if e.Type != "domain.verified" {
		t.Errorf("the delivery is of the type %s, want domain.verified", e.Type)
	}
	e.is(t, shown, nil)
	want(t, w.verify(w.ada, p), 200, "") // it is verified already: no news

	w.attempted(w.ada, h, 2) // settled before the clock takes its lease away
	w.dns.drop(shop + ".")
	w.Clock.Advance(2 * time.Hour)
	eventually(t, "the suspension", func() bool { w.nextRound(); return len(r.Got()) > 2 })
	shown = get[[]object](w.service, "/me/domains", w.ada.Token)[0]
	var got webhookEvent
	if all := distinct(r); len(all) != 3 {
		t.Errorf("%d events, want 3", len(all))
	} else if err := json.Unmarshal(all[2].Body, &got); err != nil || got.Type != "domain.suspended" {
		t.Errorf("the third delivery is %+v, want domain.suspended", got)
	}
	got.is(t, shown, nil)
}

func TestEndpointsReceiveOnlySubscribedEvents(t *testing.T) {
	t.Parallel()
	w := startDomains(t, hookSettings(nil))
	bob := w.account("bob@example.org")
	p := w.verified(w.ada, shop)
	codes, all, private, others := authority.NewReceiver(t), authority.NewReceiver(t), authority.NewReceiver(t), authority.NewReceiver(t)
	w.hook(w.ada, codes, "otp.extracted")
	w.hook(w.ada, all, "message.received")
	w.register(w.ada, fields{"url": private.URL, "events": []string{"message.received", "mailbox.created"}, "domainId": p.ID})
	w.hook(bob, others, allEvents...)
	arrived(t, private, 1) // the ping is not restricted

	public, guest := w.create(w.ada.Token, nil), w.create("", nil)
	w.mail(guest.box(), apptest.Mail{Subject: "Your code is 482913", Text: "Your code is 482913"})
	w.mail(public.box(), apptest.Mail{Subject: "no code", Text: "no code"})
	w.Send(apptest.Mail{To: []string{"sales@" + shop, public.Address}, Subject: "to two", Text: "one mail"}) // opens a mailbox

	arrived(t, all, 1+3)
	got := arrived(t, private, 1+2)
	types := []string{}
	for _, d := range got[1:] {
		var e webhookEvent
		if err := json.Unmarshal(d.Body, &e); err != nil {
			t.Fatal(err)
		}
		types = append(types, e.Type)
		if !bytes.Contains(d.Body, []byte("sales@"+shop)) {
			t.Errorf("the delivery is %s, want sales@%s in it", d.Body, shop)
		}
	}
	slices.Sort(types)
	if !slices.Equal(types, []string{"mailbox.created", "message.received"}) {
		t.Errorf("the deliveries are of the types %v, want %v", types, []string{"mailbox.created", "message.received"})
	}
	arrived(t, codes, 1)
	arrived(t, others, 1)
}

func TestRefusedMailPublishesNoEvent(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(settings{"plans.free.mail.daily.max": "2"}))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	s.hook(u, r, "message.received", "mailbox.created")
	m, other := s.create(u.Token, nil), s.create(u.Token, nil)
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "the first"})
	// The second recipient exceeds a limit, so the mail is stored for neither.
	if err := s.TrySend(apptest.Mail{To: []string{m.Address, other.Address}, Subject: "refused"}); err == nil {
		t.Fatal("a mail that exceeds a limit of its second recipient was taken, want it refused")
	}
	if err := s.TrySend(apptest.Mail{To: []string{m.Address}, Raw: []byte("Subject: bare\r\n\r\na \x00\r\n")}); err == nil {
		t.Fatal("a mail with a bare NUL was taken, want it refused")
	}
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "the second"})
	for _, d := range arrived(t, r, 1+2+2) {
		if bytes.Contains(d.Body, []byte("refused")) || bytes.Contains(d.Body, []byte("bare")) {
			t.Errorf("the delivery is %s, want none of a mail that was refused", d.Body)
		}
	}
}

// An event has one identifier for all endpoints.
func TestEventIsTheSameForEveryEndpoint(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u := s.account("ada@example.org")
	first, second := authority.NewReceiver(t), authority.NewReceiver(t)
	a, b := s.hook(u, first, "mailbox.created"), s.hook(u, second, "mailbox.created")
	if a.Secret == b.Secret {
		t.Error("two endpoints have the same secret, want one for each")
	}
	s.create(u.Token, nil)
	x, y := arrived(t, first, 2)[1], arrived(t, second, 2)[1]
	s.read(a.Secret, x)
	s.read(b.Secret, y)
	if x.Event() != y.Event() || !bytes.Equal(x.Body, y.Body) {
		t.Errorf("one endpoint got %s: %s\nthe other %s: %s\nwant the same", x.Event(), x.Body, y.Event(), y.Body)
	}
	s.call(http.MethodDelete, "/me/webhooks/"+a.ID, u.Token, 204, "")
	s.create(u.Token, nil)
	arrived(t, second, 3)
	arrived(t, first, 2)
}

package blackbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func unmarshal(t testing.TB, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
}

const shop = "shop.gonebox-tests.net"

func TestCatchAllOpensMailbox(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	w.verified(w.ada, shop)
	for to, address := range map[string]string{
		"ann@" + shop: "ann", "Bob+tag@" + shop: "bob", `"carol"@` + shop: "carol", "postmaster@" + shop: "postmaster", "dave@SHOP.gonebox-tests.net": "dave",
		"o'hara=x@" + shop: "o'hara=x", strings.Repeat("l", 64) + "@" + shop: strings.Repeat("l", 64),
	} {
		w.Send(apptest.Mail{To: []string{to}, Subject: "to " + to, Text: "Your code is 482913"})
		m, ok := w.boxes(w.ada)[address+"@"+shop]
		if !ok || m.Source != "catchall" || m.TTL != day || m.Tier != "free" || m.Domain != shop || m.LocalPart != address || m.MessageCount != 1 {
			t.Fatalf("%s opened the mailbox %+v, want %s at %s, a catch-all mailbox of the free plan with one message", to, m, address, shop)
		}
		list := get[[]summary](w.service, "/mailboxes/me/messages", m.Token)
		if len(list) != 1 || list[0].Subject != "to "+to || list[0].OTP == nil || list[0].OTP.Code != "482913" {
			t.Errorf("GET /mailboxes/me/messages of %s = %+v, want the mail to it with the code 482913", to, list)
		}
	}
	for _, local := range []string{`"a b"`, `"a@b"`, `""`, `".a"`} {
		w.refused(local+"@"+shop, "550 5.1.1")
	}
	w.refused("ann@below."+shop, "550 5.7.1")
	w.refused("unknown@gonebox.localhost", "550 5.1.1")
	if n := len(w.boxes(w.ada)); n != 7 {
		t.Errorf("%d mailboxes, want 7", n)
	}
}

// RCPT alone creates no mailbox.
func TestRecipientWithoutMailOpensNoMailbox(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	w.verified(w.ada, shop)
	if err := w.TrySend(apptest.Mail{To: []string{"ann@" + shop, "unknown@gonebox.localhost"}}); err == nil {
		t.Error("a mail to an unknown recipient as well was taken, want it refused")
	}
	if got := w.boxes(w.ada); len(got) != 0 {
		t.Errorf("GET /me/mailboxes = %v, want none", got)
	}
}

func TestMailOpensMailboxForEachRecipient(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"plans.free.mailboxes.max": "3"})
	w.verified(w.ada, shop)
	w.Send(apptest.Mail{To: []string{"ann@" + shop, "bob@" + shop, "Ann+again@" + shop}})
	if got := w.boxes(w.ada); len(got) != 2 || got["ann@"+shop].MessageCount != 1 || got["bob@"+shop].MessageCount != 1 {
		t.Errorf("GET /me/mailboxes: got %+v, want ann's and bob's at %s, each with one message", got, shop)
	}
	// Two more mailboxes exceed the limit: neither is created, and the first recipient does not get the mail either.
	if got := replyOf(w.TrySend(apptest.Mail{To: []string{"ann@" + shop, "carol@" + shop, "dave@" + shop}})); !strings.HasPrefix(got, "452 4.2.2") {
		t.Errorf("the reply to a mail to three recipients is %s, want 452 4.2.2", got)
	}
	if got := w.boxes(w.ada); len(got) != 2 || got["ann@"+shop].MessageCount != 1 {
		t.Errorf("GET /me/mailboxes = %+v, want two, with one message for ann", got)
	}
	w.Send(apptest.Mail{To: []string{"ann@" + shop, "carol@" + shop}})
}

// Concurrent mails to the same unused addresses: each address is opened once and no mail is lost.
func TestConcurrentMailOpensMailboxOnce(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	w.verified(w.ada, shop)
	const senders, addresses = 24, 3
	errs := make([]error, senders)
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			errs[i] = w.TrySend(apptest.Mail{To: []string{fmt.Sprintf("new-%d@%s", i%addresses, shop)}, Subject: fmt.Sprint(i)})
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	got := w.boxes(w.ada)
	for address, m := range got {
		if n := len(get[[]summary](w.service, "/mailboxes/me/messages", m.Token)); n != senders/addresses || m.MessageCount != n {
			t.Errorf("%s has %d messages and counts %d, want %d", address, n, m.MessageCount, senders/addresses)
		}
	}
	if len(got) != addresses {
		t.Errorf("GET /me/mailboxes = %v, want %d", got, addresses)
	}
}

func TestFullAccountDefersMail(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"plans.free.mailboxes.max": "2", "plans.free.mail.daily.max": "5"})
	w.verified(w.ada, shop)
	made := w.create(w.ada.Token, body{"ttl": 60})
	w.Send(apptest.Mail{To: []string{"ann@" + shop}})
	w.refused("bob@"+shop, "452 4.2.2")
	w.Send(apptest.Mail{To: []string{"ann@" + shop}})
	w.Clock.Advance(time.Minute) // the first has expired, whether it was found to be or not
	w.Send(apptest.Mail{To: []string{"bob@" + shop}})
	w.refused("carol@"+shop, "452 4.2.2")
	w.call(http.MethodDelete, "/mailboxes/me", w.boxes(w.ada)["bob@"+shop].Token, 204, "")
	w.Send(apptest.Mail{To: []string{"bob@" + shop}})
	w.Send(apptest.Mail{To: []string{"ann@" + shop}})
	w.call(http.MethodDelete, "/mailboxes/me", w.boxes(w.ada)["bob@"+shop].Token, 204, "")
	w.refused("carol@"+shop, "452 4.2.2") // the day's fifth was the last
	w.Clock.Advance(24 * time.Hour)
	w.Send(apptest.Mail{To: []string{"carol@" + shop}})
	w.call(http.MethodGet, "/mailboxes/me", made.Token, 410, "mailbox.expired")
}

// A filter of a domain applies to all of its mailboxes, from the mail that opens one on, and to no others.
func TestDomainFilterAppliesToItsMailboxes(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	p := w.verified(w.ada, shop)
	w.filter(w.ada, fields{"scopeType": "domain", "domainId": p.ID, "extractRegex": `order (\w+)`})
	made, elsewhere := w.create(w.ada.Token, body{"domain": shop}), w.create(w.ada.Token, nil)
	w.Send(apptest.Mail{To: []string{"new@" + shop, made.Address, elsewhere.Address}, Subject: "order AB12", Text: "Your verification code is 482913"})
	for _, m := range []mailbox{w.boxes(w.ada)["new@"+shop], made, elsewhere} {
		source, value := "filter", "AB12"
		if m.ID == elsewhere.ID {
			source, value = "builtin", "482913"
		}
		if got := get[code](w.service, "/mailboxes/me/otp/latest", m.Token); got.Source != source || got.Code != value {
			t.Errorf("the latest code of %s is %+v, want %q of the source %s", m.Address, got, value, source)
		}
	}
	bob := w.account("bob@example.org")
	want(t, w.Call(http.MethodPost, "/me/filters", bob.Token, fields{"name": "his", "scopeType": "domain", "domainId": p.ID, "extractRegex": "x"}), 422, "request.invalid")
}

// An address that expired or was destroyed is opened again by the next mail: with that mail alone, and new tokens.
func TestEndedCatchAllAddressOpensAgain(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	w.verified(w.ada, shop)
	for name, end := range map[string]func(mailbox){
		"expired":   func(m mailbox) { w.Clock.Advance(day * time.Second) },
		"destroyed": func(m mailbox) { w.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "") },
	} {
		t.Run(name, func(t *testing.T) {
			address := name + "@" + shop
			w.Send(apptest.Mail{To: []string{address}, Subject: "before"})
			before := w.boxes(w.ada)[address]
			end(before)
			w.Send(apptest.Mail{To: []string{address}, Subject: "after"})
			after := w.boxes(w.ada)[address]
			if list := get[[]summary](w.service, "/mailboxes/me/messages", after.Token); after.ID == before.ID || len(list) != 1 || list[0].Subject != "after" {
				t.Errorf("GET /mailboxes/me/messages = %+v, want the mail after in another mailbox than %s", list, before.ID)
			}
			if a := w.Call(http.MethodGet, "/mailboxes/me", before.Token, nil); a.Status == 200 {
				t.Errorf("the old token opens %s, want Status not 200", a.Body)
			}
		})
	}
}

func TestMailboxesNeedAnOwnDomain(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	bob := w.account("bob@example.org")
	w.verified(w.ada, shop)
	w.claim(bob, "pending.gonebox-tests.net")
	m := w.create(w.ada.Token, body{"domain": "SHOP.gonebox-tests.net.", "localPart": "ann"})
	if m.Address != "ann@"+shop || m.Source != "account" {
		t.Errorf("POST /mailboxes for ann at SHOP.gonebox-tests.net. = %+v, want ann@%s of the account", m, shop)
	}
	w.mail(m.box(), apptest.Mail{Subject: "to ann"})
	if got := w.create(w.ada.Token, body{"domain": shop}); got.Domain != shop {
		t.Errorf("POST /mailboxes at %s = %+v, want it there", shop, got)
	}
	k := w.key(w.ada, nil)
	if got := w.keyMailbox(k, body{"domain": shop}); got.Domain != shop || got.Source != "key" {
		t.Errorf("POST /keys/mailboxes at %s = %+v, want it there, made by the key", shop, got)
	}
	want(t, w.Call(http.MethodPost, "/keys/mailboxes", w.key(bob, nil).Key, body{"domain": shop}), 422, "mailbox.domain_unavailable")
	if got := w.create(w.ada.Token, nil); got.Domain != "gonebox.localhost" {
		t.Errorf(`w.create(w.ada.Token, nil) = %+v, want Domain "gonebox.localhost"`, got)
	}
	want(t, w.Call(http.MethodPost, "/mailboxes", w.ada.Token, body{"domain": shop, "localPart": "ann"}), 409, "mailbox.local_part_taken")
	for token, domain := range map[string]string{"": shop, w.startSession().Key: shop, bob.Token: shop} {
		want(t, w.Call(http.MethodPost, "/mailboxes", token, body{"domain": domain}), 422, "mailbox.domain_unavailable")
	}
	want(t, w.Call(http.MethodPost, "/mailboxes", bob.Token, body{"domain": "pending.gonebox-tests.net"}), 422, "mailbox.domain_unavailable")
	if a := w.call(http.MethodGet, "/domains", "", 200, ""); strings.Contains(string(a.Body), shop) {
		t.Errorf("GET /domains = %s, want no %s in it", a.Body, shop)
	}
}

func TestDeletingDomainEndsItsMailboxes(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"plans.free.mailboxes.max": "300", "plans.free.domains.max": "2"})
	p := w.verified(w.ada, shop)
	kept := w.create(w.ada.Token, nil)
	made := w.create(w.ada.Token, body{"domain": shop, "localPart": "made"})
	var to []string
	for i := range 90 {
		to = append(to, fmt.Sprintf("n%d@%s", i, shop))
	}
	w.Send(apptest.Mail{To: to})
	for i := range to {
		to[i] = "m" + to[i]
	}
	w.Send(apptest.Mail{To: to})
	var opened mailbox
	for _, opened = range w.boxes(w.ada) {
		if opened.Source == "catchall" {
			break
		}
	}

	w.call(http.MethodDelete, "/me/domains/"+p.ID, w.ada.Token, 204, "")
	w.call(http.MethodDelete, "/me/domains/"+p.ID, w.ada.Token, 404, "domain.not_found")
	for _, m := range []mailbox{made, opened} {
		w.call(http.MethodGet, "/mailboxes/me", m.Token, 401, "auth.invalid_token")
		w.refused(m.Address, "550 5.7.1")
	}
	if got := w.boxes(w.ada); len(got) != 1 || got[kept.Address].ID != kept.ID {
		t.Errorf("GET /me/mailboxes = %v, want %s alone", got, kept.ID)
	}
	d := w.Database()
	eventually(t, "erasing the mail", func() bool {
		w.nextRound()
		return column(t, d, "SELECT count(*) FROM mailbox WHERE domain = $1", shop)[0] == "0"
	})

	// The next owner starts without mailboxes, and may use any address.
	bob := w.account("bob@example.org")
	w.verified(bob, shop)
	if m := w.create(bob.Token, body{"domain": shop, "localPart": "made"}); m.MessageCount != 0 {
		t.Errorf("POST /mailboxes for made at %s = %+v, want no message in it", shop, m)
	}
	w.Send(apptest.Mail{To: []string{"n0@" + shop}})
	if got := w.boxes(bob); len(got) != 2 || got["n0@"+shop].MessageCount != 1 {
		t.Errorf("GET /me/mailboxes of bob = %v, want two, with one message for n0", got)
	}
}

// An account whose domain is suspended loses it, with all mailboxes, to the account that proves it next, so that
// neither reads the other's mail.
func TestSuspendedDomainCanBeClaimed(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"domain.suspend_after": "1"})
	bob := w.account("bob@example.org")
	p := w.verified(w.ada, shop)
	w.Send(apptest.Mail{To: []string{"ann@" + shop}})
	before := w.boxes(w.ada)["ann@"+shop]
	w.dns.drop(shop)
	w.recheck(p)
	w.refused("ann@"+shop, "450 4.1.2")
	w.verified(bob, shop)
	w.Send(apptest.Mail{To: []string{"ann@" + shop}, Subject: "for bob"})
	if got := w.boxes(bob); len(got) != 1 || got["ann@"+shop].ID == before.ID {
		t.Errorf("GET /me/mailboxes of bob = %v, want one for ann, another than %s", got, before.ID)
	}
	if a := w.Call(http.MethodGet, "/mailboxes/me/messages", before.Token, nil); a.Status == 200 {
		t.Errorf("GET /mailboxes/me/messages with the former token = %s, want it refused", a.Body)
	}
	if got := w.shown(p); got.ID != "" {
		t.Errorf(`w.shown(p) = %+v, want ID ""`, got)
	}
}

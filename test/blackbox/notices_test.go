package blackbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// noticeFixture is a service with a relay and a name server, and an account in some language.
type noticeFixture struct {
	*relayFixture
	domainFixture
}

// startNotices starts a service that pauses an endpoint after a failure, and suspends a domain after a look.
func startNotices(t *testing.T, locale string, set settings) noticeFixture {
	t.Helper()
	n := startNameServer(t)
	own := hookSettings(settings{
		"base_url": "https://box.example", "dns.resolver": n.addr, "dns.timeout": "2s", "domain.recheck_every": "1h", "domain.suspend_after": "1",
		"webhooks.pause_after_failures": "1", "plans.free.domains.max": "3",
	})
	maps.Copy(own, set)
	f := startRelay(t, own)
	u := f.account("ada@example.org")
	want(t, f.Call(http.MethodPatch, "/me", u.Token, fields{"locale": locale}), 200, "")
	return noticeFixture{f, domainFixture{service: f.service, dns: n, ada: u}}
}

// unsent returns how many mails are stored for the relay.
func (s *service) unsent() int {
	return len(column(s.t, s.Database(), "SELECT id FROM outgoing_mail"))
}

// relayed waits until no mail waits for the relay any more, and returns the mails that the relay has received.
func (f *relayFixture) relayed() []letter {
	f.t.Helper()
	eventually(f.t, "the relay to take the mails", func() bool { return f.unsent() == 0 })
	return f.letters(0)
}

// relayedOnce checks that the account was sent one mail, which has a subject, and returns it.
func (f noticeFixture) relayedOnce(subject string) letter {
	f.relayFixture.t.Helper()
	all := f.relayed()
	if len(all) != 1 || all[0].Subject != subject || all[0].To != f.ada.Account.Email {
		f.relayFixture.t.Fatalf("the relay has got %+v, want one mail, %q to %s", all, subject, f.ada.Account.Email)
	}
	return all[0]
}

// says checks that a letter has texts in its text and in its HTML, where lines end elsewhere.
func (l letter) says(t *testing.T, texts ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(l.Text), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) || !strings.Contains(l.HTML, text) {
			t.Errorf("the mail %q is\n%s\n%s\nwant %q in both", l.Subject, l.Text, l.HTML, text)
		}
	}
}

func TestAccountIsToldOfPausedWebhook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		locale          string
		status          int
		subject, reason string
	}{
		{"en", http.StatusGone, "Your webhook to %s is paused", "gone for good (410)"},
		{"en", http.StatusBadGateway, "Your webhook to %s is paused", "too many deliveries in a row failed"},
		{"vi", http.StatusGone, "Webhook tới %s đã tạm dừng", "không còn nữa (410)"},
		{"vi-VN", http.StatusBadGateway, "Webhook tới %s đã tạm dừng", "quá nhiều lần gửi liên tiếp bị lỗi"},
	} {
		t.Run(fmt.Sprint(c.locale, " ", c.status), func(t *testing.T) {
			t.Parallel()
			f := startNotices(t, c.locale, nil)
			s, u, r := f.relayFixture, f.ada, authority.NewReceiver(t)
			h := s.hook(u, r, "mailbox.created")
			s.patch(u, h, fields{"status": "paused"}) // by its owner, who knows
			s.patch(u, h, fields{"status": "active"})
			r.Status(c.status)
			s.create(u.Token, nil)
			s.attempted(u, h, 2)
			s.patch(u, h, fields{"status": "active"}) // and it is paused again
			s.attempted(u, h, 3)
			endpoint, err := url.Parse(r.URL)
			if err != nil {
				t.Fatal(err)
			}
			host := endpoint.Hostname()
			l := f.relayedOnce(fmt.Sprintf(c.subject, host))
			l.says(t, host, c.reason, "https://box.example/account/webhooks")
			if strings.Contains(l.Text+l.HTML, "/hook") || strings.Contains(l.Text+l.HTML, ":"+endpoint.Port()) {
				t.Errorf("the mail %q is\n%s\nwant the host alone, since the path may be a secret", l.Subject, l.Text)
			}
			box := s.create("", nil)
			s.received(box, s.relay.Mails()[0].Data)
			want(t, s.Call(http.MethodGet, "/mailboxes/me/otp/latest", box.Token, nil), 404, "otp.not_found") // nothing looks like a code
			if c.locale == "en" {
				return
			}
			s.Clock.Advance(25 * time.Hour) // then the news is worth another mail
			s.patch(u, h, fields{"status": "active"})
			s.attempted(u, h, 4)
			if all := s.relayed(); len(all) != 2 {
				t.Errorf("an endpoint that was paused again a day later sent %d mails, want 2", len(all))
			}
		})
	}
}

// An account that has its endpoints paused again and again is sent a few mails.
func TestPausedWebhooksSendFewMails(t *testing.T) {
	t.Parallel()
	f := startNotices(t, "en", nil)
	s, u, r := f.relayFixture, f.ada, authority.NewReceiver(t)
	r.Status(http.StatusGone)
	for range 12 {
		h := s.hook(u, r, "mailbox.created")
		want(t, s.Call(http.MethodDelete, "/me/webhooks/"+h.ID, u.Token, nil), 204, "")
	}
	if all := s.relayed(); len(all) != 10 {
		t.Errorf("12 endpoints that were paused sent %d mails, want 10", len(all))
	}
}

func TestAccountIsToldOfSuspendedDomain(t *testing.T) {
	t.Parallel()
	for locale, texts := range map[string][]string{
		"en": {"Your domain shop.gonebox-tests.net is suspended", "no longer names this service"},
		"vi": {"Tên miền shop.gonebox-tests.net của bạn bị tạm ngừng", "không còn trỏ tới dịch vụ này"},
	} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			f := startNotices(t, locale, nil)
			p := f.verified(f.ada, shop)
			f.dns.drop(shop + ".")
			f.recheck(p)
			f.letters(1)
			for range 3 {
				f.domainFixture.Clock.Advance(2 * time.Hour)
			}
			f.relayedOnce(texts[0]).says(t, shop, texts[1], "https://box.example/account/domains")
		})
	}
}

func TestAccountIsToldOfEndOfPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		locale          string
		cancelled       bool
		subject, reason string
	}{
		{"en", false, "Your plan Plus has ended", "your account does not have enough points"},
		{"en", true, "Your plan Plus has ended", "its renewal was turned off"},
		{"vi", false, "Gói Plus của bạn đã hết hạn", "tài khoản của bạn không đủ điểm"},
		{"vi", true, "Gói Plus của bạn đã hết hạn", "việc gia hạn đã được tắt"},
	} {
		t.Run(fmt.Sprint(c.locale, " cancelled ", c.cancelled), func(t *testing.T) {
			t.Parallel()
			f := startNotices(t, c.locale, nil)
			s, u := f.relayFixture, f.ada
			price := *s.offers()["plus"].Prices.Monthly
			s.grant(u, 2*price) // a renewal says nothing
			end := s.subscribe(u, "plus", "monthly").Subscription.CurrentPeriodEnd
			u = s.again(u)
			s.until(end)
			s.settled(u, 0, "active")
			u = s.again(u)
			if c.cancelled {
				s.call(http.MethodDelete, "/me/subscription", u.Token, 200, "")
				s.grant(u, price)
			}
			s.until(s.standing(u).Subscription.CurrentPeriodEnd)
			s.letters(1)
			for range 3 {
				s.nextRound()
			}
			f.relayedOnce(c.subject).says(t, c.reason, "https://box.example/account/plans")
		})
	}
}

// An account that has left is sent nothing that still waits, and without a relay nothing is stored.
func TestNoticesAreNotSentToWhoHasLeft(t *testing.T) {
	t.Parallel()
	f := startNotices(t, "en", settings{"relay.retry_schedule": "1h"})
	s, u, r := f.relayFixture, f.ada, authority.NewReceiver(t)
	r.Status(http.StatusGone)
	s.relay.Reply("RCPT", "451 4.3.2 not now")
	s.hook(u, r, "mailbox.created")
	eventually(t, "the mail to wait", func() bool { return s.relay.Tries() == 1 && s.unsent() == 1 })
	want(t, s.Call(http.MethodDelete, "/me", u.Token, fields{"password": userPassword}), 204, "")
	if n := s.unsent(); n != 0 {
		t.Errorf("%d mails wait after the account has left, want none", n)
	}
}

func TestNoticesNeedRelay(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	r.Status(http.StatusGone)
	h := s.hook(u, r, "mailbox.created")
	if got := s.shown(u, h); got.Status != "paused" || s.unsent() != 0 {
		t.Errorf("the endpoint is %s and %d mails wait, want it paused and none", got.Status, s.unsent())
	}
}

func TestDisabledAccountIsToldNothing(t *testing.T) {
	t.Parallel()
	f := startNotices(t, "en", nil)
	p := f.verified(f.ada, shop)
	f.dns.drop(shop + ".")
	d := f.relayFixture.Database()
	if _, err := d.Exec("UPDATE account SET disabled = 1 WHERE id = $1", f.ada.Account.ID); err != nil {
		t.Fatal(err)
	}
	f.recheck(p)
	status := column(t, d, "SELECT status FROM private_domain WHERE id = $1", p.ID)[0]
	if all := f.relayed(); status != "suspended" || len(all) != 0 {
		t.Errorf("the domain is %s and the account was sent %+v, want it suspended and no mail", status, all)
	}
}

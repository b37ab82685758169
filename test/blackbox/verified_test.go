package blackbox_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
)

// result is what a reader could take for a result that this server did not give, also in a field that it sees because
// it ends lines where RFC 5322 does not.
var result = regexp.MustCompile(`(?i)(dkim|dmarc) *= *pass`)

// Nothing that a sender says in SMTP makes it verified, or forms a result in the field of this server.
func TestSenderCannotVerifyItself(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	names.put(`_dmarc.bank.example. 60 IN TXT "v=DMARC1; p=reject"`, `evil.example. 60 IN TXT "v=spf1 ip4:127.0.0.1 -all"`, `bank.example. 60 IN TXT "v=spf1 -all"`)
	s := start(t, settings{"dns.resolver": names.addr})
	m := s.create("", nil)
	const spoof = "From: Bank <service@bank.example>\r\nSubject: s\r\n\r\nx"
	for i, tt := range []struct{ helo, mailFrom, content string }{
		{"mx.evil.example", "<x@evil.example>", spoof},
		{"mx.evil.example", "<dmarc=pass@evil.example>", spoof},
		{"mx.evil.example", "<a+dkim=pass+header.d=bank.example@evil.example>", spoof},
		{"dmarc=pass", "<>", spoof},
		{"mx;dmarc=pass", "<>", spoof},
		{"mx.evil.example", `<"dkim=pass header.d=bank.example "@evil.example>`, spoof},
		{"mx.evil.example", `<"; dmarc = pass header.from=bank.example;"@evil.example>`, spoof},
		{"mx.evil.example", "<\"\u2028Authentication-Results: mx; dmarc=pass\"@evil.example> SMTPUTF8", spoof},
		{"mx.evil.example", "<x@evil.example>", "From: Bank <service@bank.example>, x@evil.example\r\n\r\nx"},
		{"mx.evil.example", "<x@evil.example>", "From: x@evil.example\r\nFrom: Bank <service@bank.example>\r\n\r\nx"},
		{"mx.evil.example", "<x@evil.example>", "From: <service@bank.example> <x@evil.example>\r\n\r\nx"},
		{"mx.evil.example", "<x@evil.example>", "Sender: x@evil.example\r\n\r\nx"},
	} {
		s.converse("EHLO "+tt.helo, "MAIL FROM:"+tt.mailFrom, "RCPT TO:<"+m.Address+">", "DATA", tt.content+"\r\n.")
		all := get[[]summary](s, "/mailboxes/me/messages", m.Token)
		if len(all) != i+1 {
			t.Fatalf("EHLO %s, MAIL FROM:%s: the mailbox has %d messages, want %d", tt.helo, tt.mailFrom, len(all), i+1)
		}
		got := all[0]
		full := get[message](s, "/messages/"+got.ID, m.Token)
		if got.Verified || full.Verified || full.Authentication.Verified || full.Authentication.Domain != nil {
			t.Errorf("EHLO %s, MAIL FROM:%s, %q: the message is %+v, want it not verified", tt.helo, tt.mailFrom, tt.content, full)
		}
		raw := s.call(http.MethodGet, "/messages/"+got.ID+"/raw", m.Token, 200, "").Body
		field := regexp.MustCompile("(?m)^Authentication-Results:.*\r\n([ \t].*\r\n)*").Find(raw)
		if found := result.Find(field); field == nil || found != nil {
			t.Errorf("EHLO %s, MAIL FROM:%s: the field is %q, in which a search finds %q, want a field without that", tt.helo, tt.mailFrom, field, found)
		}
	}
}

func TestVerifiedSender(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	names.put(`_dmarc.bank.example. 60 IN TXT "v=DMARC1; p=reject; pct=100%; text"`, `bank.example. 60 IN TXT "v=spf1 ip4:127.0.0.1 -all"`, `plain.example. 60 IN TXT "v=spf1 exists:%{l}._spf.%{d} -all"`,
		`n+1._spf.plain.example. 60 IN A 127.0.0.2`)
	s := startAccounts(t, hookSettings(settings{"dns.resolver": names.addr}))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "message.received")
	m := s.create(u.Token, nil)
	for from, domain := range map[string]string{"a@bank.example": "bank.example", "n+1@PLAIN.example": "plain.example"} {
		s.converse("EHLO mx.example", "MAIL FROM:<"+from+">", "RCPT TO:<"+m.Address+">", "DATA", "From: \"Someone\" <"+from+">\r\n\r\nx\r\n.")
		got := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]
		full := get[message](s, "/messages/"+got.ID, m.Token)
		if a := full.Authentication; !got.Verified || !full.Verified || !a.Verified || a.Domain == nil || *a.Domain != domain {
			t.Errorf("a mail from %s: the message is %+v, want it verified for %s", from, full, domain)
		}
	}
	for _, e := range s.eventsByType(h, arrived(t, r, 3))["message.received"] {
		var data summary
		if err := json.Unmarshal(e.Data, &data); err != nil || !data.Verified {
			t.Errorf("message.received is %s, %v, want it verified", e.Data, err)
		}
	}
	// The same mail by the API has no sender that could be checked.
	a := s.inject(m.Token, fields{"from": "a@bank.example", "text": "x"})
	want(t, a, 201, "")
	var injected struct{ Data message }
	if err := json.Unmarshal(a.Body, &injected); err != nil || injected.Data.Verified || injected.Data.Authentication.Verified {
		t.Errorf("an injected message is %s, %v, want it not verified", a.Body, err)
	}
}

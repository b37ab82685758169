package blackbox_test

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

const ingressSecret = "correct horse battery staple"

// withIngress are settings with an ingress of each kind that a secret protects, named after it.
func withIngress(more settings) settings {
	set := settings{}
	for _, kind := range []string{"raw", "cloudflare", "mailgun", "postmark", "sendgrid"} {
		set["ingress."+kind+".kind"], set["ingress."+kind+".secret"] = kind, ingressSecret
	}
	maps.Copy(set, more)
	return set
}

// posted is a request to an ingress of the kinds raw and cloudflare. The zero values of the pointers and times are what is right.
type posted struct {
	name     string // of the ingress; "": raw
	from     string
	to       []string
	ip, helo string
	body     string
	age      time.Duration // of the signature
	change   func(*http.Request)
}

// sign returns the signature of a request.
func (p posted) sign(at time.Time) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hexMAC(ingressSecret, strings.Join([]string{t, p.from, strings.Join(p.to, ","), p.ip, p.body}, "\n"))
}

// hexMAC returns the HMAC-SHA-256 of a text in hexadecimal.
func hexMAC(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// postMail sends a signed request.
func (s *service) postMail(p posted) apptest.Response {
	s.t.Helper()
	if p.name == "" {
		p.name = "raw"
	}
	return s.do(http.MethodPost, "/ingress/"+p.name, "", []byte(p.body), func(r *http.Request) {
		r.Header = http.Header{"Content-Type": {"message/rfc822"}, "X-Envelope-From": {p.from}, "X-Envelope-To": p.to}
		if p.ip != "" {
			r.Header.Set("X-Remote-Ip", p.ip)
		}
		if p.helo != "" {
			r.Header.Set("X-Helo", p.helo)
		}
		r.Header.Set("X-Signature", p.sign(s.Clock.Now().Add(-p.age)))
		if p.change != nil {
			p.change(r)
		}
	})
}

// basic returns the credentials of Basic authentication.
func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// mailWith returns a mail with a code.
func mailWith(subject, code string) string {
	return "From: Shop <shop@sender.example>\r\nTo: you@box.example\r\nSubject: " + subject + "\r\nDate: Sat, 14 Mar 2026 11:59:00 +0000\r\nMessage-ID: <" + subject + "@sender.example>\r\n\r\nYour verification code is " + code + ".\r\n"
}

func TestMailOfAnIngressEndsAWait(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	for _, name := range []string{"raw", "cloudflare"} {
		m := s.create("", nil)
		code := s.waiting(waitForCode, m.Token)
		body := mailWith("code-of-"+name, "482913")
		a := s.postMail(posted{name: name, from: "shop@sender.example", to: []string{m.Address}, ip: "203.0.113.9", helo: "mx.sender.example", body: body})
		want(t, a, 200, "")
		if !strings.Contains(string(a.Body), `"address":"`+m.Address+`","reply":"250 2.0.0 `) {
			t.Errorf("%s = %s, want the reply 250 for %s", a.Request, a.Body, m.Address)
		}
		if got := code(); !strings.Contains(string(got.Body), "482913") {
			t.Errorf("the wait for a code got %s, want 482913", got.Body)
		}
		list := get[[]summary](s, "/mailboxes/me/messages", m.Token)
		if len(list) != 1 || list[0].Source != "ingress" {
			t.Fatalf("the messages of %s are %+v, want one with the source ingress", m.Address, list)
		}
		raw := string(s.call(http.MethodGet, "/messages/"+list[0].ID+"/raw", m.Token, 200, "").Body)
		if !strings.HasSuffix(raw, body) || !strings.HasPrefix(raw, "Return-Path: <shop@sender.example>\r\n") || !strings.Contains(raw, "Received: from mx.sender.example ([203.0.113.9])\r\n\tby ") || !strings.Contains(raw, " with HTTP\r\n") {
			t.Errorf("the raw message is\n%s\nwant the posted octets behind trace fields with the client", raw)
		}
	}
}

func TestIngressAnswersWhatBecameOfTheMail(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(settings{"mailbox.max_messages": "2", "smtp.max_size": "10KiB"}))
	m, full := s.create("", nil), s.create("", nil)
	for i := range 2 {
		s.Send(apptest.Mail{To: []string{full.Address}, Subject: strconv.Itoa(i), Text: "x"})
	}
	const unknown = "nosuch@gonebox.localhost"
	for name, test := range map[string]struct {
		posted
		status int
		code   string
		detail string // that a problem has, or a text of the answer
	}{
		"stored":           {posted{to: []string{m.Address}, body: mailWith("a", "1")}, 200, "", "250 2.0.0"},
		"one unknown":      {posted{to: []string{m.Address, unknown}, body: mailWith("b", "1")}, 200, "", "550 5.1.1"},
		"all unknown":      {posted{to: []string{unknown}, body: mailWith("c", "1")}, 406, "ingress.refused", "550 5.1.1 There is no such mailbox here"},
		"other domain":     {posted{to: []string{"x@elsewhere.example"}, body: mailWith("d", "1")}, 406, "ingress.refused", "550 5.7.1"},
		"full":             {posted{to: []string{full.Address}, body: mailWith("e", "1")}, 503, "server.unavailable", ""},
		"full and unknown": {posted{to: []string{unknown, full.Address}, body: mailWith("f", "1")}, 503, "server.unavailable", ""},
		"too large":        {posted{to: []string{m.Address}, body: strings.Repeat("x", 11<<10)}, 406, "ingress.refused", "552 5.3.4"},
		"a NUL":            {posted{to: []string{m.Address}, body: "Subject: \x00\r\n\r\n"}, 406, "ingress.refused", "550 5.6.0"},
		"a bare CR":        {posted{to: []string{m.Address}, body: "Subject: x\r\r\n\r\n"}, 406, "ingress.refused", "550 5.6.0"},
		"compressed": {posted{to: []string{m.Address}, body: mailWith("j", "1"), change: func(r *http.Request) {
			r.Header.Set("Content-Encoding", "gzip")
		}}, 503, "server.unavailable", "Content-Encoding"},
		"no recipient":      {posted{body: mailWith("g", "1")}, 406, "ingress.refused", "recipient"},
		"no message":        {posted{to: []string{m.Address}}, 406, "ingress.refused", "no message"},
		"sender is no path": {posted{from: "a b@x.example", to: []string{m.Address}, body: mailWith("h", "1")}, 406, "ingress.refused", "501 5.1.7"},
		"address is none":   {posted{to: []string{m.Address}, ip: "::1%eth0", body: mailWith("i", "1")}, 406, "ingress.refused", "X-Remote-Ip"},
	} {
		a := s.postMail(test.posted)
		if want(t, a, test.status, test.code); !strings.Contains(string(a.Body), test.detail) {
			t.Errorf("%s: %s = %s, want %q in it", name, a.Request, a.Body, test.detail)
		}
		if got := a.Header.Get("Retry-After"); (got != "") != (test.status == 503) {
			t.Errorf("%s: %s has the status %d and Retry-After %q, want that with 503 alone", name, a.Request, a.Status, got)
		}
	}
	if got := get[mailbox](s, "/mailboxes/me", m.Token); got.MessageCount != 2 {
		t.Errorf("%s has %d messages, want the two that were answered 200", m.Address, got.MessageCount)
	}
	eventually(t, "two lines with 452 4.2.2 in the delivery log of the full mailbox", func() bool { // another process may still hold one
		deferred := 0
		for _, entry := range get[[]fields](s, "/mailboxes/me/deliveries", full.Token) {
			if entry["reply"] == 452.0 && entry["code"] == "4.2.2" {
				deferred++
			}
		}
		return deferred == 2
	})
}

// A body that breaks off says nothing about the mail, so that it is sent again: a worker and a provider return what is answered 4xx.
func TestMailThatBreaksOffIsSentAgain(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	m := s.create("", nil)
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/api/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := posted{to: []string{m.Address}, body: mailWith("half", "1")}
	fmt.Fprintf(conn, "POST /api/v1/ingress/raw HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nX-Envelope-To: %s\r\nX-Signature: %s\r\n\r\n%s",
		len(p.body), m.Address, p.sign(s.Clock.Now()), p.body[:len(p.body)/2])
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("half a body: status %d and Retry-After %q, want 503 and when to send it again", r.StatusCode, r.Header.Get("Retry-After"))
	}
	want(t, s.postMail(p), 200, "")
}

func TestUnsignedMailIsForbidden(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	m := s.create("", nil)
	mail := posted{from: "shop@sender.example", to: []string{m.Address}, body: mailWith("x", "1")}
	other := m.Address[1:]
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, test := range map[string]struct {
		age    time.Duration
		change func(*http.Request)
		code   string
	}{
		"no signature":       {0, func(r *http.Request) { r.Header.Del("X-Signature") }, "auth.required"},
		"two signatures":     {0, func(r *http.Request) { r.Header.Add("X-Signature", r.Header.Get("X-Signature")) }, "auth.invalid_token"},
		"another sender":     {0, set("X-Envelope-From", "boss@sender.example"), "auth.invalid_token"},
		"another recipient":  {0, set("X-Envelope-To", other), "auth.invalid_token"},
		"one more recipient": {0, func(r *http.Request) { r.Header.Add("X-Envelope-To", other) }, "auth.invalid_token"},
		"an address":         {0, set("X-Remote-Ip", "192.0.2.1"), "auth.invalid_token"},
		"5 minutes old":      {5*time.Minute + time.Second, nil, "auth.invalid_token"},
		"5 minutes ahead":    {-5*time.Minute - time.Second, nil, "auth.invalid_token"},
		"time is a text":     {0, set("X-Signature", "t=now,v1=00"), "auth.invalid_token"},
		"time is huge":       {0, set("X-Signature", "t=99999999999999999999999,v1=00"), "auth.invalid_token"},
		"empty":              {0, set("X-Signature", ""), "auth.invalid_token"},
		"wrong password":     {0, func(r *http.Request) { r.Header.Del("X-Signature"); r.SetBasicAuth("raw", "x") }, "auth.invalid_token"},
		"another ingress":    {0, func(r *http.Request) { r.Header.Del("X-Signature"); r.SetBasicAuth("mailgun", ingressSecret) }, "auth.invalid_token"},
		"password is a token": {0, func(r *http.Request) {
			r.Header.Del("X-Signature")
			r.Header.Set("Authorization", "Bearer "+ingressSecret)
		}, "auth.invalid_token"},
	} {
		mail.age, mail.change = test.age, test.change
		a := s.postMail(mail)
		if want(t, a, 401, test.code); a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %s has no WWW-Authenticate, want one", name, a.Request)
		}
	}
	for _, path := range []string{"", "/mime"} {
		want(t, s.postMail(posted{name: "nosuch" + path, to: []string{m.Address}, body: "x"}), 404, "ingress.not_found")
		want(t, s.postMail(posted{name: "raw" + path + "?x=1", to: []string{m.Address}, body: "x"}), 422, "request.invalid")
	}
	mail.age, mail.change = 0, func(r *http.Request) { r.Header.Del("X-Signature"); r.SetBasicAuth("raw", ingressSecret) }
	want(t, s.postMail(mail), 200, "")
	mail.age, mail.change, mail.from = 4*time.Minute, nil, ""
	want(t, s.postMail(mail), 200, "")
	mail.change = func(r *http.Request) { // proxies join repeated fields, and a new secret may be tried beside an old one
		r.Header["X-Envelope-To"] = []string{strings.Join(mail.to, ", ")}
		r.Header.Set("X-Signature", r.Header.Get("X-Signature")+",v1="+strings.Repeat("0", 64))
	}
	mail.to = []string{m.Address, `"a,b"@gonebox.localhost`, "x@gonebox.localhost"}
	want(t, s.postMail(mail), 200, "")
	if got := get[mailbox](s, "/mailboxes/me", m.Token); got.MessageCount != 2 {
		t.Errorf("%s has %d messages, want 2: two of the three mails have the same sender and octets", m.Address, got.MessageCount)
	}
}

func TestForbiddenMailIsLimited(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(settings{"limits.other": "3/1m"}))
	m := s.create("", nil)
	wrong := posted{to: []string{m.Address}, body: "x", age: time.Hour}
	for range 3 {
		want(t, s.postMail(wrong), 401, "auth.invalid_token")
	}
	want(t, s.postMail(wrong), 429, "rate.limited")
	wrong.name = "raw/mime"
	want(t, s.postMail(wrong), 429, "rate.limited")
	want(t, s.postMail(posted{to: []string{m.Address}, body: mailWith("x", "1")}), 200, "")
}

// A mail that is sent again is stored once, also for those recipients that it could not be stored for at first.
func TestMailThatIsSentAgainIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(settings{"mailbox.max_messages": "1"}))
	m, other := s.create("", nil), s.create("", nil)
	s.Send(apptest.Mail{To: []string{other.Address}, Subject: "fills it", Text: "x"})
	mail := posted{from: "shop@sender.example", to: []string{m.Address, other.Address}, body: mailWith("again", "482913")}
	for range 3 {
		want(t, s.postMail(mail), 503, "server.unavailable")
	}
	count := func(of mailbox) int { return len(get[[]summary](s, "/mailboxes/me/messages", of.Token)) }
	if count(m) != 1 {
		t.Fatalf("%s has %d messages after three tries, want 1", m.Address, count(m))
	}
	first := get[[]summary](s, "/mailboxes/me/messages", other.Token)[0]
	s.call(http.MethodDelete, "/messages/"+first.ID, other.Token, 204, "")
	for range 3 {
		want(t, s.postMail(mail), 200, "")
	}
	if count(m) != 1 || count(other) != 1 {
		t.Errorf("the mailboxes have %d and %d messages, want one each", count(m), count(other))
	}
	last := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]
	s.call(http.MethodDelete, "/messages/"+last.ID, m.Token, 204, "")
	want(t, s.postMail(mail), 200, "")
	if count(m) != 0 {
		t.Errorf("a mail that was stored and deleted is there again, want it to be remembered")
	}
	mail.from = "another@sender.example"
	want(t, s.postMail(posted{from: mail.from, to: mail.to[:1], body: mail.body}), 200, "")
	if count(m) != 1 {
		t.Errorf("with another sender it is another mail, want it stored")
	}
}

func TestBlocksAndLimitsApplyToAnIngress(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(settings{"limits.smtp_messages": "3/1m"}))
	boss := s.promote(s.account("staff@example.org"))
	m := s.create("", nil)
	for kind, value := range map[string]string{"ip": "198.51.100.0/24", "sender": "@spam.example"} {
		want(t, s.Call(http.MethodPost, "/staff/blocks", boss.Token, fields{kind: value}), 201, "")
	}
	tries := 0 // each with another mail: one that was stored before the block came about is answered so again
	eventually(t, "the block of the client", func() bool {
		s.Clock.Advance(time.Second)
		tries++
		return s.postMail(posted{to: []string{m.Address}, ip: "198.51.100.7", body: mailWith(fmt.Sprint("blocked ", tries), "1")}).Status == 406
	})
	a := s.postMail(posted{from: "x@spam.example", to: []string{m.Address}, ip: "203.0.113.7", body: mailWith("sender", "1")})
	if want(t, a, 406, "ingress.refused"); !strings.Contains(string(a.Body), "550 5.7.1 Mail from this sender is blocked here") {
		t.Errorf("%s = %s, want the reply to a blocked sender", a.Request, a.Body)
	}
	for i := range 3 {
		want(t, s.postMail(posted{to: []string{m.Address}, ip: "203.0.113.8", body: mailWith(strconv.Itoa(i), "1")}), 200, "")
	}
	over := posted{to: []string{m.Address}, ip: "203.0.113.8", body: mailWith("over", "1")}
	a = s.postMail(over)
	if want(t, a, 503, "server.unavailable"); a.Header.Get("Retry-After") == "" {
		t.Errorf("%s over the limit of messages has no Retry-After, want one", a.Request)
	}
	want(t, s.postMail(posted{to: []string{m.Address}, ip: "203.0.113.9", body: mailWith("another client", "1")}), 200, "")
	s.Clock.Advance(time.Minute)
	want(t, s.postMail(over), 200, "")
}

func TestStaffSeeIngresses(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	boss := s.promote(s.account("staff@example.org"))
	m := s.create("", nil)
	want(t, s.postMail(posted{to: []string{m.Address}, body: mailWith("x", "1")}), 200, "")
	want(t, s.postMail(posted{name: "cloudflare", to: []string{"nosuch@gonebox.localhost"}, body: mailWith("x", "1")}), 406, "ingress.refused")
	type state struct {
		Name, Kind              string
		Mails                   int
		LastMailAt, LastErrorAt *time.Time
		LastError               *string
	}
	var all []state
	eventually(t, "the states of the ingresses", func() bool {
		s.Clock.Advance(5 * time.Second)
		all = get[[]state](s, "/staff/ingresses", boss.Token)
		return len(all) == 5 && all[0].LastErrorAt != nil && all[3].LastMailAt != nil
	})
	if all[0].Name != "cloudflare" || all[0].Mails != 0 || all[0].LastError == nil || !strings.HasPrefix(*all[0].LastError, "550 5.1.1") {
		t.Errorf("the first ingress is %+v, want cloudflare with the last error 550 5.1.1", all[0])
	}
	if all[3].Name != "raw" || all[3].Mails != 1 || all[3].LastErrorAt != nil {
		t.Errorf("the fourth ingress is %+v, want raw with one mail and no error", all[3])
	}
}

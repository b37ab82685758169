package blackbox_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// injectRaw injects a whole mail.
func (s *service) injectRaw(token string, raw []byte) apptest.Response {
	s.t.Helper()
	return s.do(http.MethodPost, "/mailboxes/me/messages", token, raw, func(r *http.Request) { r.Header.Set("Content-Type", "message/rfc822") })
}

func (s *service) inject(token string, parts fields) apptest.Response {
	s.t.Helper()
	return s.Call(http.MethodPost, "/mailboxes/me/messages", token, parts)
}

func TestInjectedMailIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	code := s.waiting(waitForCode, m.Token)
	raw := withAttachment("a.txt", "aGk=")
	raw = bytes.Replace(raw, []byte("see the file"), []byte("Your verification code is 482913."), 1)
	a := s.injectRaw(m.Token, raw)
	want(t, a, 201, "")
	var full message
	a.Into(t, &full)
	if full.Source != "injected" || full.Seen || full.Subject != "with a file" || full.Size != len(raw) || len(full.Attachments) != 1 || full.OTP == nil || full.OTP.Code != "482913" {
		t.Errorf("POST of a raw mail = %s, want it injected, unseen, of %d octets, with one attachment and the code 482913", a.Body, len(raw))
	}
	if got := code(); !strings.Contains(string(got.Body), "482913") {
		t.Errorf("the wait for a code = %s, want 482913 in it", got.Body)
	}
	kept := s.call(http.MethodGet, "/messages/"+full.ID+"/raw", m.Token, 200, "").Body
	if !bytes.HasSuffix(kept, raw) || !bytes.HasPrefix(kept, []byte("Return-Path: <>\r\n")) {
		t.Errorf("GET raw of the injected mail = %s, want Return-Path: <> before what was sent", kept)
	}
	if got := get[mailbox](s, "/mailboxes/me", m.Token); got.MessageCount != 1 || got.UnreadCount != 1 {
		t.Errorf("GET /mailboxes/me = %+v, want one message, unread", got)
	}
	// What over SMTP would be refused is mail all the same.
	for _, odd := range []string{"no header", "Subject: x\n\nlines end in LF\n", "Subject: \x00\r\r\n\xff", "\r\n"} {
		want(t, s.injectRaw(m.Token, []byte(odd)), 201, "")
	}
	s.Send(apptest.Mail{To: []string{m.Address}, Subject: "over SMTP", Text: "x"})
	if list := get[[]summary](s, "/mailboxes/me/messages?limit=2", m.Token); list[0].Source != "smtp" || list[1].Source != "injected" {
		t.Errorf("GET /mailboxes/me/messages?limit=2 = %+v, want one of SMTP and one that was injected", list)
	}
}

func TestInjectedPartsMakeAMail(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	file := bytes.Repeat([]byte("\x00\xff\r\n"), 5000)
	a := s.inject(m.Token, fields{
		"from": "Björn <bjorn@example.org>", "subject": "Grüße: code", "text": "Your verification code is 482913.\n.\nbye", "html": `<p>code <b>482913</b> <a href="https://example.org/">x</a></p>`,
		"attachments": []fields{
			{"filename": "Rechnung ü.pdf", "contentType": "application/pdf", "content": base64.StdEncoding.EncodeToString(file)},
			{"filename": "empty.txt", "content": ""},
		},
	})
	want(t, a, 201, "")
	var full message
	a.Into(t, &full)
	if full.From != (address{"Björn", "bjorn@example.org"}) || full.Subject != "Grüße: code" || !strings.Contains(full.Text, "482913.\n.\nbye") || full.HTML == nil ||
		!strings.Contains(*full.HTML, "<b>482913</b>") || full.OTP == nil || len(full.Attachments) != 2 || len(full.To) != 1 || full.To[0].Address != m.Address || full.SentAt == nil {
		t.Fatalf("POST of a mail with text, HTML and two files = %s, want it from Björn to %s, with all of these, a date and a code", a.Body, m.Address)
	}
	if f := full.Attachments[0]; f.Filename != "Rechnung ü.pdf" || f.ContentType != "application/pdf" || f.Size != len(file) {
		t.Errorf("the first attachment is %+v, want Rechnung ü.pdf, application/pdf, of %d octets", f, len(file))
	}
	if got := s.call(http.MethodGet, "/messages/"+full.ID+"/attachments/"+full.Attachments[0].ID, m.Token, 200, ""); !bytes.Equal(got.Body, file) {
		t.Errorf("the attachment has %d octets, want the %d that were sent", len(got.Body), len(file))
	}
	for _, parts := range []fields{{}, {"from": "a@b.example"}, {"html": "<p>x"}, {"attachments": []fields{}}, {"subject": strings.Repeat("long ", 1000)}} {
		want(t, s.inject(m.Token, parts), 201, "")
	}
	for _, parts := range []fields{
		{"from": ""},
		{"from": "nothing"},
		{"from": "a@b.example, c@d.example"},
		{"from": "a@b.example\r\nBcc: x@y.example"},
		{"from": 1},
		{"subject": "a\r\nBcc: x"},
		{"text": nil},
		{"attachments": []fields{{"filename": "a", "content": "%"}}},
		{"attachments": []fields{{"content": ""}}},
		{"attachments": []fields{{"filename": "", "content": ""}}},
		{"attachments": []fields{{"filename": "a", "content": "", "contentType": "x"}}},
		{"attachments": nil},
		{"to": "x@y.example"},
	} {
		if from, ok := parts["from"]; ok && from == "" {
			want(t, s.inject(m.Token, parts), 201, "") // as if it was left out
			continue
		}
		if a := s.inject(m.Token, parts); a.Status != 422 || a.Code() != "request.invalid" {
			t.Errorf(`%v: s.inject(m.Token, parts) = %d %s, want Status 422 and Code "request.invalid"`, parts, a.Status, a.Body)
		}
	}
}

func TestInjectionIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"smtp.max_size": "64KiB", "mailbox.max_messages": "3", "limits.inject": "12/1m"})
	m := s.create("", nil)
	post := func(body any, change func(*http.Request)) apptest.Response {
		return s.do(http.MethodPost, "/mailboxes/me/messages", m.Token, body, change)
	}
	typed := func(media string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Content-Type", media) }
	}
	small, large := []byte("Subject: x\r\n\r\nhello\r\n"), bytes.Repeat([]byte("x"), 64<<10+1)
	want(t, post(large, typed("message/rfc822")), 413, "request.too_large")
	want(t, post(large, func(r *http.Request) { typed("message/rfc822")(r); r.ContentLength = -1 }), 413, "request.too_large")
	want(t, post(fields{"text": strings.Repeat("x", 64<<10)}, typed("application/json")), 413, "request.too_large")
	want(t, post(fields{"text": strings.Repeat("x", 2<<20)}, typed("application/json")), 413, "request.too_large")
	want(t, post(small, typed("text/plain")), 415, "request.media_type")
	want(t, post(small, func(r *http.Request) { r.Header.Del("Content-Type") }), 415, "request.media_type")
	want(t, post([]byte{}, typed("message/rfc822")), 422, "request.invalid")
	want(t, post([]byte("{"), typed("application/json")), 422, "request.invalid")
	for range 3 {
		want(t, post(small, typed("message/rfc822; charset=utf-8")), 201, "")
	}
	want(t, post(small, typed("message/rfc822")), 409, "mailbox.full")
	want(t, post(small, typed("message/rfc822")), 429, "rate.limited")
	s.Clock.Advance(time.Minute)
	s.Clock.Advance(time.Hour)
	want(t, post(small, typed("message/rfc822")), 410, "mailbox.expired")
}

func TestInjectionCountsAsMailOfTheDay(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"plans.guest.mail.daily.max": "1"})
	m := s.create("", nil)
	want(t, s.inject(m.Token, fields{"text": "one"}), 201, "")
	want(t, s.inject(m.Token, fields{"text": "two"}), 429, "mail.daily_cap")
	if err := s.TrySend(apptest.Mail{To: []string{m.Address}, Subject: "x"}); err == nil {
		t.Error("a second mail of the day was taken, want it refused")
	}
	// The cap is checked before the body: what would be wrong with that is not looked at, and a client that sends all of a
	// large one before it reads gets the response.
	want(t, s.do(http.MethodPost, "/mailboxes/me/messages", m.Token, []byte("{"), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }), 429, "mail.daily_cap")
	want(t, s.injectRaw(m.Token, bytes.Repeat([]byte("x"), 20<<20)), 429, "mail.daily_cap")
	want(t, s.injectRaw(m.Token, nil), 429, "mail.daily_cap")
}

func TestInjectionCanBeOff(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"inject": "off"})
	m := s.create("", nil)
	want(t, s.inject(m.Token, fields{"text": "one"}), 403, "inject.disabled")
	want(t, s.inject("", fields{"text": "one"}), 401, "auth.required")
}

func TestInjectedMailHasEvents(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, hookSettings(nil))
	u, r := s.account("ada@example.org"), authority.NewReceiver(t)
	h := s.hook(u, r, "message.received")
	m := s.create(u.Token, nil)
	s.filter(u, fields{"extractRegex": `order (\w+)`})
	want(t, s.inject(m.Token, fields{"subject": "order AB12"}), 201, "")
	shown := get[[]object](s, "/mailboxes/me/messages", m.Token)[0]
	e := s.eventsByType(h, arrived(t, r, 2))["message.received"][0] // after the ping
	e.is(t, shown, object{"mailboxId": m.ID, "address": m.Address})
	if shown["source"] != "injected" || shown["otp"].(map[string]any)["code"] != "AB12" {
		t.Errorf("GET /mailboxes/me/messages has %v, want it injected, with the code AB12", shown)
	}
}

package blackbox_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// crlf joins lines to a mail.
func crlf(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n") + "\r\n") }

// withAttachment is a mail with one attachment, given in base64.
func withAttachment(filename, base64 string) []byte {
	return crlf("From: Sender <sender@example.org>", "Subject: with a file", "MIME-Version: 1.0",
		`Content-Type: multipart/mixed; boundary="b"`, "", "--b", "Content-Type: text/plain", "", "see the file",
		"--b", "Content-Type: text/html; name="+filename, "Content-Disposition: attachment; filename="+filename,
		"Content-Transfer-Encoding: base64", "", base64, "--b--")
}

func TestFullMessage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", body{"localPart": "ann"})
	s.Clock.Advance(1500 * time.Millisecond)
	raw := crlf("From: =?utf-8?q?Bj=C3=B6rn?= <bjorn@example.org>", "To: Ann <ann+shop@gonebox.localhost>, Bob <bob@example.org>",
		"Cc: carol@example.org", "Reply-To: help@example.org", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
		"Date: Sat, 14 Mar 2026 12:59:00 +0100", "Message-ID: <one@example.org>", "X-Own: folded", " value",
		"Content-Type: text/plain; charset=utf-8", "", "Hello,", "your code is 482913, or go to https://example.org/verify?t=1")
	s.Send(apptest.Mail{From: "bounce@example.org", To: []string{"ann+shop@gonebox.localhost"}, Raw: raw})
	list := get[[]summary](s, "/mailboxes/me/messages", m.Token)
	if len(list) != 1 {
		t.Fatalf("%d messages, want 1", len(list))
	}
	got := list[0]
	identifier(t, got.ID, "msg")
	if got.MailboxID != m.ID || got.From != (address{"Björn", "bjorn@example.org"}) || got.Subject != "Grüße" || got.Seen || got.HasAttachments {
		t.Errorf("GET /mailboxes/me/messages has %+v, want Grüße of Björn in %s, unseen, without attachments", got, m.ID)
	}
	if len(got.To) != 2 || got.To[0] != (address{"Ann", "ann+shop@gonebox.localhost"}) {
		t.Errorf("the recipients are %+v, want two, Ann first", got.To)
	}
	if got.Preview != "Hello, your code is 482913, or go to https://example.org/verify?t=1" || got.Size != len(raw) {
		t.Errorf("the preview is %q and the size %d, want the text with the link, and %d", got.Preview, got.Size, len(raw))
	}
	if !got.ReceivedAt.Equal(apptest.Noon().Add(1500*time.Millisecond)) || !got.SentAt.Equal(apptest.Noon().Add(-time.Minute)) {
		t.Errorf("received %s, sent %s, want ReceivedAt %v and SentAt %v", got.ReceivedAt, got.SentAt, apptest.Noon().Add(1500*time.Millisecond), apptest.Noon().Add(-time.Minute))
	}

	full := get[message](s, "/messages/"+got.ID, m.Token)
	if !full.Seen || full.MessageID != "one@example.org" || len(full.CC) != 1 || len(full.ReplyTo) != 1 || full.HTML != nil {
		t.Errorf("GET /messages/%s = %+v, want one@example.org, seen, with Cc and Reply-To, and without HTML", got.ID, full)
	}
	if !strings.Contains(full.Text, "482913") || len(full.Links) != 1 || full.Links[0] != "https://example.org/verify?t=1" {
		t.Errorf("the text is %q and the links are %v, want the code in the former and https://example.org/verify?t=1 alone", full.Text, full.Links)
	}
	if e := full.Envelope; e.From != "bounce@example.org" || len(e.To) != 1 || e.To[0] != "ann+shop@gonebox.localhost" || e.RemoteIP != "127.0.0.1" || e.TLS || e.Helo == "" {
		t.Errorf("the envelope is %+v, want it from bounce@example.org to ann+shop@gonebox.localhost, of 127.0.0.1 without TLS, with a HELO name", e)
	}
	if !full.RawExpiresAt.Equal(got.ReceivedAt.Add(15 * time.Minute)) {
		t.Errorf("raw expires at %s, want RawExpiresAt %v", full.RawExpiresAt, got.ReceivedAt.Add(15*time.Minute))
	}
	if a := full.Authentication; a.DKIM != "none" || a.SPF == "" || a.DMARC == "" {
		t.Errorf("the authentication is %+v, want no DKIM, and a verdict of SPF and DMARC", a)
	}
	found := false
	for _, h := range full.Headers {
		found = found || h.Name == "X-Own" && h.Value == "folded value"
	}
	if !found {
		t.Errorf("the headers are %+v, want X-Own: folded value among them", full.Headers)
	}
}

func TestEmptyMessage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	got := s.mail(m.box(), apptest.Mail{Raw: []byte("\r\n")})
	full := get[message](s, "/messages/"+got.ID, m.Token)
	if full.SentAt != nil || full.OTP != nil || full.HTML != nil || full.Text != "" || full.Subject != "" || len(full.Attachments) != 0 {
		t.Errorf("GET /messages/%s = %+v, want a message without date, code, text, HTML, subject and attachments", got.ID, full)
	}
	if len(full.To) != 1 || full.To[0].Address != m.Address {
		t.Errorf("to: %+v, want the envelope's", full.To)
	}
}

func TestSeenAndCounts(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	counts := func(messages, unread int) {
		t.Helper()
		if got := get[mailbox](s, "/mailboxes/me", m.Token); got.MessageCount != messages || got.UnreadCount != unread {
			t.Errorf("%d messages, %d unread; want %d, %d", got.MessageCount, got.UnreadCount, messages, unread)
		}
	}
	one, two := s.mail(m.box(), apptest.Mail{Subject: "one"}).ID, s.mail(m.box(), apptest.Mail{Subject: "two"}).ID
	counts(2, 2)
	for range 2 { // once read, it stays read
		get[message](s, "/messages/"+one, m.Token)
		counts(2, 1)
	}
	for _, got := range get[[]summary](s, "/mailboxes/me/messages", m.Token) {
		if got.Seen != (got.ID == one) {
			t.Errorf("GET /mailboxes/me/messages has %+v, want it seen: %t", got, got.ID == one)
		}
	}
	counts(2, 1) // listing is not reading
	s.call(http.MethodGet, "/messages/"+two+"/raw", m.Token, 200, "")
	counts(2, 1)
	s.call(http.MethodDelete, "/messages/"+two, m.Token, 204, "")
	counts(1, 0)
	s.call(http.MethodDelete, "/messages/"+one, m.Token, 204, "")
	counts(0, 0)
}

func TestDeletedMessageIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m, other := s.create("", nil), s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: withAttachment("a.txt", "YQ==")}).ID
	att := get[message](s, "/messages/"+id, m.Token).Attachments[0].ID
	calls := []string{"GET /messages/" + id, "DELETE /messages/" + id, "GET /messages/" + id + "/raw", "GET /messages/" + id + "/attachments/" + att}
	refused := func(token string) {
		t.Helper()
		for _, c := range calls {
			method, path, _ := strings.Cut(c, " ")
			s.call(method, path, token, 404, "message.not_found")
		}
	}
	refused(other.Token) // another mailbox's message is like none
	s.call(http.MethodGet, "/messages/"+id, m.Token, 200, "")
	s.call(http.MethodDelete, "/messages/"+id, m.Token, 204, "")
	refused(m.Token)
	for _, no := range []string{"x", "msg_", m.ID, strings.ToUpper(id), strings.Repeat("9", 5000), "%00", "a%2fb", "%ff%fe", "👻"} {
		s.call(http.MethodGet, "/messages/"+no, m.Token, 404, "message.not_found")
	}
}

// A mail to several mailboxes is stored in each, and no recipient learns of the others from the envelope.
func TestMailToSeveralMailboxes(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	a, b := s.create("", nil), s.create("", nil)
	s.Send(apptest.Mail{To: []string{a.Address, b.Address, a.Address}, Subject: "to both", Raw: crlf("Subject: to both", "", "hidden recipients")})
	for _, m := range []mailbox{a, b} {
		list := get[[]summary](s, "/mailboxes/me/messages", m.Token)
		if len(list) != 1 {
			t.Fatalf("%d messages in %s, want 1", len(list), m.Address)
		}
		full := get[message](s, "/messages/"+list[0].ID, m.Token)
		other := strings.NewReplacer(a.Address, b.Address, b.Address, a.Address).Replace(m.Address)
		if text := fmt.Sprintf("%+v", full); strings.Contains(text, other) {
			t.Errorf("the message of %s is %s, want no %s in it", m.Address, text, other)
		}
	}
}

// TestStyleElementsAreScopedToTheirMessage reads two messages with the same text: rules that depend on the width are
// below a scope of each message, the same at every reading.
func TestStyleElementsAreScopedToTheirMessage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	scope := regexp.MustCompile(`^<div class="(m[a-z2-7]{8})"><style>@media \(max-width:480px\)\{\.(m[a-z2-7]{8}) \.(m[a-z2-7]{8})-0\{width:100% !important\}\}</style>`)
	seen := map[string]bool{}
	for range 2 {
		id := s.mail(m.box(), apptest.Mail{Raw: crlf("Subject: looks", "MIME-Version: 1.0", "Content-Type: text/html; charset=utf-8", "",
			`<style>body>.a{color:red}.b{position:fixed}@media (max-width:480px){.a{width:100%}}</style><p class="a b" id=c>Hi`)}).ID
		full := get[message](s, "/messages/"+id, m.Token)
		if full.HTML == nil || !strings.Contains(*full.HTML, `<p style="color:red" class="`) {
			t.Fatalf("GET /messages/%s = %+v, want HTML with the style inline and a class of its own", id, full)
		}
		found := scope.FindStringSubmatch(*full.HTML)
		if found == nil || found[1] != found[2] || found[1] != found[3] || seen[found[1]] {
			t.Errorf("the HTML is %s, want a scope of its own for the message, the same three times; found %q", *full.HTML, found)
			continue
		}
		seen[found[1]] = true
		if again := get[message](s, "/messages/"+id, m.Token); *again.HTML != *full.HTML {
			t.Errorf("GET /messages/%s the second time = %s, want the same HTML as the first: %s", id, *again.HTML, *full.HTML)
		}
	}
}

func TestHTMLIsSafeAndItsImagesAreInlined(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"message.inline_image_max": "100B"})
	m := s.create("", nil)
	const pixel = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
	id := s.mail(m.box(), apptest.Mail{Raw: crlf("Subject: pictures", "MIME-Version: 1.0", `Content-Type: multipart/related; boundary="b"`, "",
		"--b", "Content-Type: text/html; charset=utf-8", "",
		`<p onclick="x()">Hi<script>alert(1)</script> <a href="javascript:x">bad</a> <a href="https://example.org/">good</a>`+
			`<img src="cid:small"><img src="cid:large"><img src="https://example.org/remote.png">`,
		"--b", "Content-Type: image/gif", "Content-ID: <small>", "Content-Disposition: inline", "Content-Transfer-Encoding: base64", "", pixel,
		"--b", "Content-Type: image/gif", "Content-ID: <large>", "Content-Disposition: inline", "Content-Transfer-Encoding: base64", "",
		strings.Repeat("QUJD", 100), "--b--")}).ID
	full := get[message](s, "/messages/"+id, m.Token)
	if full.HTML == nil {
		t.Fatal("the message has no HTML, want some")
	}
	for text, wanted := range map[string]bool{
		"script": false, "alert": false, "onclick": false, "javascript:": false, "cid:": false,
		"data:image/gif;base64," + pixel: true, "https://example.org/remote.png": true,
		`rel="noopener noreferrer nofollow"`: true, `target="_blank"`: true, "QUJD": false,
	} {
		if strings.Contains(*full.HTML, text) != wanted {
			t.Errorf("the HTML is %s, want %q in it: %t", *full.HTML, text, wanted)
		}
	}
	if !strings.HasPrefix(full.Text, "Hi") || len(full.Attachments) != 2 || !full.Attachments[0].Inline || *full.Attachments[0].ContentID != "small" {
		t.Errorf("GET /messages/%s = %+v, want the text Hi and two attachments, the first inline as small", id, full)
	}
	if !full.HasAttachments {
		t.Error("hasAttachments is false, want true")
	}
}

// With batches of one mail, each mail is stored once.
func TestBatchOfOneMailStoresItOnce(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"smtp.set_max": "1"})
	m := s.create("", nil)
	const senders, each = 8, 4
	var crowd sync.WaitGroup
	for i := range senders {
		crowd.Go(func() {
			for n := range each {
				if err := s.TrySend(apptest.Mail{To: []string{m.Address}, Subject: fmt.Sprint("mail ", i*each+n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	crowd.Wait()
	seen := make(map[string]int)
	for _, got := range get[[]summary](s, "/mailboxes/me/messages?limit=100", m.Token) {
		seen[got.Subject]++
	}
	for n := range senders * each {
		if subject := fmt.Sprint("mail ", n); seen[subject] != 1 {
			t.Errorf("%s is listed %d times, want once", subject, seen[subject])
		}
	}
}

package blackbox_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// formBody is a form as a provider posts it.
type formBody struct {
	fields map[string]string
	coded  bool // urlencoded, and not multipart
}

// encode returns the body and its media type.
func (f formBody) encode() (body []byte, media string) {
	if f.coded {
		values := url.Values{}
		for name, value := range f.fields {
			values.Set(name, value)
		}
		return []byte(values.Encode()), "application/x-www-form-urlencoded"
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range f.fields {
		_ = w.WriteField(name, value)
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// postForm posts a form to a path below the ingresses.
func (s *service) postForm(path string, f formBody, change func(*http.Request)) apptest.Response {
	s.t.Helper()
	body, media := f.encode()
	return s.do(http.MethodPost, "/ingress/"+path, "", body, func(r *http.Request) {
		r.Header = http.Header{"Content-Type": {media}}
		if change != nil {
			change(r)
		}
	})
}

// mailgunForm returns the form that Mailgun posts to a route.
func mailgunForm(to, token, mail string, at time.Time) formBody {
	t := strconv.FormatInt(at.Unix(), 10)
	return formBody{fields: map[string]string{
		"recipient": to, "sender": "shop@sender.example", "from": "Shop <shop@sender.example>", "subject": "x", "body-mime": mail,
		"timestamp": t, "token": token, "signature": hexMAC(ingressSecret, t+token),
	}}
}

func TestMailgunPostsAMail(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	m := s.create("", nil)
	code := s.waiting(waitForCode, m.Token)
	mail := mailWith("a mail", "482913")
	form := mailgunForm(m.Address, "token-1", mail, s.Clock.Now())
	want(t, s.postForm("mailgun/mime", form, nil), 200, "")
	if got := code(); !strings.Contains(string(got.Body), "482913") {
		t.Errorf("the wait for a code got %s, want 482913", got.Body)
	}
	count := func() int { return get[mailbox](s, "/mailboxes/me", m.Token).MessageCount }
	want(t, s.postForm("mailgun/mime", form, nil), 200, "") // Mailgun got no answer
	s.Clock.Advance(10 * time.Minute)                       // its first interval
	want(t, s.postForm("mailgun", form, nil), 200, "")
	form.coded = true
	want(t, s.postForm("mailgun", form, nil), 200, "")
	want(t, s.postForm("mailgun", mailgunForm(m.Address, "token-2", mail, s.Clock.Now()), nil), 200, "")
	if count() != 1 {
		t.Errorf("a mail that was posted five times is there %d times, want once", count())
	}
	want(t, s.postForm("mailgun", mailgunForm(m.Address, "token-1", mailWith("another", "1"), s.Clock.Now()), nil), 401, "auth.invalid_token")
	want(t, s.postForm("mailgun", mailgunForm("nosuch@gonebox.localhost", "token-3", mail, s.Clock.Now()), nil), 406, "ingress.refused")
	want(t, s.postForm("mailgun", mailgunForm("nosuch@gonebox.localhost", "token-3", mail, s.Clock.Now()), nil), 406, "ingress.refused")
	if count() != 1 {
		t.Errorf("mail that was refused is there: %d messages, want 1", count())
	}
	raw := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]
	if text := string(s.call(http.MethodGet, "/messages/"+raw.ID+"/raw", m.Token, 200, "").Body); !strings.HasSuffix(text, mail) ||
		!strings.Contains(text, `spf=none reason="the ingress does not pass the address of the client" smtp.mailfrom=shop@sender.example`) {
		t.Errorf("the raw message is\n%s\nwant what was posted, and why SPF was not checked", text)
	}
}

func TestMailgunsSignatureIsChecked(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	m := s.create("", nil)
	now := s.Clock.Now()
	for name, change := range map[string]func(map[string]string){
		"another token":     func(f map[string]string) { f["token"] = "other" },
		"another time":      func(f map[string]string) { f["timestamp"] = strconv.FormatInt(now.Unix()+1, 10) },
		"no signature":      func(f map[string]string) { delete(f, "signature") },
		"signature is text": func(f map[string]string) { f["signature"] = "yes" },
		"no token":          func(f map[string]string) { f["token"], f["signature"] = "", hexMAC(ingressSecret, f["timestamp"]) },
		"a day old": func(f map[string]string) {
			maps.Copy(f, mailgunForm(m.Address, "old", "x", now.Add(-24*time.Hour-time.Second)).fields)
		},
		"ten minutes ahead": func(f map[string]string) {
			maps.Copy(f, mailgunForm(m.Address, "new", "x", now.Add(10*time.Minute)).fields)
		},
		"time moved into token": func(f map[string]string) {
			f["token"], f["timestamp"] = f["timestamp"][5:]+f["token"], f["timestamp"][:5]
		},
		"empty": func(f map[string]string) { clear(f) },
	} {
		form := mailgunForm(m.Address, "token", mailWith("x", "1"), now)
		change(form.fields)
		if a := s.postForm("mailgun", form, nil); a.Status != 401 || a.Code() != "auth.invalid_token" {
			t.Errorf("a form with %s: %d %s, want 401", name, a.Status, a.Body)
		}
	}
	form := mailgunForm(m.Address, "token", mailWith("x", "1"), now)
	for name, media := range map[string]string{"no form": "message/rfc822", "no boundary": "multipart/form-data", "no media type": ""} {
		if a := s.postForm("mailgun", form, func(r *http.Request) { r.Header.Set("Content-Type", media) }); a.Status != 401 {
			t.Errorf("%s: a mail of another media type: %d %s, want 401", name, a.Status, a.Body)
		}
	}
	// The parsed form of a route without mime has no message. Mailgun sends it again until that is mended.
	delete(form.fields, "body-mime")
	if a := s.postForm("mailgun", form, nil); a.Status != 503 || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), "/mime") {
		t.Errorf("a form without a message: %d %s, want 503 with Retry-After and what to change", a.Status, a.Body)
	}
	// A signature is valid for its own recipient alone.
	sent, other := mailgunForm(m.Address, "seen", mailWith("x", "1"), now), s.create("", nil)
	want(t, s.postForm("mailgun", sent, nil), 200, "")
	sent.fields["recipient"] = other.Address
	want(t, s.postForm("mailgun", sent, nil), 401, "auth.invalid_token")
	want(t, s.call(http.MethodDelete, "/messages/"+get[[]summary](s, "/mailboxes/me/messages", m.Token)[0].ID, m.Token, 204, ""), 204, "")
	if n := get[mailbox](s, "/mailboxes/me", m.Token).MessageCount; n != 0 {
		t.Errorf("%d messages were stored, want none", n)
	}
}

// postmarkJSON returns what Postmark posts.
func postmarkJSON(id, original, mail string, more fields) fields {
	f := fields{
		"FromName": "Shop", "From": "shop@sender.example", "FromFull": fields{"Email": "shop@sender.example", "Name": "Shop", "MailboxHash": ""},
		"To": original, "ToFull": []fields{{"Email": "ada@elsewhere.example"}}, "Cc": "", "CcFull": []fields{}, "Bcc": "", "BccFull": []fields{},
		"OriginalRecipient": original, "Subject": "x", "MessageID": id, "Date": "Sat, 14 Mar 2026 11:59:00 +0000", "TextBody": "x", "HtmlBody": "",
		"Headers": []fields{{"Name": "X-Spam-Status", "Value": "No"}}, "Attachments": []fields{}, "RawEmail": strings.ReplaceAll(mail, "\r\n", "\n"),
	}
	maps.Copy(f, more)
	return f
}

// postJSON posts a document with Basic authentication.
func (s *service) postJSON(name string, document any) apptest.Response {
	s.t.Helper()
	return s.do(http.MethodPost, "/ingress/"+name, "", document, func(r *http.Request) { r.SetBasicAuth(name, ingressSecret) })
}

func TestPostmarkPostsAMail(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(settings{"mailbox.max_messages": "3"}))
	m := s.create("", nil)
	code := s.waiting(waitForCode, m.Token)
	mail := mailWith("a mail", "482913")
	want(t, s.postJSON("postmark", postmarkJSON("id-1", m.Address, mail, nil)), 200, "")
	if got := code(); !strings.Contains(string(got.Body), "482913") {
		t.Errorf("the wait for a code got %s, want 482913", got.Body)
	}
	raw := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]
	if text := string(s.call(http.MethodGet, "/messages/"+raw.ID+"/raw", m.Token, 200, "").Body); !strings.HasSuffix(text, mail) {
		t.Errorf("the raw message is\n%q\nwant it to end with\n%q: lines end in CRLF", text, mail)
	}
	count := func() int { return get[mailbox](s, "/mailboxes/me", m.Token).MessageCount }
	// The same identifier is the same mail, whatever else is in the document.
	want(t, s.postJSON("postmark", postmarkJSON("id-1", m.Address, mailWith("changed", "1"), nil)), 200, "")
	if count() != 1 {
		t.Errorf("a mail that was posted twice is there %d times, want once", count())
	}
	// Mail that is forwarded to the stream's own address is for the recipients that the header names.
	forwarded := fields{"ToFull": []fields{{"Email": m.Address}, {"Email": "x@inbound.postmarkapp.com"}}, "CcFull": []fields{{"Email": "ada@elsewhere.example"}}}
	want(t, s.postJSON("postmark", postmarkJSON("id-2", "0123456789abcdef@inbound.postmarkapp.com", mail, forwarded)), 200, "")
	if count() != 2 {
		t.Errorf("a mail to the stream's own address is not in the mailbox of its To field: %d messages, want 2", count())
	}
	// Postmark does not notify the sender of a refused mail, so the mail is acknowledged, and the delivery log has an entry.
	for id, original := range map[string]string{"id-3": "nosuch@gonebox.localhost", "id-4": "no address", "id-5": ""} {
		a := s.postJSON("postmark", postmarkJSON(id, original, mail, nil))
		if want(t, a, 200, ""); strings.Contains(string(a.Body), `"reply":"250`) {
			t.Errorf("%s for %q: %s, want a refusal", a.Request, original, a.Body)
		}
	}
	// A stream without raw mail, or a document that breaks off, is mended, and the mail is sent again.
	for _, document := range []any{postmarkJSON("id-6", m.Address, "", nil), fields{"RawEmail": 5}, fields{}, []byte("{"), []byte("null")} {
		if a := s.postJSON("postmark", document); a.Status != 503 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s with %v: %d %s, want 503 with Retry-After", a.Request, document, a.Status, a.Body)
		}
	}
	want(t, s.do(http.MethodPost, "/ingress/postmark", "", fields{}, func(*http.Request) {}), 401, "auth.required")
	want(t, s.do(http.MethodPost, "/ingress/postmark", "", fields{}, func(r *http.Request) { r.SetBasicAuth("postmark", "x") }), 401, "auth.invalid_token")
	want(t, s.postJSON("postmark", postmarkJSON("id-7", m.Address, mailWith("third", "1"), nil)), 200, "")
	a := s.postJSON("postmark", postmarkJSON("id-8", m.Address, mailWith("too many", "1"), nil))
	if want(t, a, 503, "server.unavailable"); a.Header.Get("Retry-After") == "" {
		t.Errorf("%s to a full mailbox has no Retry-After, want one", a.Request)
	}
}

// sendGridForm returns the form that SendGrid posts.
func sendGridForm(to []string, mail string, more map[string]string) formBody {
	envelope, _ := json.Marshal(fields{"to": to, "from": "shop@sender.example"})
	f := formBody{fields: map[string]string{
		"email": mail, "envelope": string(envelope), "to": strings.Join(to, ", "), "from": "Shop <shop@sender.example>", "sender_ip": "203.0.113.9", "SPF": "pass", "charsets": "{}",
	}}
	maps.Copy(f.fields, more)
	return f
}

func TestSendGridPostsAMail(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(nil))
	m, other := s.create("", nil), s.create("", nil)
	auth := func(r *http.Request) { r.SetBasicAuth("sendgrid", ingressSecret) }
	mail := mailWith("a mail", "482913")
	code := s.waiting(waitForCode, m.Token)
	want(t, s.postForm("sendgrid", sendGridForm([]string{m.Address, other.Address}, mail, nil), auth), 200, "")
	want(t, s.postForm("sendgrid", sendGridForm([]string{m.Address, other.Address}, mail, nil), auth), 200, "")
	if got := code(); !strings.Contains(string(got.Body), "482913") {
		t.Errorf("the wait for a code got %s, want 482913", got.Body)
	}
	for _, box := range []mailbox{m, other} {
		list := get[[]summary](s, "/mailboxes/me/messages", box.Token)
		if len(list) != 1 {
			t.Fatalf("%s has %d messages, want 1", box.Address, len(list))
		}
		if text := string(s.call(http.MethodGet, "/messages/"+list[0].ID+"/raw", box.Token, 200, "").Body); !strings.HasSuffix(text, mail) || !strings.Contains(text, "([203.0.113.9])") {
			t.Errorf("the raw message is\n%s\nwant what was posted, from 203.0.113.9", text)
		}
	}
	want(t, s.postForm("sendgrid", sendGridForm([]string{"nosuch@gonebox.localhost"}, mail, nil), auth), 200, "")
	for name, more := range map[string]map[string]string{
		"no envelope":       {"envelope": ""},
		"envelope is none":  {"envelope": `["x"]`},
		"to is no list":     {"envelope": `{"to": "x", "from": "y"}`},
		"no recipient":      {"envelope": `{"to": [], "from": "y@x.example"}`},
		"hostile recipient": {"envelope": `{"to": ["a\r\nRCPT TO:<b@x>"], "from": "y@x.example"}`},
		"hostile sender":    {"envelope": `{"to": ["nosuch@gonebox.localhost"], "from": "y\u0000@x.example"}`},
		"hostile client":    {"envelope": `{"to": ["nosuch@gonebox.localhost"], "from": ""}`, "sender_ip": "203.0.113.9\r\nX: y"},
		"long envelope":     {"envelope": `{"to": ["` + strings.Repeat("x", 70<<10) + `"]}`},
	} {
		if a := s.postForm("sendgrid", sendGridForm(nil, mail, more), auth); a.Status != 200 || strings.Contains(string(a.Body), `"reply":"250`) {
			t.Errorf("a form with %s: %d %s, want it acknowledged and refused", name, a.Status, a.Body)
		}
	}
	// What lacks the message or breaks off is sent again.
	whole := sendGridForm([]string{m.Address}, mailWith("another", "2"), nil)
	want(t, s.postForm("sendgrid", sendGridForm([]string{m.Address}, "", nil), auth), 503, "server.unavailable")
	body, media := whole.encode()
	want(t, s.do(http.MethodPost, "/ingress/sendgrid", "", body[:len(body)-10], func(r *http.Request) {
		r.Header = http.Header{"Content-Type": {media}}
		auth(r)
	}), 503, "server.unavailable")
	want(t, s.postForm("sendgrid", whole, auth), 200, "")
	want(t, s.postForm("sendgrid", sendGridForm([]string{m.Address}, mail, nil), nil), 401, "auth.required")
}

// A webhook of SendGrid that is signed has the signature of the time and the body instead of a password.
func TestSendGridSignsAMail(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, settings{"ingress.grid.kind": "sendgrid", "ingress.grid.public_key": base64.StdEncoding.EncodeToString(der)})
	m := s.create("", nil)
	post := func(subject string, age time.Duration, change func(*http.Request)) apptest.Response {
		body, media := sendGridForm([]string{m.Address}, mailWith(subject, "1"), nil).encode()
		at := strconv.FormatInt(s.Clock.Now().Add(-age).Unix(), 10)
		sum := sha256.Sum256(append([]byte(at), body...))
		signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return s.do(http.MethodPost, "/ingress/grid", "", body, func(r *http.Request) {
			r.Header = http.Header{"Content-Type": {media}}
			r.Header.Set("X-Twilio-Email-Event-Webhook-Signature", base64.StdEncoding.EncodeToString(signature))
			r.Header.Set("X-Twilio-Email-Event-Webhook-Timestamp", at)
			if change != nil {
				change(r)
			}
		})
	}
	want(t, post("right", 0, nil), 200, "")
	want(t, post("three hours old", 3*time.Hour, nil), 200, "")
	want(t, post("too old", 25*time.Hour, nil), 401, "auth.invalid_token")
	want(t, post("unsigned", 0, func(r *http.Request) { r.Header.Del("X-Twilio-Email-Event-Webhook-Signature") }), 401, "auth.required")
	want(t, post("basic", 0, func(r *http.Request) {
		r.Header.Del("X-Twilio-Email-Event-Webhook-Signature")
		r.SetBasicAuth("grid", "")
	}), 401, "auth.required")
	want(t, post("another time", 0, func(r *http.Request) {
		r.Header.Set("X-Twilio-Email-Event-Webhook-Timestamp", fmt.Sprint(s.Clock.Now().Unix()-1))
	}), 401, "auth.invalid_token")
	want(t, post("garbage", 0, func(r *http.Request) { r.Header.Set("X-Twilio-Email-Event-Webhook-Signature", "!") }), 401, "auth.invalid_token")
	if n := get[mailbox](s, "/mailboxes/me", m.Token).MessageCount; n != 2 {
		t.Errorf("%d messages were stored, want 2", n)
	}
}

// Each provider sends a mail again at the intervals of its documentation until it is answered 200, and gives up after the last one.
func TestProvidersRetryAsTheyDocument(t *testing.T) {
	t.Parallel()
	s := start(t, withIngress(settings{
		"mailbox.max_messages": "1", "plans.guest.mailbox.ttl.default": "240h", "plans.guest.mailbox.ttl.max": "240h", "plans.guest.mailbox.lifetime.max": "240h",
	}))
	minutes := func(all ...int) (intervals []time.Duration) {
		for _, m := range all {
			intervals = append(intervals, time.Duration(m)*time.Minute)
		}
		return intervals
	}
	for name, intervals := range map[string][]time.Duration{
		"cloudflare": minutes(5, 10, 20, 40, 80, 160),   // those of the sending server, as the worker throws
		"mailgun":    minutes(10, 15, 30, 60, 120, 240), // with the same signature
		"postmark":   minutes(1, 5, 10, 10, 10, 15, 30, 60, 120, 360),
		"sendgrid":   minutes(60, 60, 120, 240, 480),
	} {
		m := s.create("", nil)
		s.Send(apptest.Mail{To: []string{m.Address}, Subject: "fills it", Text: "x"})
		mail := mailWith("sent again to "+name, "482913")
		signed := mailgunForm(m.Address, "token of "+name, mail, s.Clock.Now())
		post := func() apptest.Response {
			switch name {
			case "mailgun":
				return s.postForm("mailgun/mime", signed, nil)
			case "postmark":
				return s.postJSON("postmark", postmarkJSON("id of "+name, m.Address, mail, nil))
			case "sendgrid":
				return s.postForm("sendgrid", sendGridForm([]string{m.Address}, mail, nil), func(r *http.Request) { r.SetBasicAuth("sendgrid", ingressSecret) })
			}
			return s.postMail(posted{name: name, from: "shop@sender.example", to: []string{m.Address}, body: mail})
		}
		for i, interval := range intervals {
			if a := post(); a.Status != 503 || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s, try %d: %d %s, want 503 with Retry-After while the mailbox is full", name, i, a.Status, a.Body)
			}
			s.Clock.Advance(interval)
		}
		first := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]
		s.call(http.MethodDelete, "/messages/"+first.ID, m.Token, 204, "")
		for range 2 { // the last try, and one that a provider makes that has lost the answer
			want(t, post(), 200, "")
		}
		if list := get[[]summary](s, "/mailboxes/me/messages", m.Token); len(list) != 1 || list[0].Subject != "sent again to "+name {
			t.Errorf("%s: the mailbox has %+v, want the mail once", name, list)
		}
	}
}

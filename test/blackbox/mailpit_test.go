package blackbox_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// mailpit is a service with a sink, called as its test tools call it.
type mailpit struct {
	*service
	base string
	smtp func(subject string, raw string, to ...string)
}

type mailpitAddress struct{ Name, Address string }

type mailpitSummary struct {
	ID, MessageID, Subject, Snippet, Username string
	Read                                      bool
	From                                      mailpitAddress
	To, Cc, Bcc, ReplyTo                      []mailpitAddress
	Created                                   time.Time
	Tags                                      []string
	Size                                      int64
	Attachments                               int
}

type mailpitFrame struct {
	Total, Unread, Count, Start int
	MessagesCount               int `json:"messages_count"`
	MessagesUnread              int `json:"messages_unread"`
	Tags                        []string
	Messages                    []mailpitSummary
}

type mailpitFile struct {
	PartID, FileName, ContentType, ContentID string
	Size                                     int64
	Checksums                                struct{ MD5, SHA1, SHA256 string }
}

type mailpitMessage struct {
	ID, MessageID, ReturnPath, Subject, Text, HTML string
	From                                           mailpitAddress
	To, Cc, Bcc, ReplyTo                           []mailpitAddress
	ListUnsubscribe                                struct{ Header string }
	Date                                           time.Time
	Tags                                           []string
	Size                                           int64
	Inline, Attachments                            []mailpitFile
}

func startMailpit(t *testing.T, more settings) *mailpit {
	t.Helper()
	s := startAccounts(t, devSettings(more))
	m := &mailpit{service: s, base: s.Mailpit}
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	m.smtp = func(subject, raw string, to ...string) {
		t.Helper()
		reply(t, c, 250, "MAIL FROM:<app@company.test>")
		for _, address := range to {
			reply(t, c, 250, "RCPT TO:<"+address+">")
		}
		reply(t, c, 354, "DATA")
		if raw == "" {
			raw = "From: \"The App\" <app@company.test>\r\nTo: " + to[0] + "\r\nMessage-ID: <" + url.QueryEscape(subject) + "@company.test>\r\nSubject: " + subject + "\r\n\r\nYour code is 246810.\r\n"
		}
		reply(t, c, 250, raw+".")
		s.Clock.Advance(time.Second)
	}
	return m
}

// try makes a call and returns the answer.
func (m *mailpit) try(method, path, body string, change func(*http.Request)) apptest.Response {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.base+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Accept", "*/*") // as clients of Mailpit send it
	if change != nil {
		change(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return apptest.Response{Request: apptest.DescribeRequest(r), Status: res.StatusCode, Header: res.Header, Body: text}
}

// ask makes a call that must succeed and decodes its answer, unless v is nil.
func (m *mailpit) ask(method, path, body string, v any) apptest.Response {
	m.t.Helper()
	a := m.try(method, path, body, nil)
	if a.Status != http.StatusOK {
		m.t.Fatalf("%s %s: %d %s, want %d", method, path, a.Status, a.Body, http.StatusOK)
	}
	if v != nil {
		if err := json.Unmarshal(a.Body, v); err != nil {
			m.t.Fatalf("%s %s: %v in %s", method, path, err, a.Body)
		}
	}
	return a
}

func (m *mailpit) search(query string) (f mailpitFrame) {
	m.t.Helper()
	m.ask(http.MethodGet, "/api/v1/search?query="+url.QueryEscape(query), "", &f)
	return f
}

func (m *mailpit) subjects(f mailpitFrame) string {
	var all []string
	for _, s := range f.Messages {
		all = append(all, s.Subject)
	}
	return strings.Join(all, " ")
}

func TestMailpitListsAMailOnce(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	var f mailpitFrame
	if a := m.ask(http.MethodGet, "/api/v1/messages", "", &f); f.Total != 0 || !bytes.Contains(a.Body, []byte(`"messages":[]`)) {
		t.Errorf("GET /api/v1/messages of an empty sink = %s, want 0 and an empty list", a.Body)
	}
	m.smtp("first", "", "ada@company.test", "hidden@other.test", "hidden@other.test")
	m.smtp("second", "", "ada@company.test")
	m.NewMailbox() // served mail is not listed
	m.ask(http.MethodGet, "/api/v1/messages", "", &f)
	if f.Total != 2 || f.Unread != 2 || f.Count != 2 || f.MessagesCount != 2 || f.MessagesUnread != 2 || f.Start != 0 || f.Tags == nil || m.subjects(f) != "second first" {
		t.Errorf("GET /api/v1/messages = %+v, want 2 unread mails from 0 on, second and first", f)
	}
	one := f.Messages[1]
	if one.From != (mailpitAddress{"The App", "app@company.test"}) || one.MessageID != "first@company.test" || one.Snippet != "Your code is 246810." || one.Read || one.Size == 0 ||
		!slices.Equal(one.To, []mailpitAddress{{"", "ada@company.test"}}) || !slices.Equal(one.Bcc, []mailpitAddress{{"", "hidden@other.test"}}) || one.Cc == nil || one.ReplyTo == nil || one.Tags == nil || one.Created.IsZero() {
		t.Errorf("the second mail of the list is %+v, want the first one, unread, from The App to ada@company.test, with hidden@other.test as Bcc, and empty lists elsewhere", one)
	}
	m.ask(http.MethodGet, "/api/v1/messages?start=1&limit=1", "", &f)
	if f.Start != 1 || f.Count != 1 || f.Total != 2 || m.subjects(f) != "first" {
		t.Errorf("GET /api/v1/messages?start=1&limit=1 = %+v, want the first mail alone, at 1 of 2", f)
	}
	// Deleting the message in one mailbox leaves the mail as long as the other has it.
	for _, address := range []string{"ada@company.test", "hidden@other.test"} {
		if got := m.search("subject:first"); got.MessagesCount != 1 {
			t.Errorf("before %s ends: %+v, want MessagesCount 1", address, got)
		}
		for _, b := range get[[]keyMailbox](m.service, "/keys/mailboxes", devKey) {
			if b.Address == address {
				m.call(http.MethodDelete, "/keys/mailboxes/"+b.ID, devKey, 204, "")
			}
		}
		m.Clock.Advance(time.Minute)
	}
	eventually(t, "the erasure", func() bool {
		m.Clock.Advance(30 * time.Second)
		return m.search("subject:first").MessagesCount == 0
	})
}

func TestMailpitSearch(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("Welcome", "", "ada@company.test", "boss@company.test")
	m.smtp("", "From: Shop <shop@store.test>\r\nTo: \"Ada L\" <ada@company.test>, bob@company.test\r\nCc: carol@company.test\r\nReply-To: help@store.test\r\n"+
		"Message-ID: <invoice-1@store.test>\r\nSubject: Your INVOICE for =?utf-8?q?=C3=84pfel?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nPay 100% now\r\n--b\r\n"+
		"Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=bill.pdf\r\n\r\npdf\r\n--b--\r\n", "ada@company.test", "bob@company.test", "carol@company.test")
	m.ask(http.MethodGet, "/api/v1/message/latest", "", nil)
	for query, want := range map[string]int{
		"code": 1, "CODE": 1, "ode is": 1, `"code is"`: 1, `"is code"`: 0, "zzz": 0, "100%": 1, "_": 0,
		"to:ada@company.test": 2, `to:"ada@company.test"`: 2, `to:"Ada L"`: 1, "to:bob": 1, "to:carol": 0, "from:shop@store.test": 1, `from:"The App"`: 1,
		"cc:carol": 1, "bcc:boss": 1, "bcc:ada": 0, "reply-to:help@": 1, "addressed:company.test": 2, "addressed:help": 1,
		"subject:invoice": 1, `subject:"your invoice"`: 1, `subject:"invoice your"`: 0, "subject:äpfel": 1, "subject:ÄPFEL": 1, "message-id:invoice-1@store.test": 1,
		"-subject:invoice": 1, "!subject:invoice": 1, "-zzz": 2, "to:ada -from:shop": 1, "to:ada from:shop subject:invoice": 1,
		"is:read": 1, "is:unread": 1, "is:tagged": 0, "tag:x": 0, "-tag:x": 2, "has:attachment": 1, "has:attachments": 1, "has:inline": 0, "-has:attachment": 1,
		"bill.pdf": 1, "larger:1": 2, "smaller:1mb": 2, "larger:1mb": 0, "larger:300": 1, "after:2026-03-14": 2, "before:2026-03-14": 0, "after:2026/03/15": 0,
		"before:2026-03-15T00:00:00Z": 2, `after:"2026-03-14 12:00"`: 2,
	} {
		f := m.search(query)
		if f.MessagesCount != want || len(f.Messages) != want || f.Count != want || f.Total != 2 {
			t.Errorf("%s: %d matches, want %d", query, f.MessagesCount, want)
		}
	}
	var f mailpitFrame
	m.ask(http.MethodGet, "/api/v1/search?query=after:2026-03-14T20:00:00&tz=Asia/Ho_Chi_Minh", "", &f)
	if f.MessagesCount != 0 {
		t.Errorf("the search after 20:00 in Ho Chi Minh City = %+v, want no mail", f)
	}
	m.ask(http.MethodGet, "/api/v1/search?query=after:2026-03-14T18:59:00&tz=Asia/Ho_Chi_Minh&start=1&limit=1", "", &f)
	if f.MessagesCount != 2 || f.Count != 1 {
		t.Errorf("the search after 18:59 in Ho Chi Minh City, from 1 on = %+v, want one mail of two", f)
	}
	for _, query := range []string{"", "query=", "query=after:soon", "query=larger:big", "query=a&tz=Moon/Sea", "query=a&start=-1", "query=a&limit=x", "query=" + strings.Repeat("a", 1001), "query=" + strings.Repeat("a+", 17)} {
		if a := m.try(http.MethodGet, "/api/v1/search?"+query, "", nil); a.Status != 400 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("GET /api/v1/search?%.40s: %d %s, want 400 and text", query, a.Status, a.Body)
		}
	}
}

func TestMailpitMessage(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 300, 100))); err != nil {
		t.Fatal(err)
	}
	raw := "From: Shop <shop@store.test>\r\nTo: ada@company.test\r\nSubject: Hello\r\nDate: Sat, 14 Mar 2026 11:00:00 +0000\r\nX-Two: a\r\nX-Two: b\r\n" +
		"List-Unsubscribe: <https://store.test/u>, <mailto:u@store.test>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n" +
		"--i\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ncaf=C3=A9\r\n--i\r\nContent-Type: text/html\r\n\r\n<p onclick=\"x()\">caf&eacute;<script>alert(1)</script></p>\r\n--i--\r\n" +
		"--o\r\nContent-Type: image/png\r\nContent-ID: <logo@store.test>\r\nContent-Disposition: inline; filename=logo.png\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString(picture.Bytes()) +
		"\r\n--o\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nhello\r\n--o--\r\n"
	m.smtp("", raw, "ada@company.test")
	id := m.search("subject:hello").Messages[0].ID
	var d mailpitMessage
	m.ask(http.MethodGet, "/api/v1/message/"+id, "", &d)
	if d.ID != id || d.From.Address != "shop@store.test" || d.ReturnPath != "app@company.test" || d.Subject != "Hello" || !strings.Contains(d.Text, "café") || !strings.Contains(d.HTML, "<script>") ||
		d.Date.UTC().Hour() != 11 || d.ListUnsubscribe.Header == "" || d.Cc == nil || d.Bcc == nil || d.Tags == nil || len(d.Inline)+len(d.Attachments) != 2 {
		t.Errorf("GET /api/v1/message/%s = %+v, want the mail Hello of shop@store.test with its text, its HTML unsanitized, List-Unsubscribe and two parts", id, d)
	}
	var list mailpitFrame
	if m.ask(http.MethodGet, "/api/v1/messages", "", &list); !list.Messages[0].Read || list.Unread != 0 {
		t.Errorf("GET /api/v1/messages = %+v, want the mail read", list)
	}
	for _, f := range slices.Concat(d.Inline, d.Attachments) {
		a := m.ask(http.MethodGet, "/api/v1/message/"+id+"/part/"+f.PartID, "", nil)
		if int64(len(a.Body)) != f.Size || len(f.Checksums.MD5) != 32 || len(f.Checksums.SHA1) != 40 || len(f.Checksums.SHA256) != 64 || !strings.HasPrefix(a.Header.Get("Content-Type"), f.ContentType) {
			t.Errorf("the part %+v has %d octets and the header %v, want its size, type and checksums", f, len(a.Body), a.Header)
		}
		thumb := m.ask(http.MethodGet, "/api/v1/message/"+id+"/part/"+f.PartID+"/thumb", "", nil)
		if c, err := jpeg.DecodeConfig(bytes.NewReader(thumb.Body)); err != nil || c.Width != 180 || c.Height != 120 {
			t.Errorf("thumbnail of %s: %v %v, want Width 180 and Height 120", f.FileName, c, err)
		}
	}
	var headers map[string][]string
	if m.ask(http.MethodGet, "/api/v1/message/latest/headers", "", &headers); strings.Join(headers["X-Two"], " ") != "a b" || headers["Subject"][0] != "Hello" {
		t.Errorf("GET /api/v1/message/latest/headers = %v, want a and b of X-Two, and the subject Hello", headers)
	}
	if a := m.ask(http.MethodGet, "/api/v1/message/"+id+"/raw", "", nil); !bytes.Contains(a.Body, []byte("caf=C3=A9")) || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("GET /api/v1/message/%s/raw = %s, want caf=C3=A9 in it, as text", id, a.Body)
	}
	for path, holds := range map[string]string{"/view/" + id + ".html": "caf", "/view/latest.html": "caf", "/view/latest": "caf", "/view/" + id + ".txt": "café", "/view/latest.txt": "café"} {
		if a := m.ask(http.MethodGet, path, "", nil); !bytes.Contains(a.Body, []byte(holds)) || bytes.Contains(a.Body, []byte("script")) {
			t.Errorf("GET %s = %s, want %q in it, and no script", path, a.Body, holds)
		}
	}
	for _, path := range []string{
		"/api/v1/message/nothing", "/api/v1/message/snk_01jzq8w3v5e4t9n2k7m6x0y1dr", "/api/v1/message/" + id + "/part/9", "/api/v1/message/" + id + "/part/x", "/view/x.html",
		"/api/v1/message/" + id + "/sa-check", "/nothing",
	} {
		if a := m.try(http.MethodGet, path, "", nil); a.Status != 404 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("GET %s: %d %s, want 404 and text", path, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/", "/livez", "/readyz", "/api/v1/info"} {
		m.ask(http.MethodGet, path, "", nil)
	}
	if a := m.ask(http.MethodGet, "/api/v1/tags", "", nil); strings.TrimSpace(string(a.Body)) != "[]" {
		t.Errorf(`tags: %s, want Body "[]"`, a.Body)
	}
}

func TestMailpitMarksAndDeletes(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, subject := range []string{"a", "b", "c", "d", "e"} {
		m.smtp(subject, "", "ada@company.test", "bob@company.test")
	}
	var f mailpitFrame
	m.ask(http.MethodGet, "/api/v1/messages", "", &f)
	ids := func(n ...int) string {
		var all []string
		for _, i := range n {
			all = append(all, f.Messages[i].ID)
		}
		text, _ := json.Marshal(map[string]any{"IDs": all, "Read": true})
		return string(text)
	}
	state := func(want string, unread int) {
		t.Helper()
		var now mailpitFrame
		if m.ask(http.MethodGet, "/api/v1/messages", "", &now); m.subjects(now) != want || now.Unread != unread {
			t.Errorf("%q with %d unread, want %q with %d", m.subjects(now), now.Unread, want, unread)
		}
	}
	okay := func(method, path, body string) {
		t.Helper()
		if a := m.ask(method, path, body, nil); string(a.Body) != "ok" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s %s: %s, want ok as text", method, path, a.Body)
		}
	}
	okay(http.MethodPut, "/api/v1/messages", ids(0, 1))
	state("e d c b a", 3)
	okay(http.MethodPut, "/api/v1/messages", `{"Read": true}`)
	state("e d c b a", 0)
	okay(http.MethodPut, "/api/v1/messages", `{"IDs": [], "Read": false}`)
	state("e d c b a", 5)
	okay(http.MethodPut, "/api/v1/messages", `{"IDs": ["nothing"], "Read": true}`)
	state("e d c b a", 5)
	okay(http.MethodDelete, "/api/v1/messages", ids(0))
	state("d c b a", 4)
	okay(http.MethodDelete, "/api/v1/search?query=subject:d", "")
	state("c b a", 3)
	if a := m.ask(http.MethodDelete, "/api/v1/messages/"+f.Messages[2].ID, "", nil); len(a.Body) != 0 {
		t.Errorf("DELETE /api/v1/messages/%s, as MailHog does: %s, want no body", f.Messages[2].ID, a.Body)
	}
	state("b a", 2)
	for _, b := range get[[]keyMailbox](m.service, "/keys/mailboxes", devKey) { // the messages are deleted in every mailbox
		if n := len(get[[]summary](m.service, "/keys/mailboxes/"+b.ID+"/messages", devKey)); n != 2 {
			t.Errorf("%s has %d messages, want 2", b.Address, n)
		}
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodPut, "/api/v1/messages", "nonsense", 400},
		{http.MethodDelete, "/api/v1/messages", `{"IDs": "x"}`, 400},
		{http.MethodDelete, "/api/v1/search", "", 400},
		{http.MethodDelete, "/api/v1/search?query=subject:", "", 400},
		{http.MethodPut, "/api/v1/messages", `{"Read": true, "Search": "to:"}`, 400},
		{http.MethodDelete, "/api/v1/messages/nothing", "", 404},
	} {
		if a := m.try(c.method, c.path, c.body, nil); a.Status != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, a.Status, c.status)
		}
	}
	state("b a", 2)
	okay(http.MethodDelete, "/api/v1/messages", "")
	state("", 0)
}

func TestMailpitSend(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	var sent struct{ ID string }
	m.ask(http.MethodPost, "/api/v1/send", `{"From": {"Email": "a@company.test", "Name": "Ä, B"}, "To": [{"Email": "x@y.test", "Name": "X"}], "Cc": [{"Email": "c@y.test"}], "Bcc": ["z@y.test"],
		"ReplyTo": [{"Email": "r@y.test"}], "Subject": "Zwölf", "Text": "hi", "HTML": "<b>hi</b><img src=\"cid:l\">", "Headers": {"X-Own": "1"}, "Tags": ["t"],
		"Attachments": [{"Content": "aGVsbG8=", "Filename": "ü.txt", "ContentType": "text/plain"}, {"Content": "R0lG", "Filename": "l.gif", "ContentType": "image/gif", "ContentID": "l"}]}`, &sent)
	var d mailpitMessage
	m.ask(http.MethodGet, "/api/v1/message/"+sent.ID, "", &d)
	if d.From != (mailpitAddress{"Ä, B", "a@company.test"}) || d.To[0] != (mailpitAddress{"X", "x@y.test"}) || d.Cc[0].Address != "c@y.test" || len(d.Bcc) != 1 || d.Bcc[0].Address != "z@y.test" || d.ReplyTo[0].Address != "r@y.test" ||
		d.Subject != "Zwölf" || strings.TrimSpace(d.Text) != "hi" || !strings.Contains(d.HTML, "<b>hi</b>") || len(d.Attachments) != 1 || d.Attachments[0].FileName != "ü.txt" || len(d.Inline) != 1 {
		t.Errorf("GET /api/v1/message/%s = %+v, want the mail Zwölf as it was given to POST /api/v1/send", sent.ID, d)
	}
	var headers map[string][]string
	if m.ask(http.MethodGet, "/api/v1/message/latest/headers", "", &headers); len(headers["X-Own"]) != 1 {
		t.Errorf("GET /api/v1/message/latest/headers = %v, want X-Own once", headers)
	}
	for _, body := range []string{
		"", "{}", `{"From": {"Email": "a@b.test"}}`, `{"From": {"Email": "x"}, "To": [{"Email": "x@y.test"}]}`, `{"From": {"Email": "a@b.test"}, "To": [{"Email": "nobody@gonebox.localhost"}]}`,
		`{"From": {"Email": "a@b.test"}, "To": [{"Email": "x@y.test"}], "Headers": {"A: b": "c"}}`, `{"From": {"Email": "a@b.test"}, "To": [{"Email": "x@y.test"}], "Headers": {"A": "b\r\nBcc: c"}}`,
		`{"From": {"Email": "a@b.test"}, "To": [{"Email": "x@y.test"}], "Subject": "a\nb"}`, `{"From": {"Email": "a@b.test"}, "To": [{"Email": "x@y.test"}], "Attachments": [{"Content": "!"}]}`,
	} {
		if a := m.try(http.MethodPost, "/api/v1/send", body, nil); a.Status != 400 {
			t.Errorf("POST /api/v1/send with %s: %d %s, want 400", body, a.Status, a.Body)
		}
	}
	var f mailpitFrame
	if m.ask(http.MethodGet, "/api/v1/messages", "", &f); f.Total != 1 {
		t.Errorf("f = %+v, want Total 1", f)
	}
}

func TestMailHogAPI(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("plain", "", "ada@company.test", "bob@company.test")
	m.smtp("", "From: shop@store.test\r\nTo: carol@company.test\r\nSubject: nested\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n"+
		"--i\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ncaf=C3=A9\r\n--i\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--i--\r\n--o--\r\n", "carol@company.test")
	type path struct{ Mailbox, Domain string }
	type content struct {
		Headers map[string][]string
		Body    string
		Size    int
		MIME    *struct{ Parts []content }
	}
	type message struct {
		ID      string
		From    path
		To      []path
		Content content
		Created time.Time
		MIME    *struct{ Parts []content }
		Raw     struct {
			From, Data, Helo string
			To               []string
		}
	}
	var list struct {
		Total, Count, Start int
		Items               []message
	}
	m.ask(http.MethodGet, "/api/v2/messages", "", &list)
	if list.Total != 2 || list.Count != 2 {
		t.Fatalf("GET /api/v2/messages = %+v, want two", list)
	}
	nested, plain := list.Items[0], list.Items[1]
	if plain.From != (path{"app", "company.test"}) || !slices.Equal(plain.To, []path{{"ada", "company.test"}, {"bob", "company.test"}}) || plain.Content.Headers["Subject"][0] != "plain" ||
		plain.Content.Body != "Your code is 246810.\r\n" || plain.MIME != nil || plain.Created.IsZero() || plain.Raw.From != "app@company.test" || len(plain.Raw.To) != 2 || plain.Raw.Helo != "app" || !strings.Contains(plain.Raw.Data, "Subject: plain") {
		t.Errorf("GET /api/v2/messages has %+v, want the plain mail with its headers, its text, both recipients, and its raw form", plain)
	}
	if nested.MIME == nil || len(nested.MIME.Parts) != 1 || nested.MIME.Parts[0].MIME == nil || len(nested.MIME.Parts[0].MIME.Parts) != 2 || nested.MIME.Parts[0].MIME.Parts[0].Body != "caf=C3=A9" {
		t.Errorf("GET /api/v2/messages has the parts %+v, want one with two inside, the first caf=C3=A9", nested.MIME)
	}
	for query, want := range map[string]int{
		"kind=from&query=shop": 1, "kind=to&query=bob@company.test": 1, "kind=to&query=company.test": 2, "kind=containing&query=246810": 1, "kind=containing&query=NESTED": 1, "kind=from&query=zzz": 0,
	} {
		if m.ask(http.MethodGet, "/api/v2/search?"+query, "", &list); list.Total != want || list.Count != want || len(list.Items) != want {
			t.Errorf("GET /api/v2/search?%s finds %d mails, want %d in each of its counts", query, list.Total, want)
		}
	}
	if a := m.try(http.MethodGet, "/api/v2/search?kind=subject&query=x", "", nil); a.Status != 400 {
		t.Errorf("another kind: %d, want Status 400", a.Status)
	}
	m.ask(http.MethodGet, "/api/v2/messages?start=1&limit=1", "", &list)
	if list.Start != 1 || list.Count != 1 || list.Total != 2 || list.Items[0].ID != plain.ID {
		t.Errorf("GET /api/v2/messages?start=1&limit=1 = %+v, want %s alone, at 1 of 2", list, plain.ID)
	}
	var one message
	if m.ask(http.MethodGet, "/api/v1/messages/"+plain.ID, "", &one); one.ID != plain.ID {
		t.Errorf("one = %+v, want ID %v", one, plain.ID)
	}
}

func TestMailpitIsClosedToPublicAddresses(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("secret", "", "ada@company.test")
	for what, change := range map[string]func(*http.Request){
		"public client": from(stranger), "forwarded": from("127.0.0.1, " + stranger), "Forwarded": func(r *http.Request) { r.Header.Set("Forwarded", "for=203.0.113.9") },
		"public name": func(r *http.Request) { r.Host = "evil.example.com:8025" },
	} {
		for _, path := range []string{"/", "/api/v1/messages", "/api/v1/message/latest", "/api/events", "/livez"} {
			if a := m.try(http.MethodGet, path, "", change); a.Status != 403 || bytes.Contains(a.Body, []byte("secret")) {
				t.Errorf("%s: GET %s = %d %s, want 403 and nothing of the mail", what, path, a.Status, a.Body)
			}
		}
	}
	if a := m.try(http.MethodDelete, "/api/v1/messages", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); a.Status != 403 {
		t.Errorf("from a page of another site: %d, want Status 403", a.Status)
	}
	for _, host := range []string{"localhost:8025", "mailpit:8025", "gonebox.localhost", "192.168.1.2:8025", "[::1]:8025", "host.docker.internal"} {
		if a := m.try(http.MethodGet, "/api/v1/messages", "", func(r *http.Request) { r.Host = host; r.SetBasicAuth("any", "thing") }); a.Status != 200 {
			t.Errorf("GET /api/v1/messages at %s: %d, want 200", host, a.Status)
		}
	}
}

// A body that is small on the wire and large in memory, or that takes long to work on, is refused at once.
func TestMailpitSendIsBounded(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	const begin = `{"From": {"Email": "a@company.test"}, "To": [{"Email": "x@y.test"}], `
	var headers strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&headers, `"X-%d": "v", `, i)
	}
	for name, body := range map[string]string{
		"empty attachments": begin + `"Attachments": [` + strings.Repeat("{},", 1<<20) + "{}]}",
		"header fields":     begin + `"Headers": {` + headers.String() + `"X": "v"}}`,
		"recipients":        `{"From": {"Email": "a@company.test"}, "Bcc": [` + strings.Repeat(`"",`, 1<<20) + `""]}`,
		"unknown members":   begin + `"Unknown": [` + strings.Repeat("0,", 1<<20) + "0]}",
		"nested":            begin + `"Unknown": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}",
		"a long address":    `{"From": {"Email": "` + strings.Repeat("(", 1<<20) + `@company.test"}, "To": [{"Email": "x@y.test"}]}`,
		"a long type":       begin + `"Attachments": [{"Content": "", "ContentType": "a/b` + strings.Repeat(";a*0=b", 1<<18) + `"}]}`,
	} {
		for _, path := range []string{"/api/v1/send", "/api/v1/messages"} {
			method := http.MethodPost
			if path == "/api/v1/messages" {
				method = http.MethodPut
			}
			if name == "a long address" && method == http.MethodPut || name == "a long type" && method == http.MethodPut {
				continue // which are members that the call ignores
			}
			if a := m.try(method, path, body, nil); a.Status != http.StatusBadRequest {
				t.Errorf("%s %s with %s: %d %.200s, want 400", method, path, name, a.Status, a.Body)
			}
		}
	}
	var sent struct{ ID string }
	fields := make(map[string]string)
	for i := range 1000 {
		fields[fmt.Sprintf("X-%d", i)] = "v"
	}
	fields["subject"] = "from the fields"
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	m.ask(http.MethodPost, "/api/v1/send", begin+`"Headers": `+string(text)+`}`, &sent)
	var got map[string][]string
	m.ask(http.MethodGet, "/api/v1/message/"+sent.ID+"/headers", "", &got)
	if len(got["X-999"]) != 1 || len(got["Subject"]) != 1 || got["Subject"][0] != "from the fields" {
		t.Errorf("1,000 header fields: X-999 is %q and the subject %q, want v and \"from the fields\"", got["X-999"], got["Subject"])
	}
}

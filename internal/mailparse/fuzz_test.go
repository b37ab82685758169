package mailparse_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/mailparse"
)

// checkBounds checks what holds for every Message made of size bytes.
func checkBounds(t *testing.T, m *mailparse.Message, size int) {
	t.Helper()
	clean := func(what, s string, limit int) {
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			t.Errorf("%s is %.80q, want valid UTF-8 without NUL", what, s)
		}
		if len(s) > limit {
			t.Errorf("%s has %d octets, want at most %d", what, len(s), limit)
		}
	}
	line := func(what, s string) {
		clean(what, s, 3*mailparse.MaxHeader)
		if strings.ContainsAny(s, "\r\n") {
			t.Errorf("%s is %.80q, want no line end in it", what, s)
		}
	}
	clean("Text", m.Text, mailparse.MaxText)
	clean("HTML", m.HTML, mailparse.MaxText)
	if strings.Contains(m.Text, "\r") || strings.Contains(m.HTML, "\r") {
		t.Errorf("Text is %q and HTML %q, want no carriage return", m.Text, m.HTML)
	}
	line("Subject", m.Subject)
	line("MessageID", m.MessageID)
	if len(m.Header) > mailparse.MaxFields {
		t.Errorf("%d fields, want at most %d", len(m.Header), mailparse.MaxFields)
	}
	for _, f := range m.Header {
		line("name", f.Name)
		line("value", f.Value)
	}
	for _, list := range [][]mailparse.Address{{m.From}, m.To, m.Cc, m.ReplyTo} {
		if len(list) > mailparse.MaxAddresses {
			t.Errorf("%d addresses, want at most %v", len(list), mailparse.MaxAddresses)
		}
		for _, a := range list {
			line("address name", a.Name)
			line("address", a.Addr)
		}
	}
	if len(m.Attachments) > mailparse.MaxParts {
		t.Errorf("%d attachments, want at most %d", len(m.Attachments), mailparse.MaxParts)
	}
	for _, a := range m.Attachments {
		line("content type", a.ContentType)
		line("content id", a.ContentID)
		if len(a.Data) > size {
			t.Errorf("an attachment of a mail of %d octets has %d, want no more", size, len(a.Data))
		}
		clean("filename", a.Filename, mailparse.MaxFilename)
		if a.Filename == "" || strings.ContainsAny(a.Filename, "/\\\r\n\t") {
			t.Errorf("an attachment has the filename %q, want one without slashes, line ends and tabs", a.Filename)
		}
	}
	if !m.Date.IsZero() && (m.Date.Year() < 1899 || m.Date.Year() > 10000) {
		t.Errorf("the date is %v, want one of the years 1899 to 10000, or none", m.Date)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"From: \"D, J\" <\"j d\"@example.com>\r\nTo: g: a@b, c (d) <@x:e@f>;\r\nSubject: =?utf-8?b?4pyT?= =?utf-8?q?=E2=9C?=\r\n =?utf-8?q?=93?=\r\n\r\nx",
		"Content-Type: multipart/alternative; boundary=\"a b\"\r\n\r\n--a b\r\n\r\nx\r\n--a b \r\nContent-Type: text/html\r\n\r\n<meta charset=koi8-r>\xf0\r\n--a b--\r\n",
		"Content-Type: text/plain; charset=iso-2022-jp; format=flowed; delsp=yes\r\n\r\n\x1b$B$3\x1b(B \r\n> a \n>> b",
		"Content-Type: application/x; name*1*=%41; name*0*=utf-8''%E2; filename=\"a\\\"b\r\nContent-Transfer-Encoding: base64 (x)\r\n\r\nQUJD\r\nQ=\r\n--\r\n",
		"Content-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\ntext",
		"From x Mon\nDate: Tue, 4 Mar 25 09:15 pm EST (x)\nstray\nSubject:a\n\tb\nhello\x00\xff",
		"Content-Type: multipart/mixed\rContent-Transfer-Encoding: quoted-printable\r\r--x\rContent-Type: text/html; charset=utf-16\r\r=\r=41=4",
		"Subject: a\r\nstray\r\n fold\r\nstray\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nstray\r\nstray\r\nContent-ID: <a>\r\n\r\nx\r\n",
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b--\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkStructure(t, "a mail", mailparse.Structure(raw), len(raw))
		size := len(raw)
		m := mailparse.Parse(raw)
		checkBounds(t, m, size)
		if len(m.Text)+len(m.HTML) > 4*size*(mailparse.MaxDepth+1) {
			t.Errorf("a mail of %d octets has %d of text, want at most %d", size, len(m.Text)+len(m.HTML), 4*size*(mailparse.MaxDepth+1))
		}
	})
}

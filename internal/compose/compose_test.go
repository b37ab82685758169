package compose_test

import (
	"bytes"
	"net/mail"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/compose"
	"github.com/gonebox/gonebox/internal/mailparse"
)

func write(t testing.TB, m compose.Mail) ([]byte, error) {
	t.Helper()
	m.To, m.Date, m.MessageID = "box@gonebox.localhost", time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), "one@gonebox.localhost"
	var b bytes.Buffer
	err := m.Write(&b)
	return b.Bytes(), err
}

func TestWrittenMailParsesBack(t *testing.T) {
	long := strings.Repeat("long line ", 300)
	for name, m := range map[string]compose.Mail{
		"text":           {From: &mail.Address{Name: "Ann", Address: "ann@example.org"}, Subject: "plain", Text: "hello\n.dot\n"},
		"html":           {From: &mail.Address{Address: "ann@example.org"}, Subject: "Grüße 你好", HTML: "<p>Grüße</p>"},
		"both and files": {From: &mail.Address{Name: `Quote "x", y`, Address: "ann@example.org"}, Subject: long[:900], Text: long, HTML: "<p>" + long + "</p>", Files: []compose.File{{"Grüße 1.txt", "text/plain", []byte("hi\r\n\x00")}, {"b.bin", "application/octet-stream", nil}, {"m.eml", "application/pdf", bytes.Repeat([]byte{0xff}, 1000)}}},
		"empty":          {From: &mail.Address{Address: "ann@example.org"}},
		"empty and file": {From: &mail.Address{Address: "ann@example.org"}, Files: []compose.File{{"a.txt", "text/plain", []byte("a")}}},
	} {
		raw, err := write(t, m)
		if err != nil {
			t.Errorf("write(%s): %v", name, err)
			continue
		}
		if bytes.Contains(bytes.ReplaceAll(raw, []byte("\r\n"), nil), []byte("\n")) {
			t.Errorf("write(%s) = %q, want no line feed alone", name, raw)
		}
		for line := range strings.SplitSeq(string(raw), "\r\n") {
			if len(line) > 998 {
				t.Errorf("%s: a line of %d octets, want at most 998", name, len(line))
			}
		}
		got := mailparse.Parse(raw)
		text := strings.TrimRight(got.Text, "\n")
		if got.From.Name != m.From.Name || got.From.Addr != m.From.Address || got.Subject != strings.TrimSpace(m.Subject) || text != strings.TrimRight(m.Text, "\n") ||
			strings.TrimRight(got.HTML, "\r\n") != m.HTML || len(got.Attachments) != len(m.Files) || got.MessageID != "one@gonebox.localhost" || got.Date.IsZero() {
			t.Errorf("%s: the mail parses as %+v, want the fields, the texts and the attachments of %+v:\n%s", name, got, m, raw)
			continue
		}
		for i, f := range m.Files {
			if a := got.Attachments[i]; a.Filename != f.Name || a.ContentType != f.ContentType || !bytes.Equal(a.Data, f.Data) {
				t.Errorf("%s: the attachment is %q of the type %q with %q, want %q of the type %q with %q", name, a.Filename, a.ContentType, a.Data, f.Name, f.ContentType, f.Data)
			}
		}
	}
}

func TestSenders(t *testing.T) {
	for text, want := range map[string]string{
		"ann@example.org": "ann@example.org", "Ann <ann@example.org>": "ann@example.org", `"A, B" <a@b.example>`: "a@b.example",
		"": "", "Ann": "", "ann@example.org, bob@example.org": "", "<ann@example.org": "", "a@b.example\r\nBcc: x@y.example": "",
	} {
		a, err := compose.ParseFrom(text)
		if (err == nil) != (want != "") || err == nil && a.Address != want {
			t.Errorf("ParseFrom(%q) = %v, %v, want the address %q, or an error if that is empty", text, a, err, want)
		}
	}
}

// Whatever a caller gives, the header has no field that it did not ask for.
func FuzzWrite(f *testing.F) {
	f.Add("Ann <ann@example.org>", "subject", "text", "<p>", "a.txt", "text/plain")
	f.Add("ann@example.org", "a\r\nBcc: x@y.example", "\r\n.\r\n", "", "a\"\r\nX: y", "text/plain; a=\"\r\nX: y\"")
	f.Fuzz(func(t *testing.T, from, subject, text, html, file, contentType string) {
		a, err := compose.ParseFrom(from)
		if err != nil {
			return
		}
		raw, err := write(t, compose.Mail{From: a, Subject: subject, Text: text, HTML: html, Files: []compose.File{{file, contentType, []byte(text)}}})
		if err != nil {
			return
		}
		for _, field := range mailparse.Parse(raw).Header {
			switch field.Name {
			case "Date", "MIME-Version", "Message-ID", "Subject", "From", "To", "Content-Type", "Content-Transfer-Encoding":
			default:
				if utf8.ValidString(subject + from) {
					t.Errorf("the mail has the field %q, want only those of package compose:\n%s", field.Name, raw)
				}
			}
		}
	})
}

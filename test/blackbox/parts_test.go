package blackbox_test

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// messagePart is a part of the MIME structure of a message.
type messagePart struct {
	ID, ContentType, Charset, Disposition, Filename, ContentID, TransferEncoding string
	Size                                                                         int
	Parts                                                                        []messagePart
}

// outline writes a tree of parts, one on a line, indented.
func (p messagePart) outline() string {
	line := fmt.Sprintf("%s %s", p.ID, strings.Join(strings.Fields(strings.Join([]string{
		p.ContentType, p.Charset, p.Disposition, p.Filename, p.ContentID, p.TransferEncoding,
	}, " ")), " "))
	if !strings.HasPrefix(p.ContentType, "m") { // multiparts and messages have their parts
		line += fmt.Sprintf(" %d", p.Size)
	}
	for _, part := range p.Parts {
		line += "\n " + strings.ReplaceAll(part.outline(), "\n", "\n ")
	}
	return line
}

// mailWithParts is an invoice with a picture and a forwarded mail.
var mailWithParts = crlf("Subject: Invoice", "MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=a", "",
	"--a", "Content-Type: multipart/related; boundary=b", "",
	"--b", "Content-Type: text/html; charset=ISO-8859-1", "Content-Transfer-Encoding: quoted-printable", "", "<p>Gr=FC=DFe<img src=3Dcid:logo>",
	"--b", "Content-Type: image/png", "Content-ID: <logo>", "Content-Disposition: inline; filename=logo.png", "Content-Transfer-Encoding: base64", "", "iVBORw==", "--b--",
	"--a", "Content-Type: message/rfc822", "", "Subject: In", "", "Forwarded.",
	"--a", "Content-Type: application/pdf", "Content-Disposition: attachment; filename=invoice.pdf", "", "%PDF-1.4", "--a--")

func TestParts(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: mailWithParts}).ID
	root := get[messagePart](s, "/messages/"+id+"/parts", m.Token)
	const want = "0 multipart/mixed\n" +
		" 1 multipart/related\n" +
		"  1.1 text/html iso-8859-1 quoted-printable 26\n" +
		"  1.2 image/png inline logo.png logo base64 4\n" +
		" 2 message/rfc822\n" +
		"  2.1 text/plain 10\n" +
		" 3 application/pdf attachment invoice.pdf 8"
	if got := root.outline(); got != want {
		t.Errorf("GET /messages/%s/parts =\n%s, want\n%s", id, got, want)
	}
	if after := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]; after.Seen {
		t.Errorf("after GET /messages/%s/parts the message counts as seen, want it unseen", id)
	}
	for part, want := range map[string]struct{ content, filename string }{
		"1.1": {"<p>Gr\xfc\xdfe<img src=cid:logo>", "attachment.html"},
		"1.2": {"\x89PNG", "logo.png"},
		"2":   {"Subject: In\r\n\r\nForwarded.", "message.eml"},
		"2.1": {"Forwarded.", "attachment.txt"},
		"3":   {"%PDF-1.4", "invoice.pdf"},
	} {
		a := s.call(http.MethodGet, "/messages/"+id+"/parts/"+part, m.Token, 200, "")
		disposition, params, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
		if string(a.Body) != want.content || a.Header.Get("Content-Type") != "application/octet-stream" || disposition != "attachment" || params["filename"] != want.filename {
			t.Errorf("GET /messages/%s/parts/%s: %q with %v, want %q as an attachment with the name %q (%v)", id, part, a.Body, a.Header, want.content, want.filename, err)
		}
	}
	for _, no := range []string{"4", "1.3", "2.1.1", "0.1", "00", "01", "+1", "1.", ".1", "-1", "x", "1.1.1", "99999999999999999999", strings.Repeat("1.", 3000)} {
		s.call(http.MethodGet, "/messages/"+id+"/parts/"+no, m.Token, 404, "attachment.not_found")
	}
	other := s.create("", nil)
	for _, path := range []string{"/parts", "/parts/1"} {
		s.call(http.MethodGet, "/messages/"+id+path, other.Token, 404, "message.not_found")
		s.call(http.MethodGet, "/messages/nonsense"+path, m.Token, 404, "message.not_found")
	}
	s.Clock.Advance(15 * time.Minute)
	for _, path := range []string{"/parts", "/parts/1"} {
		s.call(http.MethodGet, "/messages/"+id+path, m.Token, 410, "message.raw_expired")
	}
}

// A mail of any shape has a tree, and each of its parts can be read.
func TestPartsOfOddMails(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	for name, raw := range map[string]string{
		"no header":      "\r\n",
		"many parts":     "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\n", 3000),
		"deep":           strings.Repeat("Content-Type: message/rfc822\r\n\r\n", 200) + "x",
		"large":          "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Transfer-Encoding: base64\r\n\r\n" + strings.Repeat(strings.Repeat("QUJD", 19)+"\r\n", 20_000) + "--b--",
		"no end":         "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html",
		"eight-bit":      "Content-Type: text/\xff; charset=\xfe\r\nContent-ID: <\xfd>\r\n\r\n\xfc",
		"long parameter": "Content-Type: text/plain; charset=" + strings.Repeat("y", 900) + "\r\n\r\nx",
	} {
		id := s.mail(m.box(), apptest.Mail{Raw: []byte("Subject: odd\r\n" + raw)}).ID
		count := 0
		var walk func(p messagePart)
		walk = func(p messagePart) {
			if count++; count < 40 {
				if a := s.call(http.MethodGet, "/messages/"+id+"/parts/"+p.ID, m.Token, 200, ""); len(a.Body) != p.Size {
					t.Errorf("%s: part %s has %d octets, want its size %d", name, p.ID, len(a.Body), p.Size)
				}
			}
			for _, part := range p.Parts {
				walk(part)
			}
		}
		walk(get[messagePart](s, "/messages/"+id+"/parts", m.Token))
		if count > 1000 {
			t.Errorf("%s: GET /messages/%s/parts has %d parts, want at most 1,000", name, id, count)
		}
	}
}

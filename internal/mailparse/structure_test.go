package mailparse_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/mailparse"
)

// outline writes a tree of parts, one on a line, indented.
func outline(p mailparse.Part, indent string) string {
	line := fmt.Sprintf("%s%s %d", indent, p.ContentType, p.Size)
	for _, m := range []struct{ name, value string }{
		{"charset", p.Charset}, {"disposition", p.Disposition}, {"filename", p.Filename}, {"id", p.ContentID}, {"encoding", p.Encoding},
	} {
		if m.value != "" {
			line += fmt.Sprintf(" %s=%s", m.name, m.value)
		}
	}
	line += "\n"
	for _, child := range p.Parts {
		line += outline(child, indent+" ")
	}
	return line
}

const invoice = "From: shop@shop.example\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n" +
	"--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n" +
	"--b\r\nContent-Type: multipart/related; boundary=c\r\n\r\n" +
	"--c\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n<img src=cid:logo@shop>\r\n" +
	"--c\r\nContent-Type: image/png\r\nContent-ID: <logo@shop>\r\nContent-Disposition: inline; filename=logo.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw==\r\n--c--\r\n" +
	"--b--\r\n" +
	"--a\r\nContent-Type: application/pdf; name=\"../invoice 7.pdf\"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: BASE64\r\n\r\nJVBERi0x\r\n--a--\r\n"

func TestStructure(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"nothing":            {"", "text/plain 0\n"},
		"text without types": {"Subject: x\r\n\r\nHello", "text/plain 5\n"},
		"an invoice": {invoice, "multipart/mixed 607\n" +
			" multipart/alternative 401\n" +
			"  text/plain 7 charset=utf-8 encoding=quoted-printable\n" +
			"  multipart/related 232\n" +
			"   text/html 23 charset=iso-8859-1\n" +
			"   image/png 4 disposition=inline filename=logo.png id=logo@shop encoding=base64\n" +
			" application/pdf 6 disposition=attachment filename=invoice 7.pdf encoding=base64\n"},
		"a message in a message": {
			"Content-Type: multipart/digest; boundary=a\n\n--a\n\nSubject: x\nContent-type: text/html\n\n<p>1\n--a\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogeAoKMg==\n--a--",
			"multipart/digest 140\n message/rfc822 40\n  text/html 4\n message/rfc822 13 encoding=base64\n  text/plain 1\n",
		},
		"a wrong boundary":      {"Content-Type: multipart/mixed; boundary=x\n\n--y\nContent-Type: text/html\n\n1\n--y--", "multipart/mixed 36\n text/html 1\n"},
		"a multipart of text":   {"Content-Type: multipart/mixed\n\nHello", "multipart/mixed 5\n"},
		"an encoded multipart":  {"Content-Type: multipart/mixed; boundary=x\nContent-Transfer-Encoding: base64\n\nLS14CgoxCi0teC0t", "multipart/mixed 12 encoding=base64\n text/plain 1\n"},
		"a type that is none":   {"Content-Type: nonsense; charset=\"utf-8\"\n\n1", "text/plain 1 charset=utf-8\n"},
		"line ends of CR alone": {"Content-Type: text/html\r\r1", "text/html 1\n"},
	} {
		if got := outline(mailparse.Structure([]byte(tt.raw)), ""); got != tt.want {
			t.Errorf("%s: Structure(%q) =\n%s, want\n%s", name, tt.raw, got, tt.want)
		}
	}
}

func TestStructureIsBounded(t *testing.T) {
	for name, raw := range map[string]string{
		"depth":          string(nested(100)),
		"messages":       strings.Repeat("Content-Type: message/rfc822\n\n", 100),
		"count":          "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\n", 5000),
		"long texts":     "Content-Type: text/" + strings.Repeat("x", 5000) + "; charset=" + strings.Repeat("y", 5000) + "\nContent-ID: <" + strings.Repeat("é", 5000) + ">\nContent-Disposition: " + strings.Repeat("z", 5000) + "\n\n",
		"encoded within": "Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("--b\nContent-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n", 50),
	} {
		checkStructure(t, name, mailparse.Structure([]byte(raw)), len(raw))
	}
}

// checkStructure checks what holds for the tree of every mail of size octets.
func checkStructure(t *testing.T, name string, root mailparse.Part, size int) {
	t.Helper()
	parts := 0
	var walk func(p mailparse.Part, depth int)
	walk = func(p mailparse.Part, depth int) {
		parts++
		if depth > mailparse.MaxDepth {
			t.Fatalf("%s: Structure has a part at depth %d, want at most %d", name, depth, mailparse.MaxDepth)
		}
		if data := p.Data(nil); p.Size != len(data) || p.Size > size {
			t.Errorf("%s: a part of the type %q in a mail of %d octets has Size %d, want the %d octets of its Data, and no more than the mail", name, p.ContentType, size, p.Size, len(data))
		}
		for _, text := range []string{p.ContentType, p.Charset, p.Disposition, p.Filename, p.ContentID, p.Encoding} {
			if len(text) > mailparse.MaxFilename || !utf8.ValidString(text) || strings.ContainsAny(text, "\r\n\x00") {
				t.Errorf("%s: a part has the text %.80q of %d octets, want clean UTF-8 of at most %d", name, text, len(text), mailparse.MaxFilename)
			}
		}
		for _, child := range p.Parts {
			walk(child, depth+1)
		}
	}
	walk(root, 0)
	if parts > mailparse.MaxParts {
		t.Errorf("%s: Structure has %d parts, want at most %d", name, parts, mailparse.MaxParts)
	}
}

package mailparse_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailparse"
)

func TestFilenames(t *testing.T) {
	for _, c := range []struct{ contentType, disposition, want string }{
		{"application/pdf; name=a.pdf", "", "a.pdf"},
		{"application/pdf; name=a.pdf", "attachment; filename=b.pdf", "b.pdf"},
		{"application/pdf", "attachment; filename=b.pdf; filename*=utf-8''%C3%A9.pdf", "é.pdf"},
		{"application/pdf", "attachment; filename*0=a; filename*1=b; filename*3=\".pdf\"", "ab.pdf"},
		{"application/pdf", "attachment; filename*0*=koi8-r'ru'%EB; filename*1=.pdf", "К.pdf"},
		{"application/pdf", "attachment; filename*0*=utf-8''a; filename*0*=utf-8''b; filename*1*=%2E%70", "a.p"},
		{"application/pdf", "attachment; filename*=%E9.pdf", "é.pdf"},
		{"application/pdf", "attachment; filename=a b.pdf ; x=y", "a b.pdf"},
		{"application/pdf", "attachment; filename=\"a\\\"b\\\\c.pdf\"", "c.pdf"},
		{"application/pdf (a; comment)", "attachment (x=y); (=) filename=\"(a).pdf\"", "(a).pdf"},
		{"application/pdf", "attachment filename=a.pdf", "a.pdf"},
		{"application/pdf", "attachment; FileName = \"a.pdf\"", "a.pdf"},
		{"application/pdf", "attachment; filename=\"\"", "attachment.pdf"},
		{"application/pdf", "attachment; filename=\"..\"", "attachment.pdf"},
		{"application/pdf", "attachment; filename=\"dir/\"", "attachment.pdf"},
		{"application/pdf", "attachment; filename=\"/etc/passwd\"", "passwd"},
		{"application/pdf", "attachment; filename=\"a\tb\x01.pdf. .\"", "ab\uFFFD.pdf"},
		{"image/jpeg", "", "image.jpg"},
		{"video/x-unknown", "", "video.bin"},
		{"text/calendar", "", "invite.ics"},
		{"text/x-unknown", "", "attachment.txt"},
		{"application/ms-tnef", "", "winmail.dat"},
		{"message/rfc822", "", "message.eml"},
		{"message/rfc822; name=mail.txt", "", "mail.txt.eml"},
		{"application/octet-stream", "attachment; filename=" + strings.Repeat("é", 200) + ".tar", strings.Repeat("é", 125) + ".tar"},
	} {
		raw := fmt.Sprintf("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\nContent-Type: %s\r\n", c.contentType)
		if c.disposition != "" {
			raw += "Content-Disposition: " + c.disposition + "\r\n"
		}
		m := mailparse.Parse([]byte(raw + "\r\nx\r\n--b--\r\n"))
		if len(m.Attachments) != 1 || m.Attachments[0].Filename != c.want {
			t.Errorf("Content-Type: %s; Content-Disposition: %s: the attachments are %+v, want one named %q", c.contentType, c.disposition, m.Attachments, c.want)
		}
	}
}

func TestTransferEncodings(t *testing.T) {
	for _, c := range []struct{ encoding, body, want string }{
		{"base64", "YWJj", "abc"},
		{"base64", "YW\r\nJj\r\n", "abc"},
		{"base64", "YWI", "ab"},
		{"base64", "YQ", "a"},
		{"base64", "YWJjZ", "abc"},
		{"base64", "YQ==YmM=", "abc"},
		{"base64", "YQ==\r\nYmM=\r\n", "abc"},
		{"base64", "YQ==\r\n\r\n-- \r\nfooter", "a"},
		{"base64", "YWJj\r\n\r\nThe footer of a list.\r\n", "abc"},
		{"base64", " Y*W-J_j\x00", "abc"},
		{"base64", "====", ""},
		{" (c) Base64 (d)", "YWJj", "abc"},
		{"\"base64\"", "YWJj", "abc"},
		{"quoted-printable", "a=3Db", "a=b"},
		{"quoted-printable", "a=\r\nb", "ab"},
		{"quoted-printable", "a= \t\r\nb", "ab"},
		{"quoted-printable", "a \t\r\nb=20\r\n", "a\nb \n"},
		{"quoted-printable", "a=4 =g1 =", "a=4 =g1 "},
		{"quoted-printable", "=c3=A9", "é"},
		{"7bit", "a=3D", "a=3D"},
		{"x-unknown", "a=3D", "a=3D"},
	} {
		m := mailparse.Parse([]byte("Content-Transfer-Encoding: " + c.encoding + "\r\n\r\n" + c.body))
		if m.Text != c.want {
			t.Errorf("%s of %q is read as %q, want %q", c.encoding, c.body, m.Text, c.want)
		}
	}
}

// TestBinaryRoundTrip sends every byte through both encodings, as an attachment must keep them.
func TestBinaryRoundTrip(t *testing.T) {
	var data []byte
	for i := range 100_000 {
		data = append(data, byte(i*i>>3))
	}
	var quoted strings.Builder
	for i, c := range data {
		fmt.Fprintf(&quoted, "=%02X", c)
		if i%25 == 24 {
			quoted.WriteString("=\r\n")
		}
	}
	for encoding, body := range map[string]string{"base64": wrapped(data), "quoted-printable": quoted.String(), "binary": string(data)} {
		raw := []byte("Content-Type: application/x-data\r\nContent-Transfer-Encoding: " + encoding + "\r\n\r\n" + body)
		m := mailparse.Parse(raw)
		if len(m.Attachments) != 1 || !bytes.Equal(m.Attachments[0].Data, data) {
			t.Errorf("%s: Parse returned %d attachments, want one with the %d octets that were encoded", encoding, len(m.Attachments), len(data))
		}
	}
}

// However the lines are cut, and where anything stands between the characters, what was encoded comes out.
func TestBase64InLinesOfAnyLength(t *testing.T) {
	data := make([]byte, 200)
	for i := range data {
		data[i] = byte(i * 89)
	}
	for size := range data {
		text := base64.StdEncoding.EncodeToString(data[:size])
		for _, width := range []int{1, 3, 4, 7, 8, 60, 75, 76, 77, 998} {
			for _, end := range []string{"\r\n", "\n", "\r\n ", "\x80\r\n"} {
				var raw strings.Builder
				raw.WriteString("Content-Type: application/x-data\r\nContent-Transfer-Encoding: base64\r\n\r\n")
				for line := range slices.Chunk([]byte(text), width) {
					raw.Write(line)
					raw.WriteString(end)
				}
				m := mailparse.Parse([]byte(raw.String()))
				if len(m.Attachments) != 1 || !bytes.Equal(m.Attachments[0].Data, data[:size]) {
					t.Fatalf("%d octets in lines of %d that end with %q: the attachments are %+v, want one with these octets", size, width, end, m.Attachments)
				}
			}
		}
	}
}

// Hyphens stand in lines, at their ends and in rows, and delimiters are where lines begin.
func TestDelimitersAmongHyphens(t *testing.T) {
	const inner = "a--b\r\n-\r\n--\r\n---b\r\n --b\r\n--ab\r\n\r\n----------\r\nx-"
	for _, text := range []string{inner, strings.ReplaceAll(inner, "\r\n", "\n"), "", "-", "\r\n-\r\n"} {
		raw := "Content-Type: multipart/mixed; boundary=b\r\n\r\npreamble --b\r\n--b\r\n\r\n" + text + "\r\n--b\r\nContent-Type: image/png\r\n\r\n" + text + "\r\n--b--\r\n"
		m := mailparse.Parse([]byte(raw))
		if m.Text != strings.ReplaceAll(text, "\r\n", "\n") || len(m.Attachments) != 1 || string(m.Attachments[0].Data) != text {
			t.Errorf("the part %q: text %q, attachments %+v, want it as the text and as the only attachment", text, m.Text, m.Attachments)
		}
	}
}

// What is decoded is put into the room that is lent, as far as it goes, and is the same.
func TestParseIn(t *testing.T) {
	raw := []byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n")
	for i := range 3 {
		part := fmt.Sprintf("--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: %s\r\n\r\n%s\r\n",
			[]string{"base64", "quoted-printable", "base64"}[i], []string{"YWJjZGVmZ2hp", "j=6Bl", "bW5vcHFyc3R1"}[i])
		raw = append(raw, part...)
	}
	for size := range 64 {
		room := make([]byte, size)
		m := mailparse.ParseIn(room, raw)
		if len(m.Attachments) != 3 || string(m.Attachments[0].Data) != "abcdefghi" || string(m.Attachments[1].Data) != "jkl" || string(m.Attachments[2].Data) != "mnopqrstu" {
			t.Fatalf("ParseIn a room of %d has the attachments %+v, want abcdefghi, jkl and mnopqrstu", size, m.Attachments)
		}
		if size == 63 && !bytes.Contains(room, []byte("abcdefghi")) {
			t.Errorf("ParseIn left the room as %q, want the first attachment in it", room)
		}
	}
}

func TestBodies(t *testing.T) {
	part := func(contentType, body string) string {
		return "--b\r\nContent-Type: " + contentType + "\r\n\r\n" + body + "\r\n"
	}
	for _, c := range []struct {
		name, kind, body, text, html string
		attachments                  int
	}{
		{"first text and last HTML of alternatives", "alternative", part("text/plain", "1") + part("text/html", "2") + part("text/plain", "3") + part("text/html", "4"), "1", "4", 0},
		{"all of mixed", "mixed", part("text/plain", "1") + part("text/html", "2") + part("text/plain", "3") + part("text/html", "4"), "1\n3", "2\n4", 0},
		{"named text first", "mixed", part("text/plain; name=a.txt", "1"), "1", "", 0},
		{"named text second", "mixed", part("text/plain", "1") + part("text/plain; name=a.txt", "2"), "1", "", 1},
		{"unknown kind of multipart", "x-odd", part("text/plain", "1"), "1", "", 0},
		{"unreadable type", "mixed", part("plain", "1") + part("text", "2") + part("html", "3"), "1\n2", "3", 0},
		{"enriched in alternatives", "alternative", part("text/plain", "1") + part("text/enriched", "2"), "1", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mailparse.Parse([]byte("Content-Type: multipart/" + c.kind + "; boundary=b\r\n\r\n" + c.body + "--b--\r\n"))
			if m.Text != c.text || m.HTML != c.html || len(m.Attachments) != c.attachments {
				t.Errorf("the text is %q, the HTML %q, and there are %d attachments, want %q, %q and %d", m.Text, m.HTML, len(m.Attachments), c.text, c.html, c.attachments)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	deep := mailparse.Parse(nested(mailparse.MaxDepth + 5))
	if deep.Text != "" || len(deep.Attachments) != 1 || deep.Attachments[0].ContentType != "multipart/mixed" {
		t.Errorf("parts beyond the depth: text %q, %d attachments, want them kept whole as one attachment", deep.Text, len(deep.Attachments))
	}
	if m := mailparse.Parse(nested(mailparse.MaxDepth)); m.Text != "bottom" {
		t.Errorf(`parts at the largest depth: text %q, want "bottom"`, m.Text)
	}
	parts := mailparse.Parse(repeated("Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Type: image/png\n\nx\n", 100_000, ""))
	if n := len(parts.Attachments); n != mailparse.MaxParts-1 {
		t.Errorf("%d parts, want %v", n, mailparse.MaxParts-1)
	}
	fields := mailparse.Parse(repeated("", "a: b\n", 5*mailparse.MaxFields+50, "\nbody"))
	if len(fields.Header) != mailparse.MaxFields || fields.Text != "body" {
		t.Errorf("a mail with too many fields has %d and the text %q, want %d and body", len(fields.Header), fields.Text, mailparse.MaxFields)
	}
	list := mailparse.Parse(repeated("To: ", "a@b,", 4*mailparse.MaxAddresses+40, "\n\nbody"))
	if len(list.To) != mailparse.MaxAddresses {
		t.Errorf("%d recipients, want %d", len(list.To), mailparse.MaxAddresses)
	}
	line := mailparse.Parse(repeated("Subject: ", "é", 2*mailparse.MaxHeader, "\n\nbody"))
	if n := len(line.Subject); n > mailparse.MaxHeader+3 || n < mailparse.MaxHeader-100 || line.Text != "body" {
		t.Errorf(`a subject of %d bytes, text %q, want at most %v, at least %v and Text "body"`, n, line.Text, mailparse.MaxHeader+3, mailparse.MaxHeader-100)
	}
	text := mailparse.Parse(repeated("\n", "é", mailparse.MaxText+10, ""))
	if n := len(text.Text); n != mailparse.MaxText {
		t.Errorf("a text of %d bytes, want %v", n, mailparse.MaxText)
	}
}

// TestDataAliasesRaw pins the promise that large identity-encoded attachments are not copied.
func TestDataAliasesRaw(t *testing.T) {
	raw := []byte("Content-Type: application/x-data\r\n\r\nabc")
	m := mailparse.Parse(raw)
	raw[len(raw)-1] = 'X'
	if got := string(m.Attachments[0].Data); got != "abX" {
		t.Errorf(`got %q, want "abX"`, got)
	}
}

// TestMultipartWithoutParts holds that delimiters are no text where they delimit nothing, and that text beside them stays.
func TestMultipartWithoutParts(t *testing.T) {
	for body, want := range map[string]string{
		"--b--\r\n":                             "",
		"--b--":                                 "",
		"\r\n--b--  \r\n\r\n":                   "",
		"--b--\r\n--b--\r\n":                    "",
		"hello\r\n--b--\r\n":                    "hello",
		"--b--\r\nhello\r\n":                    "hello\n",
		"--other--\r\n":                         "",
		"--b-- x\r\nhello\r\n":                  "--b-- x\nhello\n",
		"-- \r\nAnn\r\n":                        "-- \nAnn\n",
		"hello\r\n--other--\r\n":                "hello\n--other--\n",
		"--b\r\n\r\nin\r\n--b--":                "in",
		"a\r\n--b--\r\n--b--\r\nb\r\n--b--\r\n": "a\nb",
		"----\r\n":                              "----\n",
		"QUJD\r\n--b--\r\nQUJD":                 "QUJD\nQUJD",
	} {
		m := mailparse.Parse([]byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n" + body))
		if m.Text != want || len(m.Attachments) > 0 {
			t.Errorf("%q: text %q, %d attachments, want %q", body, m.Text, len(m.Attachments), want)
		}
	}
}

// An attachment has its position in the tree of parts.
func TestPositionsOfParts(t *testing.T) {
	file := "Content-Type: application/pdf\n\nx\n"
	forwarded := "Content-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=i\n\n--i\n" + file + "--i\n" + file + "--i--\n"
	for _, c := range []struct{ raw, want string }{
		{file, "0"},
		{"Content-Type: multipart/mixed; boundary=o\n\n--o\n\ntext\n--o\n" + file + "--o\n" + file + "--o--\n", "2 3"},
		{"Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/related; boundary=i\n\n--i\n\ntext\n--i\n" + file + "--i--\n--o\n" + file + "--o--\n", "1.2 2"},
		{forwarded, "0 0.1 0.2"}, // opened, since it is all there is
		{"Content-Type: multipart/mixed; boundary=o\n\n--o\n\n--o\n" + forwarded + "--o--\n", "2 2.1 2.2"},
	} {
		var got []string
		for _, a := range mailparse.Parse([]byte(c.raw)).Attachments {
			got = append(got, a.Part)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("Parse(%q): the attachments are the parts %v, want %s", c.raw, got, c.want)
		}
	}
}

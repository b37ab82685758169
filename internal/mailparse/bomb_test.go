package mailparse_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/mailparse"
)

const (
	// bombMemory bounds all a bomb may make Parse allocate, garbage included.
	bombMemory = 150 << 20
	// bombTime is generous on purpose: it tells linear from quadratic on any machine, nothing finer.
	bombTime = 20 * time.Second
)

// nested is a multipart in a multipart, n deep.
func nested(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	b.WriteString("\r\nbottom\r\n")
	for i := range n {
		fmt.Fprintf(&b, "--b%d--\r\n", n-1-i)
	}
	return b.Bytes()
}

// nestedMessages is a message in a message, n deep, each in quoted-printable, which must be decoded to go on.
func nestedMessages(n int) []byte {
	return []byte(strings.Repeat("Content-Type: message/rfc822\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", n) +
		strings.Repeat("Subject: x\r\n", 100_000))
}

func repeated(head, unit string, size int, tail string) []byte {
	return []byte(head + strings.Repeat(unit, size/len(unit)) + tail)
}

func continuations(n int) []byte {
	var b bytes.Buffer
	b.WriteString("Content-Type: application/pdf")
	for i := range n {
		fmt.Fprintf(&b, ";\r\n name*%d*=%%41", n-1-i)
	}
	b.WriteString("\r\n\r\nx")
	return b.Bytes()
}

func bombs() map[string]func() []byte {
	const (
		large  = 20 << 20
		medium = 6 << 20 // more than MaxText
		size   = 2 << 20
	)
	later := func(head, unit string, size int, tail string) func() []byte {
		return func() []byte { return repeated(head, unit, size, tail) }
	}
	mixed := "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
	longest := strings.Repeat("b", 250)
	return map[string]func() []byte{
		"nesting 10,000 deep":         func() []byte { return nested(10_000) },
		"messages 1,000 deep":         func() []byte { return nestedMessages(1000) },
		"100,000 parts":               later(mixed, "--b\r\n\r\nx\r\n", 100_000*10, "--b--"),
		"100,000 parts with headers":  later(mixed, "--b\r\nContent-Type: image/png\r\nContent-ID: <a>\r\n\r\nx\r\n", 100_000*54, ""),
		"broken base64":               later("Content-Transfer-Encoding: base64\r\n\r\n", "A*B=\r\nC\x00é", size, ""),
		"garbage in base64":           later("Content-Transfer-Encoding: base64\r\n\r\n", "A*B\r\nC\x00é", large, ""),
		"padding":                     later("Content-Transfer-Encoding: base64\r\n\r\n", "=", size, ""),
		"blank lines in base64":       later("Content-Transfer-Encoding: base64\r\n\r\n", "QUJD\r\n\r\n\n", size, ""),
		"empty lines in base64":       later("Content-Transfer-Encoding: base64\r\n\r\n", "\n", size, ""),
		"padding lines":               later("Content-Transfer-Encoding: base64\r\n\r\n", "QQ==\r\n", size, ""),
		"broken quoted-printable":     later("Content-Transfer-Encoding: quoted-printable\r\n\r\n", "= =4\t \r\n=G", medium, ""),
		"blanks in quoted-printable":  later("Content-Transfer-Encoding: quoted-printable\r\n\r\n", " ", size, "x"),
		"invalid text":                later("Content-Type: text/plain; charset=utf-8\r\n\r\né", "\xff \x00", medium, ""),
		"windows-1252 text":           later("Content-Type: text/plain; charset=cp1252\r\n\r\n", "\x80", medium, ""),
		"carriage returns":            later("\n\n", "\r", size, ""),
		"header line":                 later("Subject: ", "x", large, "\r\n\r\nbody"),
		"header name":                 later("", "x", size, ": a\r\n\r\nbody"),
		"folds":                       later("Subject: a\r\n", " \r\n", size, "b\r\n\r\nbody"),
		"1,000,000 header lines":      later("", "a: b\r\n", 6_000_000, "\r\nbody"),
		"stray lines in a row":        later("Subject: a\r\n", "stray\r\n fold\r\n", size, "To: a@b\r\n\r\nbody"),
		"stray lines without a field": later("Subject: a\r\n", "stray\r\n", size, "\r\nbody"),
		"stray lines in many parts":   later(mixed, "--b\r\nstray\r\nstray\r\nA: b\r\nstray\r\n fold\r\n", size, "--b--"),
		"closing delimiters":          later(mixed, "--b--\r\n", size, ""),
		"stray lines":                 later("", "stray\r\nTo: a@b\r\n", size, "\r\nbody"),
		"comments":                    later("From: ", "(a)", 3_000_000, " a@b\r\n\r\n"),
		"nested comments":             later("From: ", "(", 1_000_000, " a@b\r\n\r\n"),
		"comments in angles":          later("From: ", "<(", 1_000_000, "\r\n\r\n"),
		"quotes":                      later("From: a@b, ", "\"\\", 1_000_001, "\r\n\r\n"),
		"commas":                      later("To: ", "a,", 1_000_000, "<a@b>\r\n\r\n"),
		"commas in an angle":          later("To: <", ",@:", 1_000_000, "\r\n\r\n"),
		"mailboxes":                   later("To: ", "a <a@b>,", 1_000_000, "\r\n\r\n"),
		"colons":                      later("To: a@[", ":", 1_000_000, "\r\n\r\n"),
		"at signs":                    later("To: ", "@ ", 1_000_000, "\r\n\r\n"),
		"1,000,000 encoded words":     later("Subject: ", "=?utf-8?q?a?= ", 14_000_000, "\r\n\r\n"),
		"folded encoded words":        later("Subject: ", "=?utf-8?b?4pyT4p?=\r\n ", size, "\r\n\r\n"),
		"open encoded words":          later("Subject: ", "=?utf-8?q?a", size, "\r\n\r\n"),
		"open encoded words in From":  later("From: ", "=?utf-8?q?a", size, "\r\n\r\n"),
		"encoded words, many fields":  later("", "From: =?gbk?b?sNm2yA?=\r\n", size, "\r\n\r\n"),
		"almost the boundary":         later("Content-Type: multipart/mixed; boundary="+longest+"\r\n\r\n", "--"+longest[1:]+"\r\n", large, ""),
		"boundary with a tail":        later(mixed, "--bb\r\n--b-\r\n", size, ""),
		"boundary and blanks":         later(mixed, "--b         x\r\n", size, ""),
		"no boundary":                 later("Content-Type: multipart/mixed\r\n\r\n", "--x\r\n", size, ""),
		"100,000 continuations":       func() []byte { return continuations(100_000) },
		"open comments in parameters": later("Content-Type: text/plain;", "(;", 1_000_000, "\r\n\r\n"),
		"open quotes in parameters":   later("Content-Type: text/plain;", "a=\"", 1_000_000, "\r\n\r\n"),
		"flowed":                      later("Content-Type: text/plain; format=flowed\r\n\r\n", "> \r\n>> \r\n", size, ""),
		"open meta":                   later("Content-Type: text/html\r\n\r\n", "<meta charset ", size, ""),
		"date":                        later("Date: ", "( 1-", size, "\r\n\r\n"),
		"ISO-2022-JP":                 later("Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n", "\x1b$B\x1b(B", size, ""),
		"UTF-16":                      later("Content-Type: text/plain; charset=utf-16\r\n\r\n", "\xd8\x00", medium, ""),
		"multipart in base64":         later("Content-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: base64\r\n\r\n", "LS1i\r\n", size, ""),
	}
}

func TestBombs(t *testing.T) {
	for name, bomb := range bombs() {
		t.Run(name, func(t *testing.T) {
			raw := bomb()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			m := mailparse.Parse(raw)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes in: %d ms, %d MiB", len(raw), took.Milliseconds(), allocated>>20)
			if allocated > bombMemory {
				t.Errorf("Parse of %d octets allocated %d, want at most %d", len(raw), allocated, bombMemory)
			}
			if took > bombTime {
				t.Errorf("Parse of %d octets took %s, want at most %s", len(raw), took, bombTime)
			}
			checkBounds(t, m, len(raw))
		})
	}
}

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"path/filepath"
	"strings"
	"time"
)

// mailMax is the maximum size, in octets, of each file that gonebox send reads. The service accepts smaller mails by
// default.
const mailMax = 64 << 20

// attachedFile is a file to attach. name is its base name.
type attachedFile struct {
	name    string
	content []byte
}

// read reads the files that the flags name, once for all mails of --count.
func (s *sendCmd) read(c *console) (*testMail, error) {
	m := &testMail{html: s.HTML}
	if s.HTML != "" && !strings.Contains(s.HTML, "<") {
		text, err := readFile(c, "--html", s.HTML)
		if err != nil {
			return nil, err
		}
		m.html = string(text)
	}
	if s.EML != "" {
		text, err := readFile(c, "--eml", s.EML)
		if err != nil {
			return nil, err
		}
		m.eml = canonicalLines(text)
	}
	for _, name := range s.Attach {
		content, err := readFile(c, "--attach", name)
		if err != nil {
			return nil, err
		}
		m.files = append(m.files, attachedFile{name: filepath.Base(name), content: content})
	}
	return m, nil
}

// readFile reads the file of a flag, or standard input if name is a hyphen. The error names the flag.
func readFile(c *console, flag, name string) ([]byte, error) {
	in, err := c.open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, mailMax+1))
	if err == nil && len(content) > mailMax {
		err = fmt.Errorf("%s is larger than 64 MiB", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return content, nil
}

// canonicalLines ends each line with CRLF, as SMTP demands (RFC 5321 §2.3.8).
func canonicalLines(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

// text returns the mail in the format of RFC 5322, dated at.
func (m *testMail) text(at time.Time) []byte {
	var b bytes.Buffer
	for _, field := range [][2]string{
		{"From", "Gonebox test <" + m.From + ">"},
		{"To", "<" + m.To + ">"},
		{"Subject", mime.QEncoding.Encode("utf-8", m.Subject)},
		{"Date", at.Format(time.RFC1123Z)},
		{"Message-ID", m.MessageID},
		{"MIME-Version", "1.0"},
	} {
		b.WriteString(field[0] + ": " + field[1] + "\r\n")
	}
	b.Write(m.body())
	return b.Bytes()
}

// body returns the content of the mail from its Content-Type on: the text, with an alternative in HTML and with files where
// there are some.
func (m *testMail) body() []byte {
	text := "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nHello,\r\n\r\n"
	if m.Code != "" {
		text += "your verification code is " + m.Code + ".\r\n\r\n"
	}
	main := []byte(text + "This is a test mail sent by gonebox send.\r\n")
	if m.html != "" {
		html := "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" + wrapBase64([]byte(m.html))
		main = joinParts("alternative", main, []byte(html))
	}
	if len(m.files) == 0 {
		return main
	}
	parts := [][]byte{main}
	for _, f := range m.files {
		kind := mime.TypeByExtension(filepath.Ext(f.name))
		if kind == "" {
			kind = "application/octet-stream"
		}
		name := mime.FormatMediaType("attachment", map[string]string{"filename": f.name})
		parts = append(parts, []byte("Content-Type: "+kind+"\r\nContent-Disposition: "+name+"\r\nContent-Transfer-Encoding: base64\r\n\r\n"+wrapBase64(f.content)))
	}
	return joinParts("mixed", parts...)
}

// joinParts joins parts (RFC 2046 §5.1). The boundary is fixed: neither Base64 nor the text of body has a line that
// begins with it, and nested multiparts differ in kind.
func joinParts(kind string, parts ...[]byte) []byte {
	boundary := "=_gonebox_" + kind
	var b bytes.Buffer
	fmt.Fprintf(&b, "Content-Type: multipart/%s; boundary=%q\r\n\r\n", kind, boundary)
	for _, part := range parts {
		fmt.Fprintf(&b, "--%s\r\n%s\r\n", boundary, part)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes()
}

// wrapBase64 encodes content in lines of 76 characters (RFC 2045 §6.8).
func wrapBase64(content []byte) string {
	const width = 76
	text := base64.StdEncoding.EncodeToString(content)
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + "\r\n")
		text = text[width:]
	}
	b.WriteString(text + "\r\n")
	return b.String()
}

package dkim

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// canonicalization is a way to canonicalize (RFC 6376 §3.4).
type canonicalization string

const (
	simple  canonicalization = "simple"
	relaxed canonicalization = "relaxed"
)

// parseCanonicalizations parses c=, "header/body". Each is simple by default.
func parseCanonicalizations(s string) (header, body canonicalization, err error) {
	before, after, found := strings.Cut(s, "/")
	header, body = canonicalization(before), canonicalization(after)
	if s == "" {
		header = simple
	}
	if !found {
		body = simple
	}
	for _, c := range [...]canonicalization{header, body} {
		if c != simple && c != relaxed {
			return "", "", fmt.Errorf("canonicalization %q", s)
		}
	}
	return header, body, nil
}

// field returns a canonicalized header field, with CRLF at its end. A bare LF ends a line, too: only mail that did not
// come over SMTP has any.
func (c canonicalization) field(f []byte) []byte {
	if c == simple {
		return append(withCRLF(bytes.TrimSuffix(bytes.TrimSuffix(f, []byte("\n")), []byte("\r"))), "\r\n"...)
	}
	name, value, _ := bytes.Cut(f, []byte(":"))
	out := make([]byte, 0, len(f)+2)
	out = append(out, bytes.ToLower(bytes.Trim(name, space))...)
	out = append(out, ':')
	for i, word := range bytes.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(space, r) }) {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, word...)
	}
	return append(out, "\r\n"...)
}

// withCRLF returns b with CRLF for each line end in it.
func withCRLF(b []byte) []byte {
	out := make([]byte, 0, len(b)+2)
	for i, c := range b {
		if c == '\n' && (i == 0 || b[i-1] != '\r') {
			out = append(out, '\r')
		}
		out = append(out, c)
	}
	return out
}

// writeBody writes a canonicalized body and returns its length. Empty lines at the end are left out, and the last line
// ends in CRLF.
func (c canonicalization) writeBody(w io.Writer, body []byte) (size int64) {
	empty := 0 // lines that may be at the end
	line := make([]byte, 0, 1024)
	out := bufio.NewWriterSize(w, 16<<10)
	defer out.Flush() // a hash returns no errors
	endLine := func() {
		n, _ := out.WriteString("\r\n")
		size += int64(n)
	}
	for rest := body; len(rest) > 0; {
		text := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			text, rest = bytes.TrimSuffix(rest[:i], []byte("\r")), rest[i+1:]
		} else {
			rest = nil
		}
		if c == relaxed {
			line = appendRelaxed(line[:0], text)
			text = line
		}
		if len(text) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			endLine()
		}
		n, _ := out.Write(text)
		size += int64(n)
		endLine()
	}
	if size == 0 && c == simple {
		endLine() // RFC 6376 §3.4.3
	}
	return size
}

// appendRelaxed appends a line with each run of white space as one space, and none at its end (RFC 6376 §3.4.4).
func appendRelaxed(b, line []byte) []byte {
	blank := false
	for _, c := range line {
		if c == ' ' || c == '\t' {
			blank = true
			continue
		}
		if blank {
			b = append(b, ' ')
			blank = false
		}
		b = append(b, c)
	}
	return b
}

package mailparse

import (
	"bytes"
	"strings"
)

const (
	byteOrderMark = "\uFEFF"
	replacement   = "\uFFFD"
)

// appendUnfolded appends value to b with each fold, and the white space around it, replaced by one space. RFC 5322
// §2.2.3 would keep that white space, but senders fold with tabs and runs of spaces, which do not belong in a subject.
func appendUnfolded(b *strings.Builder, value []byte) {
	value = trimSpace(value)
	for {
		i := bytes.IndexByte(value, '\n')
		if i < 0 {
			b.Write(value)
			return
		}
		line := trimSpaceRight(value[:i])
		value = trimSpaceLeft(value[i+1:])
		b.Write(line)
		if len(line) > 0 && len(value) > 0 {
			b.WriteByte(' ')
		}
	}
}

// dirty reports whether a header value needs decoding: it may contain an encoded word, or has bytes that are not
// printable ASCII.
func dirty(value string) bool {
	var bits byte
	for i := range len(value) {
		bits |= headerClass[value[i]]
	}
	return bits&classUnclean != 0 || bits&classEqual != 0 && strings.Contains(value, "=?")
}

const (
	classUnclean = 1 << iota // a control character or a byte above ASCII
	classEqual               // the equals sign an encoded word begins with
)

var headerClass = makeHeaderClass()

func makeHeaderClass() (class [256]byte) {
	for c := range class {
		if c < ' ' && c != '\t' || c >= 0x7f {
			class[c] = classUnclean
		}
	}
	class['='] = classEqual
	return class
}

// printable makes s fit for a header value: CR and LF, which an encoded word can contain, become spaces; other control
// characters and invalid UTF-8 become U+FFFD.
func printable(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = headerClass[s[i]]&classUnclean == 0
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(replacement))
	for _, r := range s {
		switch {
		case r == '\r' || r == '\n':
			b.WriteByte(' ')
		case r < ' ' && r != '\t', r == 0x7f:
			b.WriteString(replacement)
		default:
			b.WriteRune(r) // RuneError for an invalid byte
		}
	}
	return b.String()
}

func trimSpace(b []byte) []byte { return trimSpaceLeft(trimSpaceRight(b)) }

func trimSpaceLeft(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

func trimSpaceRight(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

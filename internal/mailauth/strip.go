package mailauth

import (
	"bytes"
	"strings"
)

// StripForged removes the Authentication-Results fields that claim to be hostname's: those it did not write itself
// before, since no mail that arrives can have them (RFC 8601 §5). Fields of other servers stay. It returns raw itself,
// not a copy, if there is nothing to remove. It does not change raw.
func StripForged(raw []byte, hostname string) []byte {
	var kept []byte // nil until a field was removed
	pos, copied := 0, 0
	for removed, others := true, false; removed && !others; {
		// No field is left of the header so far, if there was one: readers skip the blank line behind it, too.
		removed = false
		pos += preamble(raw[pos:])
		for f := range fields(raw[pos:]) {
			pos += len(f)
			bare := bytes.TrimPrefix(f, []byte(byteOrderMark))
			if !isField(bare, "Authentication-Results") || !claims(bare, hostname) {
				others = others || len(bytes.TrimSpace(bare)) > 0
				continue
			}
			removed = true
			if kept == nil {
				kept = make([]byte, 0, len(raw))
			}
			kept = append(kept, raw[copied:pos-len(f)]...)
			copied = pos
		}
	}
	if kept == nil {
		return raw
	}
	return append(kept, raw[copied:]...)
}

// claims reports whether the authserv-id of an Authentication-Results field is hostname.
func claims(field []byte, hostname string) bool {
	_, value, _ := bytes.Cut(field, []byte(":"))
	id := authservID(string(value))
	return strings.EqualFold(strings.TrimSuffix(id, "."), strings.TrimSuffix(hostname, "."))
}

// authservID returns the first value of the field, a token or a quoted string (RFC 8601 §2.2), after any comments.
func authservID(s string) string {
	s = skipCFWS(s)
	if strings.HasPrefix(s, `"`) {
		return unquote(s[1:])
	}
	if i := strings.IndexAny(s, " \t\r\n;("); i >= 0 {
		return s[:i]
	}
	return s
}

// skipCFWS skips white space, line ends and nested comments (RFC 5322 §3.2.2). A comment that does not end hides
// everything from a strict reader; a lax one may see what follows the parentheses, so only those are skipped.
func skipCFWS(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if !strings.HasPrefix(s, "(") {
			return s
		}
		end := commentLength(s)
		if end < 0 {
			return strings.TrimLeft(s, "( \t\r\n")
		}
		s = s[end:]
	}
}

// commentLength returns the length of the comment at the beginning of s, or -1 if it does not end.
func commentLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// unquote returns the content of a quoted string after its first quote, without the line ends of folding.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return strings.TrimSpace(b.String())
		case '\r', '\n':
			continue
		case '\\':
			if i++; i == len(s) {
				return b.String()
			}
		}
		b.WriteByte(s[i])
	}
	return strings.TrimSpace(b.String())
}

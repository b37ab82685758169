package release

import (
	"bytes"
	"iter"
	"strings"
)

// fields returns the fields of a header, each with the rest of its lines as they are.
func fields(header []byte) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for len(header) > 0 {
			field := header[:fieldLen(header)]
			header = header[len(field):]
			name, value, found := strings.Cut(string(field), ":")
			if strings.TrimRight(string(field), "\r\n") == "" { // the end of the header
				return
			}
			if found && !yield(strings.TrimRight(name, " \t"), value) {
				return
			}
		}
	}
}

// fieldLen returns the octets of the field that a header begins with, including its continuation lines.
func fieldLen(header []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(header[i:], '\n')
		if n < 0 {
			return len(header)
		}
		i += n + 1
		if i >= len(header) || header[i] != ' ' && header[i] != '\t' {
			return i
		}
	}
}

// withoutVerdicts returns a raw message without the Return-Path and Authentication-Results fields that this server has put in front,
// in this order and followed by Received. Both are for the mailbox that the mail was delivered to: a mail that is sent must not have a
// Return-Path (RFC 5321 §4.4), and the receiver's server removes or distrusts the verdicts of others (RFC 8601 §5).
func withoutVerdicts(raw []byte) []byte {
	rest := raw
	for _, name := range []string{"return-path:", "authentication-results:"} {
		if !hasPrefixFold(rest, name) {
			return raw
		}
		rest = rest[fieldLen(rest):]
	}
	if !hasPrefixFold(rest, "received:") {
		return raw
	}
	return rest
}

// hasPrefixFold is bytes.HasPrefix regardless of case; prefix is in lower case.
func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(string(text[:len(prefix)]), prefix)
}

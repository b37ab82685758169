package smtpd

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parameters are the parameters of MAIL that are supported.
type parameters struct {
	size       int64  // RFC 1870; 0 where it was not declared
	utf8       bool   // RFC 6531
	full       bool   // RET=FULL (RFC 3461 §4.3)
	envelopeID []byte // ENVID (§4.4); aliases the command line
}

// rcptParameters are the parameters of RCPT that are supported (RFC 3461 §4.1, §4.2). They alias the command line.
type rcptParameters struct{ notify, original []byte }

// mailParameters parses what follows the reverse-path. AUTH= (RFC 4954 §5) is ignored where AUTH is offered, since the credentials grant
// nothing. RET and ENVID are taken where DSN is offered (Config.DSN), and unknown elsewhere (RFC 5321 §4.1.1.11).
func mailParameters(p []byte, auth, dsn bool) (ps parameters, r reply) {
	var seen [6]bool
	r = eachParameter(p, func(keyword string, value []byte, hasValue bool) reply {
		kind := 0
		switch keyword {
		case "SIZE":
			var ok bool
			if ps.size, ok = parseSize(value); !ok {
				return replyParameters
			}
		case "BODY":
			kind = 1
			if r := checkBody(value); r != "" {
				return r
			}
		case "SMTPUTF8":
			kind = 2
			ps.utf8 = true
			if hasValue {
				return replyParameters
			}
		case "AUTH":
			kind = 3
			if !auth || !hasValue {
				return replyParameter
			}
		case "RET", "ENVID":
			if !dsn {
				return replyParameter
			}
			kind = 4
			if keyword == "ENVID" {
				kind, ps.envelopeID = 5, value
			} else {
				ps.full = bytes.EqualFold(value, []byte("FULL"))
			}
			if !isReturn(keyword, value) {
				return replyParameters
			}
		default:
			return replyParameter
		}
		if seen[kind] {
			return replyParameters
		}
		seen[kind] = true
		return ""
	})
	return ps, r
}

// parseRcptParameters parses what follows a forward-path: NOTIFY and ORCPT, where DSN is offered.
func parseRcptParameters(p []byte, dsn bool) (ps rcptParameters, r reply) {
	if len(p) == 0 {
		return ps, ""
	}
	var seen [2]bool
	r = eachParameter(p, func(keyword string, value []byte, _ bool) reply {
		var kind int
		var valid bool
		switch {
		case !dsn:
			return replyParameter
		case keyword == "NOTIFY":
			valid, ps.notify = isNotify(value), value
		case keyword == "ORCPT":
			kind, valid, ps.original = 1, isOriginalRecipient(value), value
		default:
			return replyParameter
		}
		if !valid || seen[kind] {
			return replyParameters
		}
		seen[kind] = true
		return ""
	})
	return ps, r
}

// wantsReport reports whether NOTIFY allows a report of failure (RFC 3461 §4.1).
func (f Failed) wantsReport() bool {
	return f.notify == "" || strings.Contains(strings.ToUpper(f.notify), "FAILURE")
}

// Limits of RFC 3461 §4.2 and §4.4, in characters.
const (
	maxEnvelopeID        = 100
	maxOriginalRecipient = 500
)

// isReturn reports whether a value of RET or ENVID is valid (RFC 3461 §4.3, §4.4).
func isReturn(keyword string, value []byte) bool {
	if keyword == "RET" {
		return bytes.EqualFold(value, []byte("FULL")) || bytes.EqualFold(value, []byte("HDRS"))
	}
	return len(value) <= maxEnvelopeID && isXtext(value)
}

// isNotify reports whether a value of NOTIFY is valid: NEVER alone, or some of the others, each once (RFC 3461 §4.1).
func isNotify(value []byte) bool {
	seen := make(map[string]bool)
	for word := range bytes.SplitSeq(value, []byte(",")) {
		name := string(bytes.ToUpper(word))
		switch name {
		case "SUCCESS", "FAILURE", "DELAY", "NEVER":
		default:
			return false
		}
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return !seen["NEVER"] || len(seen) == 1
}

// isOriginalRecipient reports whether a value of ORCPT is valid: the type of an address, an atom, and the address
// (RFC 3461 §4.2). Clients that use SMTPUTF8 may send a UTF-8 address (RFC 6533 §3).
func isOriginalRecipient(value []byte) bool {
	kind, address, found := bytes.Cut(value, []byte(";"))
	if bytes.EqualFold(kind, []byte("utf-8")) {
		return found && len(address) > 0 && len(value) <= maxOriginalRecipient
	}
	return found && isKeyword(kind) && len(value) <= maxOriginalRecipient && isXtext(address)
}

// isXtext reports whether p is xtext: printable ASCII in which "+" begins two hexadecimal digits in upper case (RFC 3461 §4).
func isXtext(p []byte) bool {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' }
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c < '!' || c > '~' || c == '=':
			return false
		case c == '+':
			if i+2 >= len(p) || !isDigit(p[i+1]) || !isDigit(p[i+2]) {
				return false
			}
			i += 2
		}
	}
	return len(p) > 0
}

// checkBody checks the value of BODY: 8BITMIME (RFC 6152 §3). BINARYMIME (RFC 3030) is not offered.
func checkBody(value []byte) reply {
	switch {
	case bytes.EqualFold(value, []byte("7BIT")), bytes.EqualFold(value, []byte("8BITMIME")):
		return ""
	case bytes.EqualFold(value, []byte("BINARYMIME")):
		return replyParameter
	default:
		return replyParameters
	}
}

// eachParameter calls take for each of the esmtp-params (RFC 5321 §4.1.2), with the keyword in upper case, and stops
// at the first reply that is not "", which it returns.
func eachParameter(p []byte, take func(keyword string, value []byte, hasValue bool) reply) reply {
	if len(p) > 0 && p[0] != ' ' {
		return replyParameters
	}
	for field := range bytes.FieldsFuncSeq(p, func(r rune) bool { return r == ' ' }) {
		keyword, value, hasValue := bytes.Cut(field, []byte("="))
		if !isKeyword(keyword) || (hasValue && !isValue(value)) {
			return replyParameters
		}
		if r := take(string(bytes.ToUpper(keyword)), value, hasValue); r != "" {
			return r
		}
	}
	return ""
}

// isKeyword reports whether p is an esmtp-keyword: letters, digits and hyphens, not beginning with a hyphen.
func isKeyword(p []byte) bool {
	for i, c := range p {
		if !isAlphanumeric(c) && (c != '-' || i == 0) {
			return false
		}
	}
	return len(p) > 0
}

// isValue reports whether p is an esmtp-value with UTF-8 (RFC 6531 §3.3). Commands with control characters, and spaces
// in values, have been rejected before.
func isValue(p []byte) bool {
	return len(p) > 0 && bytes.IndexByte(p, '=') < 0 && utf8.Valid(p)
}

// parseSize parses a size-value of 1 to 20 digits (RFC 1870 §4). A value above the range of int64 becomes its maximum.
func parseSize(p []byte) (n int64, ok bool) {
	const digits = 20
	if len(p) == 0 || len(p) > digits {
		return 0, false
	}
	for _, c := range p {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(p), 10, 64)
	if err != nil {
		return math.MaxInt64, true
	}
	return n, true
}

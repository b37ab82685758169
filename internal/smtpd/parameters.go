package smtpd

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// parameters are the parameters of MAIL that are supported.
type parameters struct {
	size int64 // RFC 1870; 0 where it was not declared
	utf8 bool  // RFC 6531
}

// mailParameters parses what follows the reverse-path. RET and ENVID are rejected like any unknown parameter, since no delivery status
// notifications are sent (RFC 5321 §4.1.1.11).
//
// AUTH= (RFC 4954 §5) is ignored where AUTH is offered, since the credentials grant nothing.
func mailParameters(p []byte, auth bool) (ps parameters, r reply) {
	var seen [4]bool
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

// noParameters parses what follows a forward-path, for which no parameter is supported.
func noParameters(p []byte) reply {
	return eachParameter(p, func(string, []byte, bool) reply { return replyParameter })
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

package spf

import (
	"net/netip"
	"strings"
)

// version is the beginning of every record, in any case.
const version = "v=spf1"

// record is a parsed record (RFC 7208 §4.6.1).
type record struct {
	directives []directive
	redirect   domainSpec // nil: none
}

// directive is a mechanism with the result that a match gives (RFC 7208 §4.6.2).
type directive struct {
	result    Result
	mechanism string     // in lower case
	domain    domainSpec // nil: the domain whose record this is
	network   netip.Prefix
	bits4     int // of the addresses that a and mx find
	bits6     int
}

// parseRecord parses a record that begins with the version. ok is false if there is a syntax error anywhere in it
// (RFC 7208 §4.6).
func parseRecord(text string) (r record, ok bool) {
	explained := false
	for term := range strings.SplitSeq(text[len(version):], " ") {
		if term == "" {
			continue
		}
		name, value, isModifier := cutModifier(term)
		switch {
		case !isModifier:
			d, ok := parseDirective(term)
			if !ok {
				return record{}, false
			}
			r.directives = append(r.directives, d)
		case strings.EqualFold(name, "redirect"):
			spec, ok := parseDomainSpec(value)
			if !ok || r.redirect != nil {
				return record{}, false
			}
			r.redirect = spec
		case strings.EqualFold(name, "exp"):
			if _, ok := parseDomainSpec(value); !ok || explained {
				return record{}, false
			}
			explained = true
		default: // unknown modifiers are ignored if their syntax is right (RFC 7208 §6)
			if _, ok := parseMacroString(value); !ok {
				return record{}, false
			}
		}
	}
	return r, true
}

// cutModifier splits a modifier, "name=value". A mechanism has no "=" before its first ":" or "/".
func cutModifier(term string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(term, "=")
	if !ok || name == "" || !isAlpha(name[0]) {
		return "", "", false
	}
	for i := range len(name) {
		if !isAlnum(name[i]) && strings.IndexByte("-_.", name[i]) < 0 {
			return "", "", false
		}
	}
	return name, value, true
}

// parseDirective parses an optional qualifier and a mechanism.
func parseDirective(term string) (d directive, ok bool) {
	d = directive{result: Pass, bits4: 32, bits6: 128}
	switch term[0] {
	case '+':
		term = term[1:]
	case '-':
		d.result, term = Fail, term[1:]
	case '~':
		d.result, term = SoftFail, term[1:]
	case '?':
		d.result, term = Neutral, term[1:]
	}
	end := strings.IndexAny(term, ":/")
	if end < 0 {
		end = len(term)
	}
	d.mechanism = strings.ToLower(term[:end])
	return d, d.parseArgument(term[end:])
}

// parseArgument parses what follows the name of a mechanism, and reports whether it is valid (RFC 7208 §5).
func (d *directive) parseArgument(rest string) (ok bool) {
	value, hasValue := strings.CutPrefix(rest, ":")
	switch d.mechanism {
	case "all":
		return rest == ""
	case "include", "exists":
		d.domain, ok = parseDomainSpec(value)
		return ok && hasValue
	case "a", "mx":
		if value, ok = d.cutBits(value); !ok {
			return false
		}
	case "ptr":
	case "ip4", "ip6":
		d.network, ok = parseNetwork(value, d.mechanism == "ip4")
		return ok && hasValue
	default:
		return false // RFC 7208 §4.6: an unknown mechanism is a syntax error
	}
	if !hasValue {
		return value == ""
	}
	d.domain, ok = parseDomainSpec(value)
	return ok
}

// cutBits cuts the lengths of the prefixes off the end of an argument, "/24//64" (RFC 7208 §5.6).
func (d *directive) cutBits(s string) (rest string, ok bool) {
	rest, digits := cutDigits(s)
	if before, found := strings.CutSuffix(rest, "//"); found && digits != "" {
		if d.bits6, ok = parseBits(digits, 128); !ok {
			return "", false
		}
		s = before
		rest, digits = cutDigits(s)
	}
	before, found := strings.CutSuffix(rest, "/")
	if !found || digits == "" {
		return s, true
	}
	d.bits4, ok = parseBits(digits, 32)
	return before, ok
}

// cutDigits cuts the digits off the end of s.
func cutDigits(s string) (rest, digits string) {
	rest = strings.TrimRight(s, "0123456789")
	return rest, s[len(rest):]
}

// parseBits parses the length of a prefix, which has no leading zeros.
func parseBits(digits string, max int) (n int, ok bool) {
	if digits == "" || len(digits) > 3 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = n*10 + int(digits[i]-'0')
	}
	return n, n <= max
}

// parseNetwork parses the argument of ip4 or ip6 (RFC 7208 §5.6).
func parseNetwork(s string, v4 bool) (p netip.Prefix, ok bool) {
	text, digits, hasBits := strings.Cut(s, "/")
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Is4() != v4 || addr.Zone() != "" {
		return p, false
	}
	bits := addr.BitLen()
	if hasBits {
		if bits, ok = parseBits(digits, addr.BitLen()); !ok {
			return p, false
		}
	}
	return netip.PrefixFrom(addr, bits), true
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

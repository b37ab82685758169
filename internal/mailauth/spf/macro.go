package spf

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// maxDomain is the longest domain name, in octets. Labels are removed from the left of longer ones (RFC 7208 §7.3).
const maxDomain = 253

// domainSpec is a domain name in a record, with its macros (RFC 7208 §7.1).
type domainSpec []piece

// piece is a literal text, or a macro if letter is not 0.
type piece struct {
	literal    string
	letter     byte // in lower case
	parts      int  // how many parts from the right are kept; 0: all
	reverse    bool
	delimiters string
	escape     bool // the letter was a capital: escape the value as part of a URL
}

// parseDomainSpec parses a domain-spec: a macro-string that ends in a macro or in a dot and a label that can be a
// top-level domain.
func parseDomainSpec(s string) (domainSpec, bool) {
	spec, ok := parseMacroString(s)
	if !ok || len(spec) == 0 {
		return nil, false
	}
	if spec[len(spec)-1].letter != 0 || endsInEscape(s) {
		return spec, true
	}
	literal := strings.TrimSuffix(spec[len(spec)-1].literal, ".")
	dot := strings.LastIndexByte(literal, '.')
	return spec, dot >= 0 && isTopLabel(literal[dot+1:])
}

// endsInEscape reports whether a valid macro-string ends in "%%", "%_" or "%-", which are macros, too.
func endsInEscape(s string) bool {
	n := len(s)
	if n < 2 || strings.IndexByte("%_-", s[n-1]) < 0 {
		return false
	}
	percents := len(s[:n-1]) - len(strings.TrimRight(s[:n-1], "%"))
	return percents%2 == 1
}

// isTopLabel reports whether a label can be a top-level domain: letters, digits and inner hyphens, not digits alone.
func isTopLabel(label string) bool {
	if label == "" || !isAlnum(label[0]) || !isAlnum(label[len(label)-1]) {
		return false
	}
	digits := true
	for i := range len(label) {
		if !isAlnum(label[i]) && label[i] != '-' {
			return false
		}
		digits = digits && isDigit(label[i])
	}
	return !digits
}

// parseMacroString parses a text with macros. Adjacent literals are one piece.
func parseMacroString(s string) (spec domainSpec, ok bool) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			spec = append(spec, piece{literal: literal.String()})
			literal.Reset()
		}
	}
	for s != "" {
		c := s[0]
		switch {
		case c < 0x21 || c > 0x7e:
			return nil, false
		case c != '%':
			literal.WriteByte(c)
			s = s[1:]
			continue
		case len(s) < 2:
			return nil, false
		}
		switch s[1] {
		case '%':
			literal.WriteByte('%')
		case '_':
			literal.WriteByte(' ')
		case '-':
			literal.WriteString("%20")
		case '{':
			body, rest, closed := strings.Cut(s[2:], "}")
			p, ok := parseMacro(body)
			if !closed || !ok {
				return nil, false
			}
			flush()
			spec, s = append(spec, p), rest
			continue
		default:
			return nil, false
		}
		s = s[2:]
	}
	flush()
	return spec, true
}

// parseMacro parses what is between the braces of a macro. The letters c, r and t are for explanations alone
// (RFC 7208 §7.2).
func parseMacro(s string) (p piece, ok bool) {
	if s == "" || strings.IndexByte("slodiphv", s[0]|0x20) < 0 || !isAlpha(s[0]) {
		return p, false
	}
	p = piece{letter: s[0] | 0x20, escape: s[0] < 'a', delimiters: "."}
	rest := strings.TrimLeft(s[1:], "0123456789")
	if digits := s[1 : len(s)-len(rest)]; digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil || n == 0 {
			return p, false
		}
		p.parts = n
	}
	if rest != "" && rest[0]|0x20 == 'r' {
		p.reverse, rest = true, rest[1:]
	}
	if rest != "" {
		p.delimiters = rest
	}
	return p, strings.Trim(rest, ".-+,/_=") == ""
}

// expand returns the domain that a spec names in the record of domain; that domain itself if spec is nil.
func (e *evaluation) expand(spec domainSpec, domain string) string {
	if spec == nil {
		return domain
	}
	var b strings.Builder
	for _, p := range spec {
		if p.letter == 0 {
			b.WriteString(p.literal)
			continue
		}
		value := p.transform(e.value(p.letter, domain))
		if p.escape {
			value = escape(value)
		}
		b.WriteString(value)
	}
	name := strings.TrimSuffix(b.String(), ".")
	for len(name) > maxDomain {
		_, rest, found := strings.Cut(name, ".")
		if !found {
			break
		}
		name = rest
	}
	return name
}

// value returns what a macro stands for (RFC 7208 §7.2).
func (e *evaluation) value(letter byte, domain string) string {
	switch letter {
	case 's':
		return e.Local + "@" + e.Domain
	case 'l':
		return e.Local
	case 'o':
		return e.Domain
	case 'd':
		return domain
	case 'i':
		return dotted(e.IP)
	case 'p':
		return e.validatedName(domain)
	case 'v':
		if e.IP.Is4() {
			return "in-addr"
		}
		return "ip6"
	}
	return e.Helo
}

// transform splits a value, reverses the parts and keeps those on the right (RFC 7208 §7.3).
func (p *piece) transform(value string) string {
	if !p.reverse && p.parts == 0 && p.delimiters == "." {
		return value
	}
	var parts []string
	for {
		i := strings.IndexAny(value, p.delimiters)
		if i < 0 {
			break
		}
		parts, value = append(parts, value[:i]), value[i+1:]
	}
	parts = append(parts, value)
	if p.reverse {
		slices.Reverse(parts)
	}
	if p.parts > 0 {
		parts = parts[max(0, len(parts)-p.parts):]
	}
	return strings.Join(parts, ".")
}

// dotted returns an address as the macro i has it: an IPv6 address by its hexadecimal digits, with dots between them.
func dotted(ip netip.Addr) string {
	if ip.Is4() {
		return ip.String()
	}
	var b strings.Builder
	for i, c := range ip.As16() {
		if i > 0 {
			b.WriteByte('.')
		}
		fmt.Fprintf(&b, "%x.%x", c>>4, c&0xf)
	}
	return b.String()
}

// escape escapes all characters but the unreserved ones (RFC 3986 §2.3).
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isAlnum(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

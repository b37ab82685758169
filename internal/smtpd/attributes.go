package smtpd

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Attributes of XCLIENT and XFORWARD, as EHLO lists them.
const (
	xclientAttributes  = "NAME ADDR PORT PROTO HELO LOGIN DESTADDR DESTPORT"
	xforwardAttributes = "NAME ADDR PORT PROTO HELO IDENT SOURCE"
)

// clientAttributes are the attributes of XCLIENT or XFORWARD that are used. They describe the client from which a relay has received a mail.
type clientAttributes struct {
	addr    netip.Addr // the unspecified address of IPv4 if the relay gave it as unavailable
	hasAddr bool
	helo    string // unknownHelo if the relay gave it as unavailable
	hasHelo bool
}

// unknownHelo replaces a name that the relay gave as unavailable. SPF does not evaluate it, since it is not a host
// name of the internet.
const unknownHelo = "unknown"

// parseClientAttributes parses the arguments of XCLIENT and XFORWARD: names from known with values in xtext (RFC 3461 §4), each name at most
// once. It checks all values, but only ADDR and HELO are used.
func parseClientAttributes(arg []byte, known string) (a clientAttributes, ok bool) {
	var seen []string
	for field := range bytes.FieldsFuncSeq(arg, func(r rune) bool { return r == ' ' }) {
		keyword, value, hasValue := bytes.Cut(field, []byte("="))
		name := strings.ToUpper(string(keyword))
		if !hasValue || !hasWord(known, name) || slices.Contains(seen, name) {
			return clientAttributes{}, false
		}
		seen = append(seen, name)
		text, valid := decodeXtext(value)
		if !valid || !a.set(name, text) {
			return clientAttributes{}, false
		}
	}
	return a, len(seen) > 0
}

// hasWord reports whether a list of words, separated by spaces, contains word.
func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// set stores the value of an attribute and reports whether it is valid. It also checks attributes that are not used, if
// Postfix specifies their form.
func (a *clientAttributes) set(name, value string) bool {
	const maxProto = 64
	unavailable := strings.EqualFold(value, "[UNAVAILABLE]") || strings.EqualFold(value, "[TEMPUNAVAIL]")
	switch name {
	case "ADDR":
		a.addr, a.hasAddr = netip.IPv4Unspecified(), true
		if unavailable {
			return true
		}
		var ok bool
		a.addr, ok = parseClientAddr(value)
		return ok
	case "HELO":
		a.helo, a.hasHelo = value, true
		if unavailable {
			a.helo = unknownHelo
		}
		return true
	case "DESTADDR":
		_, ok := parseClientAddr(value)
		return ok || unavailable
	case "PORT", "DESTPORT":
		_, err := strconv.ParseUint(value, 10, 16)
		return err == nil || unavailable
	case "PROTO":
		return len(value) <= maxProto
	default: // NAME, LOGIN, IDENT, SOURCE
		return true
	}
}

// parseClientAddr parses an IPv4 address, or an IPv6 address after "IPV6:". The result is never IPv4-mapped and has no zone.
func parseClientAddr(text string) (netip.Addr, bool) {
	const prefix = "IPV6:"
	isV6 := len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
	if isV6 {
		text = text[len(prefix):]
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Is4() == isV6 || addr.Zone() != "" {
		return netip.Addr{}, false
	}
	addr = addr.Unmap()
	return addr, !addr.IsUnspecified()
}

// decodeXtext decodes xtext (RFC 3461 §4). It returns false for text that is not xtext, empty, longer than a host name, or that decodes to
// a control character or to invalid UTF-8. "=" is accepted, as Postfix does, since no space or plus sign can be confused with it.
func decodeXtext(p []byte) (text string, ok bool) {
	const escape = len("+2B")
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '+' {
			if len(p)-i < escape {
				return "", false
			}
			n, err := strconv.ParseUint(string(p[i+1:i+escape]), 16, 8)
			if err != nil {
				return "", false
			}
			c, i = byte(n), i+escape-1
		}
		if c < ' ' || c == 0x7f {
			return "", false
		}
		out = append(out, c)
	}
	return string(out), len(out) > 0 && len(out) <= maxName && utf8.Valid(out)
}

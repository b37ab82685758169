package local

import (
	"iter"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// host is the name or the address of a host in canonical form, so that hosts can be compared: a name in lower case without
// the dot of the root, an address without a zone and without its mapping into IPv6.
type host struct {
	name string
	addr netip.Addr
}

// parseHost parses a host without a port.
func parseHost(text string) (host, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return host{addr: bare(a)}, true
	}
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	if name == "" || len(name) > 253 {
		return host{}, false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(c rune) bool { return !isNameRune(c) }) {
			return host{}, false
		}
	}
	return host{name: name}, true
}

// isNameRune reports whether a character may be in a label. Names of containers have underscores; international names are
// A-labels in all header fields.
func isNameRune(c rune) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// bare returns an address without its zone and its mapping into IPv6.
func bare(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parseAuthority parses a host with an optional port (RFC 9110 §7.2). An IPv6 address is in brackets. port is 0 if there is
// none.
func parseAuthority(text string) (h host, port int, ok bool) {
	name := text
	if at := strings.LastIndexByte(text, ':'); at >= 0 && !strings.HasSuffix(text, "]") {
		name = text[:at]
		if digits := text[at+1:]; digits != "" {
			n, err := strconv.ParseUint(digits, 10, 16)
			if err != nil {
				return host{}, 0, false
			}
			port = int(n)
		}
	}
	if inner, bracketed := strings.CutPrefix(name, "["); bracketed {
		a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return host{addr: bare(a)}, port, err == nil && a.Is6() && strings.HasSuffix(inner, "]")
	}
	h, ok = parseHost(name) // a name with a colon is an IPv6 address without brackets
	return h, port, ok && !strings.Contains(name, ":")
}

// defaultPort has the schemes of origins that are accepted, with their ports.
var defaultPort = map[string]int{"http": 80, "https": 443}

// parseOrigin parses an origin (RFC 6454 §6.1). port is that of the scheme if the origin has none. "null" and origins that are
// not http or https are not ok. Some clients that are not browsers append a slash.
func parseOrigin(text string) (h host, scheme string, port int, ok bool) {
	scheme, rest, _ := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	standard := defaultPort[scheme]
	if standard == 0 {
		return host{}, "", 0, false
	}
	if h, port, ok = parseAuthority(strings.TrimSuffix(rest, "/")); port == 0 {
		port = standard
	}
	return h, scheme, port, ok
}

// ParseHop parses an address that a proxy forwarded a request for: an address, to which some proxies add the port. It returns
// the address without its zone and its mapping into IPv6.
func ParseHop(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return bare(a), true
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		return bare(a.Addr()), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		if a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]")); err == nil {
			return bare(a), true
		}
	}
	return netip.Addr{}, false
}

// forwardedHop is an element of Forwarded (RFC 7239 §4): the client that a proxy forwarded the request for, and the host that the
// client asked for; "" where the element has none.
type forwardedHop struct{ client, host string }

// parseForwarded parses the fields Forwarded. ok is false if one is malformed.
func parseForwarded(h http.Header) (hops []forwardedHop, ok bool) {
	elements, ok := splitUnquoted(strings.Join(h.Values(forwardedField), ","), ',')
	for _, element := range elements {
		pairs, balanced := splitUnquoted(element, ';')
		hop, seen := forwardedHop{}, map[string]bool{}
		for _, pair := range pairs {
			name, value, found := strings.Cut(pair, "=")
			name = strings.ToLower(strings.TrimSpace(name))
			text, valid := unquote(strings.TrimSpace(value))
			if !found || !valid || seen[name] {
				ok = false
				continue
			}
			switch seen[name] = true; name {
			case "for":
				hop.client = text
			case "host":
				hop.host = text
			}
		}
		hops, ok = append(hops, hop), ok && balanced
	}
	return hops, ok
}

// splitUnquoted splits a text at separators outside of quoted strings (RFC 9110 §5.6.4). It leaves out empty parts. ok is false
// if a quoted string does not end.
func splitUnquoted(text string, separator byte) (parts []string, ok bool) {
	begin, quoted, escaped := 0, false, false
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			add(text[begin:i])
			begin = i + 1
		}
	}
	add(text[begin:])
	return parts, !quoted
}

// unquote returns the value of a token or a quoted string.
func unquote(text string) (value string, ok bool) {
	inner, quoted := strings.CutPrefix(text, `"`)
	if !quoted {
		return text, text != "" && !strings.ContainsAny(text, "\" \t")
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '"':
			return b.String(), i == len(inner)-1
		case c == '\\' && i+1 < len(inner):
			i++
			b.WriteByte(inner[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// listed returns the elements of a comma-separated header field that are not empty.
func listed(h http.Header, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, value := range h.Values(name) {
			for text := range strings.SplitSeq(value, ",") {
				if text = strings.TrimSpace(text); text != "" && !yield(text) {
					return
				}
			}
		}
	}
}

// quote returns the beginning of a text that a client has sent, quoted and in ASCII.
func quote(text string) string {
	const most = 100 // octets
	if len(text) > most {
		text = text[:most]
	}
	return strconv.QuoteToASCII(text)
}

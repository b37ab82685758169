package mailauth

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// identities are the identities that a mail claims.
type identities struct {
	local string // the local part of the sender for SPF, never empty (RFC 7208 §4.3)
	spf   string // the domain SPF looks up: of the reverse-path, or of HELO for the null one (RFC 7208 §2.4)
	from  string // the domain of the From field
}

// identify returns the identities of a mail in the forms that the methods need.
func identify(in Input) identities {
	local, domain := "postmaster", in.Helo
	if in.MailFrom != "" {
		local, domain = splitAddress(in.MailFrom)
		if n := len(local); n > 1 && local[0] == '"' && local[n-1] == '"' {
			local = unquote(local[1:]) // RFC 5321 §4.1.2: the quotes are no part of it
		}
	}
	_, from := splitAddress(in.HeaderFrom)
	if local == "" {
		local = "postmaster"
	}
	return identities{local: local, spf: normalDomain(domain), from: normalDomain(from)}
}

// splitAddress cuts at the last @, the only one that can be outside a quoted local part.
func splitAddress(addr string) (local, domain string) {
	i := strings.LastIndexByte(addr, '@')
	if i < 0 {
		return addr, ""
	}
	return addr[:i], addr[i+1:]
}

// normalDomain returns the domain in lower case and A-label form, or "" for an address literal, a single label or a malformed name (RFC
// 7208 §4.3).
func normalDomain(domain string) string {
	domain = strings.TrimSuffix(domain, ".")
	if !isASCII(domain) {
		ascii, err := idna.Lookup.ToASCII(domain)
		if err != nil {
			return ""
		}
		domain = ascii
	}
	if len(domain) > 253 || !strings.Contains(domain, ".") {
		return ""
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || !plain(label, "") {
			return ""
		}
	}
	return strings.ToLower(domain)
}

// plain reports whether s consists of the characters of DNS names, and of those in others.
func plain(s, others string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', 'A' <= c && c <= 'Z', c == '-', c == '_':
		case strings.IndexByte(others, c) < 0:
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isPublic reports whether a domain may have records. Names that never exist (RFC 6761 §6.3, §6.4) are not looked up.
func isPublic(domain string) bool {
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	return domain != "" && top != "localhost" && top != "invalid"
}

// organizational returns the organizational domain (RFC 7489 §3.2). That of a public suffix is the suffix itself.
func organizational(domain string) string {
	org, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return domain
	}
	return org
}

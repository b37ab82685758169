package domain

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/gonebox/gonebox/internal/problem"
)

// nameMax is the longest domain, in octets, that leaves room for the proof's label in front of it (RFC 1035 §2.3.4).
const nameMax = 253 - len(proofLabel)

// specialUse lists names that are nobody's in the DNS of the internet, with all below them: the registry of RFC 6761
// and what has joined it since (RFC 6762, 7686, 8375, 9476), and the one that ICANN keeps for private networks.
const specialUse = `alt arpa example example.com example.net example.org internal invalid local localhost onion test`

// claimable returns the form under which a domain is kept, if an account may claim it. Errors: request.invalid for what
// is no name, domain.not_allowed.
func (s *Service) claimable(wished string) (string, error) {
	if isAddress(wished) {
		return "", notAllowed("it is an IP address")
	}
	name, err := Normalize(wished)
	if err != nil {
		return "", err
	}
	suffix, _ := publicsuffix.PublicSuffix(name) // those of registries, and those of hosters where anybody gets a name
	switch {
	case len(name) > nameMax:
		return "", notAllowed("it has more than %d octets, which leaves no room for the TXT record's name", nameMax)
	case isNumber(name[strings.LastIndexByte(name, '.')+1:]):
		return "", notAllowed("it ends like an IP address")
	case !strings.Contains(name, "."):
		return "", notAllowed("a single label is nobody's domain")
	case slices.ContainsFunc(strings.Fields(specialUse), func(special string) bool { return within(name, special) }):
		return "", notAllowed("it is kept for special use")
	case suffix == name:
		return "", notAllowed("it is a public suffix, below which anybody can have a name")
	case s.own(name):
		return "", notAllowed("it is one of the service's own domains, or below one")
	}
	return name, nil
}

func notAllowed(why string, args ...any) error {
	return problem.Detailf(problem.DomainNotAllowed, why, args...)
}

// own reports whether a domain is the service's, or below one that is.
func (s *Service) own(name string) bool {
	return within(name, s.policy.Hostname) ||
		slices.ContainsFunc(*s.public.Load(), func(p Public) bool { return within(name, p.Name) })
}

// within reports whether name is parent or below it.
func within(name, parent string) bool {
	above, ok := strings.CutSuffix(name, parent)
	return ok && parent != "" && (above == "" || strings.HasSuffix(above, "."))
}

// isAddress reports whether text is an IP address, bare or as an address literal (RFC 5321 §4.1.3).
func isAddress(text string) bool {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if len(text) > len("IPv6:") && strings.EqualFold(text[:len("IPv6:")], "IPv6:") {
		text = text[len("IPv6:"):]
	}
	_, err := netip.ParseAddr(text)
	return err == nil
}

// isNumber reports whether a label is one of the ways to write a part of an IPv4 address: a name that ends with one
// would be read as an address by many (URL Standard, ends-in-a-number checker).
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

package domain

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/gonebox/gonebox/internal/problem"
)

// nameMax is the maximum length of a private domain in octets, so that the name of its TXT record is not too long (RFC 1035 §2.3.4).
const nameMax = 253 - len(proofLabel)

// specialUse lists domains that, with all their subdomains, cannot be registered in the public DNS: the registry of RFC 6761
// with later additions (RFC 6762, 7686, 8375, 9476), and the one that ICANN reserves for private networks.
const specialUse = `alt arpa example example.com example.net example.org internal invalid local localhost onion test`

// checkClaimable returns the normalized name of a domain if an account may claim it. The public suffix list is compiled in,
// so a suffix that was added after the build is unknown. Errors: request.invalid for an invalid name,
// domain.not_allowed.
func (s *Service) checkClaimable(text string) (string, error) {
	if isAddress(text) {
		return "", notAllowed("it is an IP address")
	}
	name, err := Normalize(text)
	if err != nil {
		return "", err
	}
	suffix, _ := publicsuffix.PublicSuffix(name) // of a registry, or of a hosting service that gives subdomains to its users
	switch {
	case len(name) > nameMax:
		return "", notAllowed("it has more than %d octets, so that the TXT record's name would be too long", nameMax)
	case isNumber(name[strings.LastIndexByte(name, '.')+1:]):
		return "", notAllowed("it ends like an IP address")
	case !strings.Contains(name, "."):
		return "", notAllowed("it has a single label")
	case slices.ContainsFunc(strings.Fields(specialUse), func(special string) bool { return isSameOrSubdomain(name, special) }):
		return "", notAllowed("it is reserved for special use")
	case suffix == name:
		return "", notAllowed("it is a public suffix, below which others can register names")
	case s.isOwn(name):
		return "", notAllowed("it is one of the service's own domains or a subdomain of one")
	}
	return name, nil
}

// notAllowed returns domain.not_allowed with a reason.
func notAllowed(why string, args ...any) error {
	return problem.Detailf(problem.DomainNotAllowed, why, args...)
}

// isOwn reports whether a domain is one of the service's or a subdomain of one. Accounts may not claim a subdomain, since
// people would mistake it for a domain of the service.
func (s *Service) isOwn(name string) bool {
	return isSameOrSubdomain(name, s.policy.Hostname) ||
		slices.ContainsFunc(*s.public.Load(), func(p Public) bool { return isSameOrSubdomain(name, p.Name) })
}

// isSameOrSubdomain reports whether name is parent or a subdomain of it.
func isSameOrSubdomain(name, parent string) bool {
	prefix, ok := strings.CutSuffix(name, parent)
	return ok && parent != "" && (prefix == "" || strings.HasSuffix(prefix, "."))
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

// isNumber reports whether a label can be a part of an IPv4 address. Many programs parse a name whose last label is one as
// an IPv4 address (URL Standard, ends-in-a-number checker).
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

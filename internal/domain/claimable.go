package domain

import (
	"errors"
	"slices"

	"github.com/gonebox/gonebox/internal/domainname"
	"github.com/gonebox/gonebox/internal/problem"
)

// nameMax is the maximum length of a private domain in octets, so that the name of its TXT record is not too long (RFC 1035 §2.3.4).
const nameMax = 253 - len(proofLabel)

// checkClaimable returns the normalized name of a domain if an account may claim it. Errors: request.invalid for an invalid name,
// domain.not_allowed.
func (s *Service) checkClaimable(text string) (string, error) {
	name, err := domainname.ForMail(text)
	if e, ok := errors.AsType[*domainname.Error](err); ok && e.Unsuitable {
		return "", notAllowed("it %s", e.Reason)
	} else if err != nil {
		return "", problem.Invalid("/domain", "%q %s", text, err.Error())
	}
	switch {
	case len(name) > nameMax:
		return "", notAllowed("it has more than %d octets, so that the TXT record's name would be too long", nameMax)
	case domainname.IsSpecialUse(name):
		return "", notAllowed("it is reserved for special use")
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
	return domainname.IsOrBelow(name, s.policy.Hostname) ||
		slices.ContainsFunc(*s.public.Load(), func(p Public) bool { return domainname.IsOrBelow(name, p.Name) })
}

package wallet

import (
	"slices"

	"github.com/gonebox/gonebox/internal/problem"
)

// Status says whether a payment provider can be used (decisions §2).
type Status string

// The states of a provider.
const (
	Active     Status = "active"
	ComingSoon Status = "coming_soon"
	Disabled   Status = "disabled"
)

// The providers that there are (spec §2, top-up order input).
const (
	Bankpay = "bankpay" // VND by bank transfer
	BNB     = "bnb"
)

// VND is the only currency (spec §2, top-up order input).
const VND = "VND"

// Provider is a way to pay, as the operator has set it.
type Provider struct {
	Code       string
	Name       string // for people
	Status     Status
	Currencies []string
	MinAmount  int64 // of one top-up, in VND
	MaxAmount  int64 // of one top-up, in VND
}

// Providers lists the providers, whatever their status, so that one that is switched off can be shown as such.
func (s *Service) Providers() []Provider { return slices.Clone(s.policy.Providers) }

// usable checks that a provider can be paid with. Errors: request.invalid, payment.provider_unavailable.
func (s *Service) usable(code string) error {
	i := slices.IndexFunc(s.policy.Providers, func(p Provider) bool { return p.Code == code })
	if i < 0 {
		return problem.Invalid("/provider", "is not a payment provider")
	}
	if p := s.policy.Providers[i]; p.Status != Active {
		return problem.Detailf(problem.PaymentProviderUnavailable, "%s is %s", p.Code, p.Status)
	}
	return nil
}

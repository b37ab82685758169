package wallet

import (
	"slices"

	"github.com/gonebox/gonebox/internal/problem"
)

// Status reports whether a payment provider can be used. Providers that cannot be used are shown to clients too.
type Status string

// The statuses of a provider.
const (
	Active     Status = "active"
	ComingSoon Status = "coming_soon"
	Disabled   Status = "disabled"
)

// The providers.
const (
	Bankpay = "bankpay" // VND by bank transfer
	BNB     = "bnb"
)

// VND is the only currency.
const VND = "VND"

// Provider is a payment provider as configured. The amounts are for display; Service.Order applies
// Policy.TopupMin, Policy.TopupMax and Policy.VNDPerPoint.
type Provider struct {
	Code       string
	Name       string // for people
	Status     Status
	Currencies []string
	MinAmount  int64 // of one top-up, in VND
	MaxAmount  int64 // of one top-up, in VND
	PointPrice int64 // in VND
}

// Providers returns all providers, whatever their status. The caller may change the slice, but not the Currencies of
// its elements.
func (s *Service) Providers() []Provider { return slices.Clone(s.policy.Providers) }

// checkProvider checks that there is a provider with a code and that it is active. Errors: request.invalid,
// payment.provider_unavailable.
func (s *Service) checkProvider(code string) error {
	i := slices.IndexFunc(s.policy.Providers, func(p Provider) bool { return p.Code == code })
	if i < 0 {
		return problem.Invalid("/provider", "is not a payment provider")
	}
	if p := s.policy.Providers[i]; p.Status != Active {
		return problem.Detailf(problem.PaymentProviderUnavailable, "%s is %s", p.Code, p.Status)
	}
	return nil
}

// Package plan is the catalogue of plans: their prices and entitlements (docs/spec/billing.md#plans-and-subscriptions).
// It does not depend on which account has which plan, and counts no usage.
//
// A Plan has a code, prices in points, and Entitlements: quotas, lifetimes and rates. The catalogue of an installation
// is Default with the changes of its configuration. It has a guest plan, for callers without an account, and at least
// the plan free. An account can have two plans, one that staff assigned and one that it bought; Together returns the
// combination, which has the better value of each entitlement.
//
// A new entitlement is a field of Entitlements with its tags, a value in each plan of Default, and a line in
// Entitlements.with. Configuration, API and documentation follow from the tags. All values are immutable.
package plan

import (
	"errors"
	"fmt"
	"slices"
)

// The codes that every catalogue has: the plan of callers without an account, and of accounts without a subscription.
const (
	GuestCode = "guest"
	FreeCode  = "free"
)

// Plan is a plan of the catalogue. Its tags have the configuration keys below plans.<code>. Plans are values: a copy is
// independent, except that rate limits are slices, which must not be changed.
type Plan struct {
	Code         string       // stable, lower case; the planCode of POST /me/subscription
	Name         string       `key:"name" required:"true" help:"display name of the plan"`
	Prices       Prices       `key:"price" help:"what the plan costs"`
	Entitlements Entitlements // its quotas
}

// Prices are in points, each for one whole period. Zero means that the plan is not sold for that period.
type Prices struct {
	Monthly int64 `key:"monthly" help:"price of a calendar month in points" zero:"not sold by the month"`
	Yearly  int64 `key:"yearly" help:"price of a calendar year in points" zero:"not sold by the year"`
}

// Tier is the part of its plan that a mailbox shows.
type Tier string

// The two tiers.
const (
	TierFree Tier = "free"
	TierPaid Tier = "paid"
)

// Tier returns TierPaid if either price is above zero. A plan that is not sold any more, but assigned by staff, counts
// as free.
func (p Plan) Tier() Tier {
	if p.Prices.Monthly > 0 || p.Prices.Yearly > 0 {
		return TierPaid
	}
	return TierFree
}

// Catalogue has the plans of an installation. It is immutable and safe for concurrent use.
type Catalogue struct {
	guest Plan
	plans []Plan
}

// New returns a Catalogue of the guest plan and the others, in the order to show them. It is an error if the guest plan
// has another code, if two plans have the same code, or if there is no free plan.
func New(guest Plan, plans ...Plan) (Catalogue, error) {
	if guest.Code != GuestCode {
		return Catalogue{}, fmt.Errorf("the guest plan has the code %q", guest.Code)
	}
	seen := map[string]bool{"": true, GuestCode: true}
	for _, p := range plans {
		if seen[p.Code] {
			return Catalogue{}, fmt.Errorf("the plan code %q is empty or a duplicate", p.Code)
		}
		seen[p.Code] = true
	}
	if !seen[FreeCode] {
		return Catalogue{}, errors.New("the catalogue has no free plan")
	}
	return Catalogue{guest: guest, plans: slices.Clone(plans)}, nil
}

// Plan returns a plan that an account can have, which excludes the guest plan. ok is false if there is none.
func (c Catalogue) Plan(code string) (Plan, bool) {
	i := slices.IndexFunc(c.plans, func(p Plan) bool { return p.Code == code })
	if i < 0 {
		return Plan{}, false
	}
	return c.plans[i], true
}

// Guest returns the plan of callers without an account, which All leaves out.
func (c Catalogue) Guest() Plan { return c.guest }

// Free returns the plan of accounts without a subscription.
func (c Catalogue) Free() Plan {
	p, _ := c.Plan(FreeCode)
	return p
}

// All returns the plans that an account can have, in the order to show them. The caller may change the slice.
func (c Catalogue) All() []Plan { return slices.Clone(c.plans) }

// Package plan is the catalogue of plans: what each costs and what it entitles to (decisions §6). It refuses to
// know who has which plan and to count what anybody uses.
package plan

import (
	"errors"
	"fmt"
	"slices"
)

// The codes every catalogue has: what a caller without an account may do, and what an account without a
// subscription may do.
const (
	GuestCode = "guest"
	FreeCode  = "free"
)

// Plan is one row of the catalogue. Its tags name the configuration keys below plans.<code>.
type Plan struct {
	Code         string       // stable, lower case; what POST /me/subscription names as planCode
	Name         string       `key:"name" required:"true" help:"display name of the plan"`
	Prices       Prices       `key:"price" help:"what the plan costs"`
	Entitlements Entitlements // what it allows
}

// Prices are in points, each for one whole period. Zero means that the plan is not sold for that period.
type Prices struct {
	Monthly int64 `key:"monthly" help:"price of a calendar month in points" zero:"not sold by the month"`
	Yearly  int64 `key:"yearly" help:"price of a calendar year in points" zero:"not sold by the year"`
}

// Tier is what a mailbox shows of its plan (specification §3, retention of raw messages).
type Tier string

// The two tiers.
const (
	TierFree Tier = "free"
	TierPaid Tier = "paid"
)

// Tier is paid when either price is above zero.
func (p Plan) Tier() Tier {
	if p.Prices.Monthly > 0 || p.Prices.Yearly > 0 {
		return TierPaid
	}
	return TierFree
}

// Catalogue holds the plans of one installation. It never changes once made and is safe for concurrent use.
type Catalogue struct {
	guest Plan
	plans []Plan
}

// New makes a catalogue of the guest plan and the others in the order they are to be shown. It refuses a guest
// plan that is not called so, a code that comes twice, and a list without the free plan.
func New(guest Plan, plans ...Plan) (Catalogue, error) {
	if guest.Code != GuestCode {
		return Catalogue{}, fmt.Errorf("the guest plan has the code %q", guest.Code)
	}
	seen := map[string]bool{"": true, GuestCode: true}
	for _, p := range plans {
		if seen[p.Code] {
			return Catalogue{}, fmt.Errorf("the plan code %q is empty or comes twice", p.Code)
		}
		seen[p.Code] = true
	}
	if !seen[FreeCode] {
		return Catalogue{}, errors.New("the catalogue has no free plan")
	}
	return Catalogue{guest: guest, plans: slices.Clone(plans)}, nil
}

// Plan finds a plan an account can have. The guest plan is none.
func (c Catalogue) Plan(code string) (Plan, bool) {
	i := slices.IndexFunc(c.plans, func(p Plan) bool { return p.Code == code })
	if i < 0 {
		return Plan{}, false
	}
	return c.plans[i], true
}

// Guest is the plan of callers without an account; it is not for sale and All leaves it out.
func (c Catalogue) Guest() Plan { return c.guest }

// Free is the plan of accounts without a subscription.
func (c Catalogue) Free() Plan {
	p, _ := c.Plan(FreeCode)
	return p
}

// All lists the plans an account can have, in the catalogue's order.
func (c Catalogue) All() []Plan { return slices.Clone(c.plans) }

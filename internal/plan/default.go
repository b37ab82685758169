package plan

import (
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

const day = 24 * time.Hour

// Default returns the default catalogue, whose values the configuration can change one by one.
func Default() Catalogue {
	return Catalogue{guest: guest(), plans: []Plan{free(), plus(), pro()}}
}

// guest has rates for keys only because every plan has every value: without an account there are no keys.
func guest() Plan {
	return Plan{Code: GuestCode, Name: "Guest", Entitlements: Entitlements{
		TTLDefault:        time.Hour,
		TTLMax:            24 * time.Hour,
		LifetimeMax:       7 * day,
		MailboxesMax:      50,
		DailyMailMax:      200,
		RawRetention:      15 * time.Minute,
		KeysMailboxCreate: perMinute(60),
		KeysCalls:         perMinute(120),
	}}
}

// free is the plan of accounts that have bought nothing.
func free() Plan {
	return Plan{Code: FreeCode, Name: "Free", Entitlements: Entitlements{
		TTLDefault:        day,
		TTLMax:            7 * day,
		LifetimeMax:       30 * day,
		MailboxesMax:      20,
		DailyMailMax:      1_000,
		RawRetention:      15 * time.Minute,
		DomainsMax:        1,
		ProjectsMax:       1,
		FiltersMax:        5,
		WebhooksMax:       1,
		KeysMax:           1,
		KeysMailboxCreate: perMinute(60),
		KeysCalls:         perMinute(120),
	}}
}

// plus is the smaller of the paid plans.
func plus() Plan {
	return Plan{Code: "plus", Name: "Plus", Prices: Prices{Monthly: 50, Yearly: 500}, Entitlements: Entitlements{
		TTLDefault:        7 * day,
		TTLMax:            90 * day,
		LifetimeMax:       365 * day,
		MailboxesMax:      500,
		DailyMailMax:      20_000,
		RawRetention:      time.Hour,
		DomainsMax:        5,
		ProjectsMax:       10,
		FiltersMax:        50,
		WebhooksMax:       10,
		KeysMax:           10,
		KeysMailboxCreate: perMinute(600),
		KeysCalls:         perMinute(1_200),
	}}
}

// pro is the larger of the paid plans. Its LifetimeMax is zero: a mailbox can be extended without end.
func pro() Plan {
	return Plan{Code: "pro", Name: "Pro", Prices: Prices{Monthly: 200, Yearly: 2_000}, Entitlements: Entitlements{
		TTLDefault:        30 * day,
		TTLMax:            365 * day,
		MailboxesMax:      20_000,
		DailyMailMax:      1_000_000,
		RawRetention:      time.Hour,
		DomainsMax:        50,
		ProjectsMax:       50,
		FiltersMax:        500,
		WebhooksMax:       100,
		KeysMax:           100,
		KeysMailboxCreate: perMinute(6_000),
		KeysCalls:         perMinute(12_000),
	}}
}

// perMinute returns a limit of one window, in which n calls may also come at once.
func perMinute(n int) ratelimit.Limit {
	return ratelimit.Limit{{Count: n, Per: time.Minute}}
}

package app

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/subscription"
)

// entitlements tells the domains what their owners may have: what the plan in effect gives. It is read each time, so that what
// staff or the owner change holds at once and a paid period ends at its end.
type entitlements struct {
	catalogue     plan.Catalogue
	subscriptions *subscription.Service
}

// plan is the plan of an account, or of guests.
func (e entitlements) plan(ctx context.Context, account id.Account) (p plan.Plan, disabled bool, err error) {
	if account == "" {
		return e.catalogue.Guest(), false, nil
	}
	return e.subscriptions.Plan(ctx, account)
}

// MailboxLimits are what an owner of mailboxes may have.
func (e entitlements) MailboxLimits(ctx context.Context, account id.Account) (mailbox.Limits, error) {
	p, _, err := e.plan(ctx, account)
	return mailboxLimits(p), err
}

// MailboxLimitsOf tells what each of several accounts may have. One that there is not is an error.
func (e entitlements) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	plans, err := e.subscriptions.Plans(ctx, accounts)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		p, known := plans[account]
		if !known {
			return fmt.Errorf("read the plan of %s: there is no such account", account)
		}
		found(account, mailboxLimits(p))
	}
	return nil
}

func mailboxLimits(p plan.Plan) mailbox.Limits {
	may := p.Entitlements
	return mailbox.Limits{
		TTLDefault: may.TTLDefault, TTLMax: may.TTLMax, LifetimeMax: may.LifetimeMax, LiveMax: may.MailboxesMax,
		DailyMail: may.DailyMailMax, RawFor: may.RawRetention, Paid: p.Tier() == plan.TierPaid,
	}
}

// KeyLimits are what an account may have of keys. The keys of a disabled one are good for nothing.
func (e entitlements) KeyLimits(ctx context.Context, account id.Account) (apikey.Limits, error) {
	p, disabled, err := e.plan(ctx, account)
	if err == nil && disabled {
		err = problem.New(problem.AuthInvalidToken)
	}
	may := p.Entitlements
	return apikey.Limits{Max: may.KeysMax, Calls: may.KeysCalls, MailboxCreate: may.KeysMailboxCreate, Tier: p.Code}, err
}

// DomainsMax is how many private domains an account may have.
func (e entitlements) DomainsMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.DomainsMax, err
}

// FilterMax is how many filters an account may have.
func (e entitlements) FilterMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.FiltersMax, err
}

// WebhookMax is how many webhook endpoints an account may have.
func (e entitlements) WebhookMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.WebhooksMax, err
}

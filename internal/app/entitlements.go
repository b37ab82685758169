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

// entitlements gives the domains the quotas of the plan in effect. It implements mailbox.Plans, apikey.Plans and
// others. It reads the plan on every call, so that a change by staff or by the owner, and the end of a paid period,
// apply at once.
type entitlements struct {
	catalogue     plan.Catalogue
	subscriptions *subscription.Service
}

// plan returns the plan in effect of an account; for the empty identifier, that of guests.
func (e entitlements) plan(ctx context.Context, account id.Account) (p plan.Plan, disabled bool, err error) {
	if account == "" {
		return e.catalogue.Guest(), false, nil
	}
	return e.subscriptions.Plan(ctx, account)
}

// MailboxLimits returns the quotas of an owner of mailboxes; account is empty for a guest.
func (e entitlements) MailboxLimits(ctx context.Context, account id.Account) (mailbox.Limits, error) {
	p, disabled, err := e.plan(ctx, account)
	return mailboxLimits(p, disabled), err
}

// MailboxLimitsOf calls found with the quotas of each account, which one statement reads. An account that does not
// exist is an error.
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
		found(account, mailboxLimits(p.Plan, p.Disabled))
	}
	return nil
}

// mailboxLimits converts the entitlements of a plan for package mailbox.
func mailboxLimits(p plan.Plan, disabled bool) mailbox.Limits {
	may := p.Entitlements
	return mailbox.Limits{
		TTLDefault: may.TTLDefault, TTLMax: may.TTLMax, LifetimeMax: may.LifetimeMax, LiveMax: may.MailboxesMax,
		DailyMail: may.DailyMailMax, RawFor: may.RawRetention, Paid: p.Tier() == plan.TierPaid, Disabled: disabled,
	}
}

// KeyLimits returns the quotas of an account's developer keys. It fails with auth.invalid_token for a disabled
// account, whose keys are invalid.
func (e entitlements) KeyLimits(ctx context.Context, account id.Account) (apikey.Limits, error) {
	p, disabled, err := e.plan(ctx, account)
	if err == nil && disabled {
		err = problem.New(problem.AuthInvalidToken)
	}
	may := p.Entitlements
	return apikey.Limits{Max: may.KeysMax, Calls: may.KeysCalls, MailboxCreate: may.KeysMailboxCreate, Tier: p.Code}, err
}

// DomainsMax returns how many private domains an account may have.
func (e entitlements) DomainsMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.DomainsMax, err
}

// ProjectsMax returns how many projects an account may have.
func (e entitlements) ProjectsMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.ProjectsMax, err
}

// FilterMax returns how many filters an account may have.
func (e entitlements) FilterMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.FiltersMax, err
}

// WebhookMax returns how many webhook endpoints an account may have.
func (e entitlements) WebhookMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.WebhooksMax, err
}

package mailbox_test

import (
	"context"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// plan gives every account and every guest the same limits.
type plan struct{ limits mailbox.Limits }

func (p *plan) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return p.limits, nil
}

func (p *plan) MailboxLimitsOf(_ context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, account := range accounts {
		found(account, p.limits)
	}
	return nil
}

// noDomain has no domain, so that creating a mailbox fails with errNoDomain.
type noDomain struct{}

var errNoDomain = errors.New("no domain")

func (noDomain) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "", "", errNoDomain
}

func (noDomain) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}

// publicDomain has one domain, a public one.
type publicDomain struct{ noDomain }

func (publicDomain) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "example.org", "", nil
}

// newWithoutDomain returns a service without a database, in which creating a mailbox fails with errNoDomain at the latest.
func newWithoutDomain(reserved string) *mailbox.Service {
	limits := mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour}
	return mailbox.New(mailbox.Parts{Plans: &plan{limits}, Domains: noDomain{}, Policy: mailbox.Policy{Reserved: []string{reserved}}})
}

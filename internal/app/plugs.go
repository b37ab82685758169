package app

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/original"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
)

// entitlements tells the domains what their owners may have. Accounts are read each time, so that what staff change
// holds at once.
type entitlements struct {
	catalogue plan.Catalogue
	accounts  *account.Registry
}

// plan is the plan of an account, or of guests. One that the catalogue has lost is the free plan.
func (e entitlements) plan(ctx context.Context, account id.Account) (p plan.Plan, disabled bool, err error) {
	if account == "" {
		return e.catalogue.Guest(), false, nil
	}
	a, err := e.accounts.Find(ctx, string(account))
	if err != nil {
		return plan.Plan{}, false, fmt.Errorf("read the plan: %w", err)
	}
	p, known := e.catalogue.Plan(a.Plan)
	if !known {
		p = e.catalogue.Free()
	}
	return p, a.Disabled, nil
}

// MailboxLimits are what an owner of mailboxes may have.
func (e entitlements) MailboxLimits(ctx context.Context, account id.Account) (mailbox.Limits, error) {
	p, _, err := e.plan(ctx, account)
	return mailboxLimits(p), err
}

// DomainsMax is how many private domains an account may have.
func (e entitlements) DomainsMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.DomainsMax, err
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

// FilterMax is how many filters an account may have.
func (e entitlements) FilterMax(ctx context.Context, account id.Account) (int, error) {
	p, _, err := e.plan(ctx, account)
	return p.Entitlements.FiltersMax, err
}

func mailboxLimits(p plan.Plan) mailbox.Limits {
	e := p.Entitlements
	return mailbox.Limits{
		TTLDefault: e.TTLDefault, TTLMax: e.TTLMax, LifetimeMax: e.LifetimeMax, LiveMax: e.MailboxesMax,
		DailyMail: e.DailyMailMax, RawFor: e.RawRetention, Paid: p.Tier() == plan.TierPaid,
	}
}

// newAccounts assembles accounts; each of their secrets is derived from the master secret for its purpose alone.
func newAccounts(d *db.DB, c clock.Clock, cfg AccountConfig, master []byte) (*account.Service, error) {
	seal, err := token.Derive(master, "two-factor seal")
	if err != nil {
		return nil, err
	}
	recovery, err := token.Derive(master, "recovery code")
	if err != nil {
		return nil, err
	}
	return account.New(d, c, account.Policy{
		TokenTTL: cfg.TokenTTL, TOTPPending: cfg.TOTPPending, RecoveryCodes: cfg.RecoveryCodes, Password: cfg.Password.cost(),
	}, account.Secrets{Seal: seal, Recovery: recovery})
}

// cost is what one password hash costs.
func (p PasswordConfig) cost() account.Cost {
	const kib = 1 << 10
	return account.Cost{
		Memory: uint32(min(int64(p.Memory)/kib, math.MaxUint32)), Passes: uint32(p.Passes), Threads: uint8(p.Threads),
	}
}

// originals lets mail go into segment files.
type originals struct{ *original.Segments }

// Append begins to write records.
func (o originals) Append(at time.Time, records []original.Record) ([]original.Ref, inbound.Synced, error) {
	refs, synced, err := o.Segments.Append(at, records)
	return refs, synced, err
}

// allowMessage holds the messages of a sender's address against the limit (decisions §5).
func allowMessage(l *ratelimit.Limiter, limit ratelimit.Limit) func(netip.Addr) (time.Duration, bool) {
	return func(addr netip.Addr) (time.Duration, bool) {
		d := l.Take(ratelimit.SMTPMessages, ratelimit.AddrIdentity(addr), limit, 1)
		return d.RetryAfter, d.OK
	}
}

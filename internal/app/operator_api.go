package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/datakey"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/process"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// OperatorAPI is the API in this process, without a listener and without rate limits, for commands that do what owners
// of accounts do: input is checked as if the owner had sent it. Only the groups domains, filters and webhooks may be
// called: the services of the others are nil.
type OperatorAPI struct {
	http.Handler

	accounts *account.Service
}

// publicResolver resolves every name to a public address, so that a command can store a webhook whose name is not in the
// DNS yet. The service resolves the name again for each delivery, and refuses forbidden addresses then.
type publicResolver struct{}

// LookupNetIP returns an address that the rules for webhooks allow.
func (publicResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{1, 1, 1, 1})}, nil
}

// API returns the API on the operator's database. It needs the master secret of the service, since webhook secrets are
// encrypted, and fails if cfg has another one.
func (o *Operator) API(ctx context.Context, cfg *config.Config) (*OperatorAPI, error) {
	masters, err := loadMasters(cfg)
	if err != nil {
		return nil, err
	}
	dataKey, err := datakey.Open(ctx, o.db, masters)
	if err != nil {
		return nil, err
	}
	a := &App{
		cfg: cfg, clock: o.Clock, log: slog.New(slog.DiscardHandler), db: o.db, wake: wake.New(), metrics: newMetrics(process.NewTraffic(o.Clock)),
		memory: budget.New(memoryBudget(cfg)), domains: o.Domains, baseURL: cfg.BaseURL,
	}
	a.limiter = ratelimit.New(o.Clock)
	a.cluster.gauge = ratelimit.NewGauge()
	if a.webhooks, err = a.newWebhooks(dataKey, o.entitled, publicResolver{}); err != nil {
		return nil, err
	}
	if a.accounts, err = newAccounts(o.db, o.Clock, a.limiter, cfg, dataKey); err != nil {
		return nil, err
	}
	kit := a.kitConfig()
	kit.Limits = map[ratelimit.Name]ratelimit.Limit{}
	handler := httpapi.New(httpapi.Parts{
		HTTP: kit, Domains: o.Domains, Accounts: a.accounts, Keys: o.Keys,
		Filters: filter.New(o.db, o.Clock, o.entitled, o.Domains), Webhooks: a.webhooks.Service, Plans: o.Plans,
	})
	return &OperatorAPI{handler, a.accounts}, nil
}

// As calls fn with a user token of an account, which is deleted when fn returns.
func (p *OperatorAPI) As(ctx context.Context, owner *account.Account, fn func(token string) error) error {
	credential, session, err := p.accounts.OpenSession(ctx, owner)
	if err != nil {
		return err
	}
	defer func() { _ = p.accounts.End(context.WithoutCancel(ctx), session) }() // the sweep of expired tokens removes it otherwise
	return fn(credential)
}

// EndMailbox ends the mailbox of an address. Errors: those of mailbox.Service.EndAt.
func (o *Operator) EndMailbox(ctx context.Context, cfg *config.Config, address string) error {
	boxes, err := o.Mailboxes(ctx, cfg)
	if err != nil {
		return err
	}
	o.voided.Store(true)
	return boxes.EndAt(ctx, address)
}

// derive derives a key from the data key of the service. It needs the master secret.
func (o *Operator) derive(ctx context.Context, cfg *config.Config, purpose string) (key [32]byte, err error) {
	masters, err := loadMasters(cfg)
	if err != nil {
		return key, err
	}
	dataKey, err := datakey.Open(ctx, o.db, masters)
	if err != nil {
		return key, err
	}
	return token.Derive(dataKey, purpose)
}

// DeliveryEntry is an entry of the delivery log.
type DeliveryEntry = deliverylog.Entry

// Deliveries returns what became of the mail for an address in the last 24 hours, newest first. It needs the master secret of the
// service: addresses are stored as keyed hashes.
func (o *Operator) Deliveries(ctx context.Context, cfg *config.Config, address string) ([]DeliveryEntry, error) {
	key, err := o.derive(ctx, cfg, deliveryLogKey)
	if err != nil {
		return nil, err
	}
	log := deliverylog.New(deliverylog.Parts{DB: o.db, Clock: o.Clock, Logger: slog.New(slog.DiscardHandler), Secret: key[:]})
	return log.List(ctx, strings.ToLower(address), time.Time{})
}

// Mailboxes returns a service to find mailboxes with. It needs the master secret of the service, from which
// the cool-down of an address is stored. It has no keys to sign tokens with, so it must not create mailboxes.
func (o *Operator) Mailboxes(ctx context.Context, cfg *config.Config) (*mailbox.Service, error) {
	hold, err := o.derive(ctx, cfg, addressHoldKey)
	if err != nil {
		return nil, err
	}
	return mailbox.New(mailbox.Parts{
		DB: o.db, Clock: o.Clock, Wake: wake.New(), Plans: o.entitled, Domains: o.Domains, HoldSecret: hold[:],
		Policy: mailbox.Policy{Cooldown: cfg.Mailbox.AddressCooldown},
	}), nil
}

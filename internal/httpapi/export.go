package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/webhook"
)

// exports registers the operation that returns what is stored about an account (docs/spec/accounts.md#taking-data-along).
func (a *API) exports(group string) {
	register(a, group, httpkit.Operation{
		ID: "export-account", Method: http.MethodGet, Path: "/me/export", Summary: "Export what is stored about the account", Status: 200,
		Text: "Everything but messages, which are downloaded one by one, and secrets: passwords, tokens, keys and signing secrets. Each list is complete, newest first.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.exportAccount)
}

// AccountExport is what is stored about an account.
type AccountExport struct {
	Account   ExportedAccount          `json:"account" doc:"The account."`
	Mailboxes []resource.Mailbox       `json:"mailboxes" nullable:"false" doc:"Its live mailboxes, without tokens."`
	Domains   []resource.PrivateDomain `json:"domains" nullable:"false" doc:"Its private domains."`
	Filters   []Filter                 `json:"filters" nullable:"false" doc:"Its extraction filters."`
	Webhooks  []resource.Webhook       `json:"webhooks" nullable:"false" doc:"Its webhook endpoints, without secrets."`
	Keys      []Key                    `json:"keys" nullable:"false" doc:"Its developer keys, without the secret keys."`
	Ledger    []LedgerEntry            `json:"ledger" nullable:"false" doc:"Its ledger."`
	Orders    []Topup                  `json:"orders" nullable:"false" doc:"Its top-up orders."`
}

// ExportedAccount is an account as its export shows it.
type ExportedAccount struct {
	Account
	Links []IssuerLink `json:"links" nullable:"false" doc:"The users of an issuer who sign in to it."`
}

// IssuerLink is a user of an issuer who signs in to an account.
type IssuerLink struct {
	Issuer    string      `json:"issuer" doc:"The URL of the issuer." example:"https://login.example.org"`
	Subject   string      `json:"subject" doc:"The issuer's name for the user." example:"248289761001"`
	CreatedAt clock.Stamp `json:"createdAt" doc:"When the account was linked."`
}

func (a *API) exportAccount(ctx context.Context, _ *struct{}) (*httpkit.One[AccountExport], error) {
	acc := from(ctx).account
	var x AccountExport
	var err error
	if x.Account.Account, err = a.shownAccount(ctx, acc); err != nil {
		return nil, err
	}
	links, err := a.Accounts.Links(ctx, acc.ID)
	if err != nil {
		return nil, err
	}
	x.Account.Links = make([]IssuerLink, len(links))
	for i, l := range links {
		x.Account.Links[i] = IssuerLink{l.Issuer, l.Subject, clock.Stamp{Time: l.CreatedAt}}
	}
	for _, add := range []func(context.Context, id.Account, *AccountExport) error{a.exportMail, a.exportIntegrations, a.exportMoney} {
		if err := add(ctx, acc.ID, &x); err != nil {
			return nil, err
		}
	}
	return httpkit.Single(x), nil
}

// exportMail adds mailboxes, domains and filters.
func (a *API) exportMail(ctx context.Context, account id.Account, x *AccountExport) error {
	paid, err := a.Mailboxes.Paid(ctx, account)
	if err != nil {
		return err
	}
	x.Mailboxes, err = exported(ctx, a, func(last *mailbox.Mailbox, max int) ([]*mailbox.Mailbox, error) {
		var before id.Mailbox
		if last != nil {
			before = last.ID
		}
		return a.Mailboxes.OfAccount(ctx, account, before, max)
	}, func(m *mailbox.Mailbox) resource.Mailbox { return a.mailboxOf(m, "", paid) })
	if err != nil {
		return err
	}
	x.Domains, err = exported(ctx, a, func(last *domain.Private, max int) ([]*domain.Private, error) {
		var before id.Domain
		if last != nil {
			before = last.ID
		}
		return a.Domains.List(ctx, account, before, max)
	}, a.Domains.Resource)
	if err != nil {
		return err
	}
	x.Filters, err = exported(ctx, a, func(last *filter.Filter, max int) ([]*filter.Filter, error) {
		var before id.Filter
		if last != nil {
			before = last.ID
		}
		return a.Filters.List(ctx, account, before, max)
	}, shownFilter)
	return err
}

// exportIntegrations adds webhooks and keys.
func (a *API) exportIntegrations(ctx context.Context, account id.Account, x *AccountExport) (err error) {
	x.Webhooks, err = exported(ctx, a, func(last *webhook.Endpoint, max int) ([]*webhook.Endpoint, error) {
		var before id.Webhook
		if last != nil {
			before = last.ID
		}
		return a.Webhooks.List(ctx, account, before, max)
	}, func(e *webhook.Endpoint) resource.Webhook { return shownWebhook(e, "") })
	if err != nil {
		return err
	}
	x.Keys, err = exported(ctx, a, func(last *apikey.Key, max int) ([]*apikey.Key, error) {
		var before apikey.Mark
		if last != nil {
			before = apikey.Mark{CreatedAt: last.CreatedAt, Prefix: last.Prefix}
		}
		return a.Keys.List(ctx, account, before, max)
	}, func(k *apikey.Key) Key { return shownKey(k, "") })
	return err
}

// exportMoney adds the ledger and the orders.
func (a *API) exportMoney(ctx context.Context, account id.Account, x *AccountExport) (err error) {
	x.Ledger, err = exported(ctx, a, func(last *wallet.Entry, max int) ([]*wallet.Entry, error) {
		var before int64
		if last != nil {
			before = last.Sequence
		}
		return a.Wallet.Entries(ctx, account, before, max)
	}, shownEntry)
	if err != nil {
		return err
	}
	now := a.kit.Clock.Now()
	x.Orders, err = exported(ctx, a, func(last *wallet.Order, max int) ([]*wallet.Order, error) {
		var before id.Order
		if last != nil {
			before = last.ID
		}
		return a.Wallet.Orders(ctx, account, before, max)
	}, func(o *wallet.Order) Topup { return shownTopup(o, now) })
	return err
}

const (
	exportPage = 500     // rows that one statement reads
	exportCost = 3 << 10 // octets of memory for a row, with its JSON
)

// exported returns all rows of a list as they are shown. It reserves the memory for each page. next returns the rows after one, which
// is nil at first.
func exported[T any, S any](ctx context.Context, a *API, next func(last *T, max int) ([]*T, error), show func(*T) S) ([]S, error) {
	all := []S{}
	var last *T
	for {
		page, err := next(last, exportPage)
		if err != nil || len(page) == 0 {
			return all, err
		}
		if err := a.kit.Reserve(ctx, budget.Response, int64(len(page))*exportCost); err != nil {
			return nil, err
		}
		for _, row := range page {
			all = append(all, show(row))
		}
		if last = page[len(page)-1]; len(page) < exportPage {
			return all, nil
		}
	}
}

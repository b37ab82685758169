package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/wallet"
)

const billingGroup = "billing"

// wallet registers the operations on points and payments of the group billing (docs/spec/billing.md#wallet).
func (a *API) wallet() {
	register(a, billingGroup, httpkit.Operation{
		ID: "list-payment-providers", Method: http.MethodGet, Path: "/payment-providers", Summary: "List the payment providers", Status: 200,
		Text: "Providers that are not `active` are listed too, so that clients can show a disabled button.", Limit: ratelimit.Other,
	}, a.listProviders)
	register(a, billingGroup, httpkit.Operation{
		ID: "get-wallet", Method: http.MethodGet, Path: "/me/wallet", Summary: "Show the points", Status: 200,
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.showWallet)
	register(a, billingGroup, httpkit.Operation{
		ID: "list-wallet-transactions", Method: http.MethodGet, Path: "/me/wallet/transactions", Summary: "List the ledger of points", Status: 200,
		Text: "Newest first. Entries never change.", Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.listLedger)
	a.topups()
}

// Provider is a payment provider.
type Provider struct {
	Code       string   `json:"code" enum:"bankpay,bnb" doc:"The code of the provider."`
	Name       string   `json:"name" doc:"The name of the provider." example:"Bank transfer"`
	Status     string   `json:"status" enum:"active,coming_soon,disabled" doc:"Only active providers take orders."`
	Currencies []string `json:"currencies" nullable:"false" doc:"The currencies in which the provider takes payments." example:"VND"`
	MinAmount  int64    `json:"minAmount" doc:"Of one top-up, in VND."`
	MaxAmount  int64    `json:"maxAmount" doc:"Of one top-up, in VND."`
	PointPrice int64    `json:"pointPrice" doc:"The price of a point, in VND." example:"1000"`
}

func (a *API) listProviders(context.Context, *struct{}) (*httpkit.Many[Provider], error) {
	var shown []Provider
	for _, p := range a.Wallet.Providers() {
		shown = append(shown, Provider{
			Code: p.Code, Name: p.Name, Status: string(p.Status), Currencies: p.Currencies, MinAmount: p.MinAmount, MaxAmount: p.MaxAmount, PointPrice: p.PointPrice,
		})
	}
	return httpkit.Page(shown, ""), nil
}

// Wallet is the balance of an account.
type Wallet struct {
	Balance       int64  `json:"balance" doc:"Points: the sum of all ledger entries."`
	Currency      string `json:"currency" enum:"POINT" doc:"The unit of the balance."`
	PendingTopups int    `json:"pendingTopups" doc:"Top-up orders that are neither paid nor expired."`
}

func (a *API) showWallet(ctx context.Context, _ *struct{}) (*httpkit.One[Wallet], error) {
	w, err := a.Wallet.Of(ctx, from(ctx).account.ID)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(Wallet{Balance: w.Balance, Currency: "POINT", PendingTopups: w.Pending}), nil
}

// LedgerEntry is a line of the ledger.
type LedgerEntry struct {
	ID           id.Transaction `json:"id" doc:"The identifier of the entry." example:"txn_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Kind         string         `json:"kind" enum:"topup,subscription,adjustment" doc:"What caused the entry."`
	Amount       int64          `json:"amount" doc:"Points; negative if they were debited."`
	BalanceAfter int64          `json:"balanceAfter" doc:"The balance after this entry, in points." example:"120"`
	Reference    *string        `json:"reference" nullable:"true" doc:"The order, bank transaction or subscription that it is for." example:"ord_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Note         *string        `json:"note" nullable:"true" doc:"What staff noted, or in English what plan, interval and transfer say; null if there is nothing to say." example:"Refund for a payment made twice"`
	Plan         *string        `json:"plan" nullable:"true" doc:"The code of the plan that was bought or renewed; null for other entries." example:"plus"`
	Interval     *string        `json:"interval" nullable:"true" enum:"monthly,yearly" doc:"For how long; null for other entries."`
	Transfer     *string        `json:"transfer" nullable:"true" doc:"The bank's identifier of the transfer that was credited; null for other entries." example:"7021"`
	CreatedAt    clock.Stamp    `json:"createdAt" doc:"When the entry was made."`
}

func (a *API) listLedger(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[LedgerEntry], error) {
	last, err := sequence(*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Wallet.Entries(ctx, from(ctx).account.ID, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(e *wallet.Entry) string { return strconv.FormatInt(e.Sequence, 10) })
	shown := make([]LedgerEntry, len(all))
	for i, e := range all {
		shown[i] = shownEntry(e)
	}
	return httpkit.Page(shown, next), nil
}

func shownEntry(e *wallet.Entry) LedgerEntry {
	return LedgerEntry{
		ID: e.ID, Kind: string(e.Kind), Amount: e.Amount, BalanceAfter: e.BalanceAfter, Reference: textOrNull(e.Reference),
		Note: textOrNull(e.Note), Plan: textOrNull(e.Plan), Interval: textOrNull(e.Interval), Transfer: textOrNull(e.Transfer), CreatedAt: clock.Stamp{Time: e.CreatedAt},
	}
}

// sequence returns the number of the last entry of the previous page, 0 for the first page. Error: request.invalid.
func sequence(p httpkit.Paging) (int64, error) {
	position, err := p.Position()
	if err != nil || position == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(position, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != position {
		return 0, httpkit.InvalidCursor()
	}
	return n, nil
}

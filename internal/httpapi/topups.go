package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// topups registers the operations on top-up orders of the group billing (docs/spec/billing.md#top-up-orders).
func (a *API) topups() {
	register(a, billingGroup, httpkit.Operation{
		ID: "create-topup", Method: http.MethodPost, Path: "/me/wallet/topups", Summary: "Order a top-up", Status: 201,
		Text: "The answer has the account to pay to and the memo; `qr` is the text of a VietQR code. The points are credited when the bank reports the payment, usually within seconds.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		Codes: []problem.Code{problem.TopupAmountInvalid, problem.TopupLimitReached, problem.PaymentProviderUnavailable, problem.IdempotencyKeyReused},
	}, a.createTopup)
	register(a, billingGroup, httpkit.Operation{
		ID: "list-topups", Method: http.MethodGet, Path: "/me/wallet/topups", Summary: "List the top-up orders", Status: 200,
		Text: "Newest first, each with its `status`. An order that was never paid is erased after a while (`billing.order_keep`).",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.listTopups)
	register(a, billingGroup, httpkit.Operation{
		ID: "get-topup", Method: http.MethodGet, Path: "/me/wallet/topups/{orderId}", Summary: "Show a top-up order", Status: 200,
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, Codes: []problem.Code{problem.OrderNotFound},
	}, a.showTopup)
}

// topupCreation is the body that orders a top-up.
type topupCreation struct {
	_        struct{} `additionalProperties:"false"`
	Provider string   `json:"provider" enum:"bankpay,bnb" doc:"How the order is paid."`
	Amount   int64    `json:"amount" minimum:"1" doc:"In the currency, within the bounds in the list of providers. Only amounts of whole points." example:"50000"`
	Currency string   `json:"currency" enum:"VND" doc:"The currency of the amount."`
}

// Topup is a top-up order.
type Topup struct {
	ID        id.Order     `json:"id" doc:"The identifier of the order." example:"ord_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Provider  string       `json:"provider" enum:"bankpay,bnb" doc:"How the order is paid."`
	Amount    int64        `json:"amount" doc:"The amount to pay." example:"50000"`
	Currency  string       `json:"currency" enum:"VND" doc:"The currency of the amount."`
	Points    int64        `json:"points" doc:"The points that are credited when it is paid."`
	Status    string       `json:"status" enum:"pending,paid,expired" doc:"An expired order is still credited if it is paid within 30 days."`
	Memo      string       `json:"memo" doc:"What the text of the transfer must contain." example:"GBK7TR9X3W"`
	Bank      BankAccount  `json:"bank" doc:"The account to transfer the amount to."`
	QR        string       `json:"qr" doc:"The text of a VietQR (EMVCo) code with account, amount and memo." example:"00020101021238570010A000000727"`
	CreatedAt clock.Stamp  `json:"createdAt" doc:"When the order was made."`
	ExpiresAt clock.Stamp  `json:"expiresAt" doc:"When the order expires; a later payment is credited for 30 days all the same."`
	PaidAt    *clock.Stamp `json:"paidAt" nullable:"true" doc:"When the payment was credited; null until then."`
}

// BankAccount is an account to pay to.
type BankAccount struct {
	BIN           string `json:"bin" doc:"The bank's number in VietQR." example:"970436"`
	Name          string `json:"name" doc:"The name of the bank." example:"Vietcombank"`
	AccountNumber string `json:"accountNumber" doc:"The number of the account." example:"0011001932418"`
	AccountName   string `json:"accountName" doc:"The holder of the account." example:"CONG TY GONEBOX"`
}

// shownTopup returns an order with its status at a time.
func shownTopup(o *wallet.Order, at time.Time) Topup {
	return Topup{
		ID: o.ID, Provider: o.Provider, Amount: o.Amount, Currency: o.Currency, Points: o.Points, Status: string(o.Status(at)), Memo: o.Memo,
		Bank:      BankAccount{BIN: o.Bank.BIN, Name: o.Bank.Name, AccountNumber: o.Bank.AccountNumber, AccountName: o.Bank.AccountName},
		QR:        bankpay.QR(o.Bank, o.Amount, o.Memo),
		CreatedAt: clock.Stamp{Time: o.CreatedAt}, ExpiresAt: clock.Stamp{Time: o.ExpiresAt}, PaidAt: clock.Optional(o.PaidAt),
	}
}

func (a *API) createTopup(ctx context.Context, in *struct {
	httpkit.IdempotencyKey
	Body topupCreation
},
) (*httpkit.One[Topup], error) {
	key, err := in.Parse()
	if err != nil {
		return nil, err
	}
	params := wallet.OrderParams{Provider: in.Body.Provider, Amount: in.Body.Amount, Currency: in.Body.Currency}
	o, err := a.Wallet.Order(ctx, from(ctx).account.ID, params, key)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownTopup(o, o.CreatedAt)), nil // with the status at creation, so that a repeated response is the same
}

func (a *API) listTopups(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[Topup], error) {
	last, err := httpkit.Before[id.Order](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Wallet.Orders(ctx, from(ctx).account.ID, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(o *wallet.Order) string { return string(o.ID) })
	shown, now := make([]Topup, len(all)), a.kit.Clock.Now()
	for i, o := range all {
		shown[i] = shownTopup(o, now)
	}
	return httpkit.Page(shown, next), nil
}

func (a *API) showTopup(ctx context.Context, in *struct {
	OrderID string `path:"orderId" doc:"The order's id."`
},
) (*httpkit.One[Topup], error) {
	known, err := id.Parse[id.Order](in.OrderID)
	if err != nil {
		return nil, problem.New(problem.OrderNotFound)
	}
	o, err := a.Wallet.FindOrder(ctx, from(ctx).account.ID, known)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownTopup(o, a.kit.Clock.Now())), nil
}

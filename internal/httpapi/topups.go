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
		ID: "get-topup", Method: http.MethodGet, Path: "/me/wallet/topups/{orderId}", Summary: "Show a top-up order", Status: 200,
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, Codes: []problem.Code{problem.OrderNotFound},
	}, a.showTopup)
}

// topupCreation is the body that orders a top-up.
type topupCreation struct {
	_        struct{} `additionalProperties:"false"`
	Provider string   `json:"provider" enum:"bankpay,bnb"`
	Amount   int64    `json:"amount" minimum:"1" doc:"In the currency, within the bounds in the list of providers. Only amounts of whole points."`
	Currency string   `json:"currency" enum:"VND"`
}

// Topup is a top-up order.
type Topup struct {
	ID        id.Order     `json:"id"`
	Provider  string       `json:"provider" enum:"bankpay,bnb"`
	Amount    int64        `json:"amount"`
	Currency  string       `json:"currency" enum:"VND"`
	Points    int64        `json:"points" doc:"The points that are credited when it is paid."`
	Status    string       `json:"status" enum:"pending,paid,expired" doc:"An expired order is still credited if it is paid within 30 days."`
	Memo      string       `json:"memo" doc:"What the text of the transfer must contain."`
	Bank      BankAccount  `json:"bank"`
	QR        string       `json:"qr" doc:"The text of a VietQR (EMVCo) code with account, amount and memo."`
	CreatedAt clock.Stamp  `json:"createdAt"`
	ExpiresAt clock.Stamp  `json:"expiresAt"`
	PaidAt    *clock.Stamp `json:"paidAt" nullable:"true"`
}

// BankAccount is an account to pay to.
type BankAccount struct {
	BIN           string `json:"bin" doc:"The bank's number in VietQR."`
	Name          string `json:"name"`
	AccountNumber string `json:"accountNumber"`
	AccountName   string `json:"accountName"`
}

// shownTopup returns an order with its status at a time.
func shownTopup(o *wallet.Order, at time.Time) Topup {
	shown := Topup{
		ID: o.ID, Provider: o.Provider, Amount: o.Amount, Currency: o.Currency, Points: o.Points, Status: string(o.Status(at)), Memo: o.Memo,
		Bank:      BankAccount{BIN: o.Bank.BIN, Name: o.Bank.Name, AccountNumber: o.Bank.AccountNumber, AccountName: o.Bank.AccountName},
		QR:        bankpay.QR(o.Bank, o.Amount, o.Memo),
		CreatedAt: clock.Stamp{Time: o.CreatedAt}, ExpiresAt: clock.Stamp{Time: o.ExpiresAt},
	}
	if !o.PaidAt.IsZero() {
		shown.PaidAt = &clock.Stamp{Time: o.PaidAt}
	}
	return shown
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
	wish := wallet.Wish{Provider: in.Body.Provider, Amount: in.Body.Amount, Currency: in.Body.Currency}
	o, err := a.Wallet.Order(ctx, from(ctx).account.ID, wish, key)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownTopup(o, o.CreatedAt)), nil // with the status at creation, so that a repeated answer is the same
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

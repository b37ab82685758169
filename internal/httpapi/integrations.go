package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// integrations registers the group integrations (docs/spec/billing.md#bank-transfers).
func (a *API) integrations() {
	register(a, "integrations", httpkit.Operation{
		ID: "report-bank-transaction", Method: http.MethodPost, Path: "/integrations/bankpay/webhook", Summary: "Report a bank transaction", Status: 200,
		Text: "Only for the bank's service. The transaction is stored, once per `id`, with unknown fields too, and matched with orders later.",
		Auth: []httpkit.Scheme{bankpayKey}, Limit: ratelimit.Other, LargeBody: true,
	}, a.receiveTransaction)
}

// BankTransaction documents what the bank's service sends. Its fields have no types: package bankpay reads the stored body,
// since a transaction must be stored even if the bank changes its format.
type BankTransaction struct {
	ID              any `json:"id" doc:"The bank's number of the transaction, unique." example:"92704"`
	Gateway         any `json:"gateway,omitempty" doc:"The bank's name." example:"\"Vietcombank\""`
	TransactionDate any `json:"transactionDate,omitempty" example:"\"2026-03-14 19:02:37\"" doc:"When the bank booked the transfer."`
	AccountNumber   any `json:"accountNumber,omitempty" doc:"The account that the money was paid to or from." example:"\"0011001932418\""`
	SubAccount      any `json:"subAccount,omitempty" doc:"A virtual account of it."`
	Code            any `json:"code,omitempty" doc:"The memo as the bank's service recognized it."`
	Content         any `json:"content,omitempty" doc:"The text of the transfer, which holds the memo." example:"\"GBACDEFHJK\""`
	TransferType    any `json:"transferType,omitempty" doc:"in or out." example:"\"in\""`
	TransferAmount  any `json:"transferAmount,omitempty" doc:"In VND." example:"100000"`
	Accumulated     any `json:"accumulated,omitempty" doc:"The account's balance."`
	ReferenceCode   any `json:"referenceCode,omitempty" example:"\"MBVCB.3278907687\"" doc:"The bank's reference of the transfer."`
	Description     any `json:"description,omitempty" doc:"The bank's whole message."`
}

// bankBody is the body as received.
type bankBody struct{ raw []byte }

// UnmarshalJSON keeps a copy of the body, since the decoder reuses the memory of raw.
func (b *bankBody) UnmarshalJSON(raw []byte) error {
	b.raw = bytes.Clone(raw)
	return nil
}

// Schema documents the body as a BankTransaction in the OpenAPI document.
func (bankBody) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[BankTransaction](), true, "BankTransaction")
}

// BankReceipt is the response that the bank's service expects, without a wrapper.
type BankReceipt struct {
	Success bool `json:"success" enum:"true" doc:"The transaction is stored, now or by an earlier call."`
}

type bankAnswer struct{ Body BankReceipt }

func (a *API) receiveTransaction(ctx context.Context, in *struct{ Body bankBody }) (*bankAnswer, error) {
	if err := a.Bankpay.Append(ctx, in.Body.raw); err != nil {
		return nil, err
	}
	return &bankAnswer{BankReceipt{Success: true}}, nil
}

// authenticateBank admits the bank's callbacks. They count against no limit, so that none about a payment is lost. All other calls count
// by their address. A wrong key and a wrong address get the same response.
func (a *API) authenticateBank(ctx huma.Context, o *httpkit.Operation, next func(huma.Context)) {
	authorization := ctx.Header("Authorization")
	if a.BankGate.Admits(authorization, httpkit.ClientAddr(ctx.Context())) {
		next(ctx)
		return
	}
	if !a.kit.Take(ctx, o.Limit, httpkit.AddrIdentity(ctx.Context()), a.kit.Limit(o.Limit)) {
		return
	}
	p := problem.New(problem.AuthInvalidToken)
	if authorization == "" {
		p = problem.Detailf(problem.AuthRequired, "send Authorization: Apikey with the shared secret")
	}
	ctx.SetHeader("WWW-Authenticate", "Apikey")
	a.kit.Fail(ctx, p)
}

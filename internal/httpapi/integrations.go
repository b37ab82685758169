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

// integrations registers the group integrations (spec §4).
func (a *API) integrations() {
	register(a, "integrations", httpkit.Operation{
		ID: "bankpay-webhook", Method: http.MethodPost, Path: "/integrations/bankpay/webhook", Summary: "Tell of a bank transaction", Status: 200,
		Text: "For the bank's service alone. What it tells is kept, once for each `id`, and nothing else is done here. Unknown fields are kept as well.",
		Auth: []httpkit.Scheme{bankpayKey}, Limit: ratelimit.Other, LargeBody: true,
	}, a.hearOfTransaction)
}

// BankTransaction is what the bank's service sends (decisions §2). It documents the body; what is read of it, and how, is
// package bankpay's affair, since the bank's form may change and money has moved all the same.
type BankTransaction struct {
	ID              any `json:"id" doc:"The bank's number of the transaction, unique." example:"92704"`
	Gateway         any `json:"gateway,omitempty" doc:"The bank's name." example:"\"Vietcombank\""`
	TransactionDate any `json:"transactionDate,omitempty" example:"\"2026-03-14 19:02:37\""`
	AccountNumber   any `json:"accountNumber,omitempty" doc:"The account that the money went to or came from." example:"\"0011001932418\""`
	SubAccount      any `json:"subAccount,omitempty" doc:"A virtual account of it."`
	Code            any `json:"code,omitempty" doc:"What the bank's service took for the memo."`
	Content         any `json:"content,omitempty" doc:"The text of the transfer, which holds the memo." example:"\"GBACDEFHJK\""`
	TransferType    any `json:"transferType,omitempty" doc:"in or out." example:"\"in\""`
	TransferAmount  any `json:"transferAmount,omitempty" doc:"In VND." example:"100000"`
	Accumulated     any `json:"accumulated,omitempty" doc:"The account's balance."`
	ReferenceCode   any `json:"referenceCode,omitempty" example:"\"MBVCB.3278907687\""`
	Description     any `json:"description,omitempty" doc:"The bank's whole message."`
}

// bankBody is the body as it came, which is what is kept.
type bankBody struct{ raw []byte }

// UnmarshalJSON keeps it.
func (b *bankBody) UnmarshalJSON(raw []byte) error {
	b.raw = bytes.Clone(raw)
	return nil
}

// Schema documents it.
func (bankBody) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[BankTransaction](), true, "BankTransaction")
}

// BankReceipt is what the bank's service wants to hear, without a wrapper.
type BankReceipt struct {
	Success bool `json:"success" enum:"true"`
}

type bankAnswer struct{ Body BankReceipt }

func (a *API) hearOfTransaction(ctx context.Context, in *struct{ Body bankBody }) (*bankAnswer, error) {
	if err := a.Bankpay.Append(ctx, in.Body.raw); err != nil {
		return nil, err
	}
	return &bankAnswer{BankReceipt{Success: true}}, nil
}

// authenticateBank admits the bank's callbacks, which count against no limit: each is about money. All other calls count
// by their address. A wrong key and a wrong address get the same answer.
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

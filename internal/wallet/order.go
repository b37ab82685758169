package wallet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/problem"
)

// Bank is an account to pay to.
type Bank struct {
	BIN           string // the bank's number in VietQR, 6 digits
	Name          string // the bank's name, for people
	AccountNumber string // up to 19 letters and digits
	AccountName   string // the name of its holder
}

// Order is a top-up order (docs/spec/billing.md#top-up-orders). Everything except PaidAt is fixed when it is created: a
// later change of the configured price or bank account does not affect it.
type Order struct {
	ID        id.Order
	Account   id.Account
	Provider  string
	Amount    int64 // in Currency
	Currency  string
	Points    int64
	Memo      string // the text that the payer must put into the transfer; unique
	Bank      Bank   // as shown to the payer
	CreatedAt time.Time
	ExpiresAt time.Time
	PaidAt    time.Time // zero: not paid
}

// OrderStatus is the status of an order.
type OrderStatus string

// The statuses of an order. An expired one can still be paid until Policy.LatePayment after its creation.
const (
	Pending OrderStatus = "pending"
	Paid    OrderStatus = "paid"
	Expired OrderStatus = "expired"
)

// Status returns the order's status at a time. It is computed and not stored, so nothing needs to run when an order
// expires.
func (o *Order) Status(now time.Time) OrderStatus {
	switch {
	case !o.PaidAt.IsZero():
		return Paid
	case !now.Before(o.ExpiresAt):
		return Expired
	}
	return Pending
}

// OrderParams are the input of Service.Order, as the client sent them: Order checks them.
type OrderParams struct {
	Provider string
	Amount   int64
	Currency string
}

// createTopup is the name of the operation under which idempotency keys are stored. It is part of the stored rows:
// changing it would make repeated calls create second orders.
const createTopup = "create-topup"

// Order creates a top-up order. With an idempotency key that was used before it returns the first order, unchanged.
//
// Policy.OpenMax bounds how many pending orders an account can have, since each takes a row and a memo.
// Errors: request.invalid, payment.provider_unavailable, topup.amount_invalid, topup.limit_reached,
// idempotency.key_reused.
func (s *Service) Order(ctx context.Context, account id.Account, params OrderParams, key idempotency.Key) (*Order, error) {
	call := idempotency.Call{Account: account, Operation: createTopup, Key: key, Body: params}
	return idempotency.Once(ctx, s.responses, call, func(ctx context.Context, tx *db.Tx) (*Order, error) {
		o, err := s.newOrder(account, params)
		if err != nil {
			return nil, err
		}
		if err := s.checkOpenTx(ctx, tx, o); err != nil {
			return nil, err
		}
		return o, insertOrderTx(ctx, tx, o)
	})
}

// newOrder checks the input and returns the order for it by the current policy, without a memo. Errors:
// request.invalid, payment.provider_unavailable, topup.amount_invalid.
func (s *Service) newOrder(account id.Account, params OrderParams) (*Order, error) {
	if err := s.checkProvider(params.Provider); err != nil {
		return nil, err
	}
	if params.Currency != VND {
		return nil, problem.Invalid("/currency", "must be %s", VND)
	}
	p := s.policy
	if params.Amount < p.TopupMin || params.Amount > p.TopupMax || params.Amount%p.VNDPerPoint != 0 {
		return nil, problem.Detailf(problem.TopupAmountInvalid, "the amount must be from %d to %d VND and a multiple of %d", p.TopupMin, p.TopupMax, p.VNDPerPoint)
	}
	// The database stores microseconds: the order returned now equals the one that is read later.
	now := s.clock.Now().Truncate(time.Microsecond)
	return &Order{
		ID: id.New[id.Order](now), Account: account, Provider: params.Provider, Amount: params.Amount, Currency: params.Currency, Points: params.Amount / p.VNDPerPoint,
		Bank: p.Bank, CreatedAt: now, ExpiresAt: now.Add(p.OrderTTL),
	}, nil
}

// checkOpenTx checks that the account of o may have one more pending order. Expired orders do not count. Error:
// topup.limit_reached.
func (s *Service) checkOpenTx(ctx context.Context, tx *db.Tx, o *Order) error {
	unpaid, err := countOpenTx(ctx, tx, o.Account, o.CreatedAt)
	if err != nil || unpaid < s.policy.OpenMax {
		return err
	}
	return problem.Detailf(problem.TopupLimitReached, "%d orders are unpaid; pay one, or wait until one expires", unpaid)
}

// memoTries is how many memos are tried for an order. With a hundred million orders, one in four hundred memos is taken,
// so twenty taken in a row can only come from a fault, such as a broken random generator.
const memoTries = 20

// errNoFreeMemo means that all memos tried are taken. Clients get the response for internal errors, and the text is
// logged.
var errNoFreeMemo = errors.New("wallet: no memo is free")

// insertOrderTx stores an order with a unique memo.
func insertOrderTx(ctx context.Context, tx *db.Tx, o *Order) error {
	for range memoTries {
		o.Memo = newMemo()
		inserted, err := tryInsertOrderTx(ctx, tx, o)
		if err != nil || inserted {
			return err
		}
	}
	return errNoFreeMemo
}

// FindOrder returns an order of an account. Identifiers are not secret, so an order is only returned to its own account.
// Error: order.not_found, also for an order of another account.
func (s *Service) FindOrder(ctx context.Context, account id.Account, order id.Order) (*Order, error) {
	o, err := orderBy(ctx, s.db, selectOrder, order)
	if err != nil {
		return nil, err
	}
	if o == nil || o.Account != account {
		return nil, problem.New(problem.OrderNotFound)
	}
	return o, nil
}

// Orders returns at most max orders of an account, newest first, older than before unless that is "".
func (s *Service) Orders(ctx context.Context, account id.Account, before id.Order, max int) ([]*Order, error) {
	all, err := db.Collect(ctx, s.db, scanOrder, selectOrders, account, before, max)
	if err != nil {
		return nil, fmt.Errorf("list the orders of %s: %w", account, err)
	}
	return all, nil
}

package wallet

import (
	"context"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/problem"
)

// Bank is an account to pay to.
type Bank struct {
	BIN           string // the bank's number in VietQR, 6 digits
	Name          string // the bank's, for people
	AccountNumber string // up to 19 letters and digits
	AccountName   string // its holder
}

// Order is a top-up order (decisions §2).
type Order struct {
	ID        id.Order
	Account   id.Account
	Provider  string
	Amount    int64 // in Currency
	Currency  string
	Points    int64
	Memo      string // what the payer writes into the transfer; no two orders share one
	Bank      Bank   // as it was told to the payer
	CreatedAt time.Time
	ExpiresAt time.Time
	PaidAt    time.Time // zero: not paid
}

// OrderStatus is what has become of an order (decisions §2).
type OrderStatus string

// The states of an order. One that has expired can still be paid, for the time that Policy.LatePayment says.
const (
	Pending OrderStatus = "pending"
	Paid    OrderStatus = "paid"
	Expired OrderStatus = "expired"
)

// Status is the order's status at a moment.
func (o *Order) Status(now time.Time) OrderStatus {
	switch {
	case !o.PaidAt.IsZero():
		return Paid
	case !now.Before(o.ExpiresAt):
		return Expired
	}
	return Pending
}

// Wish is what a top-up is asked for with (spec §2, top-up order input).
type Wish struct {
	Provider string
	Amount   int64
	Currency string
}

// createTopup names the call for its idempotency keys.
const createTopup = "create-topup"

// Order makes a top-up order; with a key that was used before it is the order of that time, as it was then. Errors:
// request.invalid, payment.provider_unavailable, topup.amount_invalid, topup.limit_reached, idempotency.key_reused.
func (s *Service) Order(ctx context.Context, account id.Account, w Wish, key idempotency.Key) (*Order, error) {
	call := idempotency.Call{Account: account, Operation: createTopup, Key: key, Body: w}
	return idempotency.Once(ctx, s.answers, call, func(ctx context.Context, tx *db.Tx) (*Order, error) {
		o, err := s.newOrder(account, w)
		if err != nil {
			return nil, err
		}
		if err := s.roomTx(ctx, tx, o); err != nil {
			return nil, err
		}
		return o, insertOrderTx(ctx, tx, o)
	})
}

// newOrder is what a wish comes to by today's policy.
func (s *Service) newOrder(account id.Account, w Wish) (*Order, error) {
	if err := s.usable(w.Provider); err != nil {
		return nil, err
	}
	if w.Currency != VND {
		return nil, problem.Invalid("/currency", "must be %s", VND)
	}
	p := s.policy
	if w.Amount < p.TopupMin || w.Amount > p.TopupMax || w.Amount%p.VNDPerPoint != 0 {
		return nil, problem.Detailf(problem.TopupAmountInvalid, "the amount must be from %d to %d VND and a multiple of %d", p.TopupMin, p.TopupMax, p.VNDPerPoint)
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	return &Order{
		ID: id.New[id.Order](now), Account: account, Provider: w.Provider, Amount: w.Amount, Currency: w.Currency, Points: w.Amount / p.VNDPerPoint,
		Bank: p.Bank, CreatedAt: now, ExpiresAt: now.Add(p.OrderTTL),
	}, nil
}

// roomTx refuses an order where as many of its account as may wait to be paid do.
func (s *Service) roomTx(ctx context.Context, tx *db.Tx, o *Order) error {
	open, err := openTx(ctx, tx, o.Account, o.CreatedAt)
	if err != nil || open < s.policy.OpenMax {
		return err
	}
	return problem.Detailf(problem.TopupLimitReached, "%d orders wait to be paid; pay one, or wait until one expires", open)
}

// memoTries is how often a memo is made before it is a fault: in a service with a hundred million orders one in four
// hundred memos is taken.
const memoTries = 20

var errMemos = errors.New("wallet: no memo is free")

// insertOrderTx gives an order a memo of its own and stores it.
func insertOrderTx(ctx context.Context, tx *db.Tx, o *Order) error {
	for range memoTries {
		o.Memo = newMemo()
		inserted, err := storeOrderTx(ctx, tx, o)
		if err != nil || inserted {
			return err
		}
	}
	return errMemos
}

// FindOrder is an order of an account. Error: order.not_found, for another's too.
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

// Package wallet holds the points of accounts: the ledger, the orders that fill it, and the reconciliation of bank
// transfers with orders (decisions §2, plans, wallet, payments). It refuses to sell anything and to talk to a bank.
package wallet

import (
	"context"
	"log/slog"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
)

// Wallet is what an account has.
type Wallet struct {
	Balance int64 // points: the sum of the account's entries
	Pending int   // top-up orders that are neither paid nor expired
}

// Policy is the operator's.
type Policy struct {
	VNDPerPoint int64         // what a point costs
	TopupMin    int64         // smallest top-up, in VND
	TopupMax    int64         // largest top-up, in VND
	OrderTTL    time.Duration // time to pay an order
	LatePayment time.Duration // how long after its creation an order is credited all the same
	OpenMax     int           // an account's orders that wait to be paid at once
	OrderKeep   time.Duration // how long after its creation an unpaid order is erased; LatePayment or longer
	RetryFor    time.Duration // how long after it came a transfer whose booking fails is tried again
	Providers   []Provider
	Bank        Bank // the account to pay to; what is told to payers from now on
}

// Parts are what the service is put together from.
type Parts struct {
	DB        *db.DB
	Clock     clock.Clock
	Answers   *idempotency.Answers
	Transfers Transfers
	Logger    *slog.Logger
	Policy    Policy
}

// Service is the use of wallets.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	answers   *idempotency.Answers
	transfers Transfers
	log       *slog.Logger
	policy    Policy
}

// New assembles the service.
func New(p Parts) *Service {
	return &Service{db: p.DB, clock: p.Clock, answers: p.Answers, transfers: p.Transfers, log: p.Logger, policy: p.Policy}
}

// Of is an account's wallet.
func (s *Service) Of(ctx context.Context, account id.Account) (Wallet, error) {
	return read(ctx, s.db, account, s.clock.Now())
}

// Entries lists an account's ledger, newest first: what is older than the entry numbered before (0: from the newest on),
// at most max.
func (s *Service) Entries(ctx context.Context, account id.Account, before int64, max int) ([]*Entry, error) {
	return entries(ctx, s.db, account, before, max)
}

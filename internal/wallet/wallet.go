// Package wallet implements the points of accounts: the ledger, top-up orders, and the reconciliation of bank transfers with
// orders (docs/spec/billing.md). It does not depend on what points buy or on how a bank reports transfers.
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

// Wallet is the state of an account's wallet.
type Wallet struct {
	Balance int64 // points: the sum of the account's entries
	Pending int   // top-up orders that are neither paid nor expired
}

// Policy is the operator's settings.
type Policy struct {
	VNDPerPoint int64         // the price of a point
	TopupMin    int64         // smallest top-up, in VND
	TopupMax    int64         // largest top-up, in VND
	OrderTTL    time.Duration // time to pay an order
	LatePayment time.Duration // how long after its creation an order is still credited
	OpenMax     int           // unpaid orders of an account at once
	OrderKeep   time.Duration // how long after its creation an unpaid order is deleted; at least LatePayment
	RetryFor    time.Duration // how long after its arrival a transfer whose settlement fails is retried
	Providers   []Provider
	Bank        Bank // the account to pay to, for new orders
}

// Parts are the dependencies of a Service.
type Parts struct {
	DB        *db.DB
	Clock     clock.Clock
	Answers   *idempotency.Answers
	Transfers Transfers
	Logger    *slog.Logger
	Policy    Policy
}

// Service implements wallets. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	answers   *idempotency.Answers
	transfers Transfers
	log       *slog.Logger
	policy    Policy
}

// New returns a Service.
func New(p Parts) *Service {
	return &Service{db: p.DB, clock: p.Clock, answers: p.Answers, transfers: p.Transfers, log: p.Logger, policy: p.Policy}
}

// Of returns an account's wallet.
func (s *Service) Of(ctx context.Context, account id.Account) (Wallet, error) {
	return read(ctx, s.db, account, s.clock.Now())
}

// Entries returns at most max entries of an account's ledger older than the one numbered before, newest first; 0 is the
// beginning.
func (s *Service) Entries(ctx context.Context, account id.Account, before int64, max int) ([]*Entry, error) {
	return entries(ctx, s.db, account, before, max)
}

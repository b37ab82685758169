// Package wallet implements the points of accounts: the ledger, top-up orders, and the reconciliation of bank transfers
// with orders (docs/spec/billing.md). It does not depend on what points buy or on how a bank reports transfers.
//
// The ledger of an account is a list of entries that are numbered 1, 2, 3 … and never change. The row of the account's
// wallet holds the balance and the number of the last entry. Every change of points, in either direction, goes through
// Service.postTx, which updates that row and inserts the entry in one transaction. Triggers of the database refuse an
// entry that does not continue the one before it, and any update or deletion of an entry.
//
// To buy points, an account creates an Order, which has a memo: a text that the payer puts into the bank transfer. A
// provider's package, such as bankpay, stores the transfers that the bank reports; a trigger gives each of them a row
// with its outcome, at first Unseen. Service.Reconcile, a periodic job, finds the order by the memo, and credits it or
// leaves the transfer for staff with a Reason. Staff settle those with ResolveByOrder, ResolveToAccount or Ignore.
//
// A transfer and an order are credited once, whatever is repeated or interrupted: the outcome of the transfer, the
// order and the entry are one transaction, the outcome changes only from the expected one, and the reference of a
// top-up entry is unique. The package has no state in memory, so several processes on one database need no
// coordination. Functions whose names end in Tx run in a transaction of the caller.
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

// Policy is the operator's settings. The zero value is not usable: VNDPerPoint divides amounts and must be positive.
// All durations are positive.
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

// Parts are the dependencies of a Service. All fields are required. Responses stores the responses of calls with an
// Idempotency-Key; Transfers reads the transfers that a provider's package stored.
type Parts struct {
	DB        *db.DB
	Clock     clock.Clock
	Responses *idempotency.Responses
	Transfers Transfers
	Logger    *slog.Logger
	Policy    Policy
}

// Service implements wallets. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	clock     clock.Clock
	responses *idempotency.Responses
	transfers Transfers
	log       *slog.Logger
	policy    Policy
}

// New returns a Service.
func New(p Parts) *Service {
	return &Service{db: p.DB, clock: p.Clock, responses: p.Responses, transfers: p.Transfers, log: p.Logger, policy: p.Policy}
}

// Of returns an account's wallet. An account that never had points has the zero balance; there is no error for an
// unknown account.
func (s *Service) Of(ctx context.Context, account id.Account) (Wallet, error) {
	return read(ctx, s.db, account, s.clock.Now())
}

// Entries returns at most max entries of an account's ledger older than the one numbered before, newest first; 0 is the
// beginning. The number of the last entry returned, Entry.Sequence, is the next call's before.
func (s *Service) Entries(ctx context.Context, account id.Account, before int64, max int) ([]*Entry, error) {
	return entries(ctx, s.db, account, before, max)
}

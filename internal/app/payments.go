package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// Payments is the operator's access to bank transactions and points, while the service runs or not. Every change keeps who
// made it, when and why. A transaction is named by the bank's identifier, an account by its e-mail address or its identifier.
type Payments struct {
	db       *db.DB
	accounts *account.Registry
	wallet   *wallet.Service
	bankpay  *bankpay.Service
}

// PaymentRow is a bank transaction as the operator sees it. Texts that are missing are empty.
type PaymentRow struct {
	ID         string       `json:"id"`
	ReceivedAt clock.Stamp  `json:"receivedAt"`
	Direction  string       `json:"direction"`
	Amount     int64        `json:"amount"` // in VND; 0 where the bank told none
	Content    string       `json:"content"`
	Outcome    string       `json:"outcome"` // new, credited, unmatched, ignored, resolved
	Reason     string       `json:"reason"`
	Order      string       `json:"order"`
	Account    string       `json:"account"` // identifier of who was credited
	Points     int64        `json:"points"`
	SettledAt  *clock.Stamp `json:"settledAt"`
	Staff      string       `json:"staff"`
	Note       string       `json:"note"`
}

// AdjustmentRow is a ledger entry that staff made.
type AdjustmentRow struct {
	ID           id.Transaction `json:"id"`
	Account      id.Account     `json:"account"`
	Amount       int64          `json:"amount"`
	BalanceAfter int64          `json:"balanceAfter"`
	Note         string         `json:"note"`
	CreatedAt    clock.Stamp    `json:"createdAt"`
}

// OpenPayments opens the database that cfg names and brings it up to date.
func OpenPayments(ctx context.Context, cfg *Config) (*Payments, error) {
	d, err := openAdminDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.Migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	b := newBilling(d, clock.System(), slog.New(slog.DiscardHandler), cfg, func() {})
	return &Payments{db: d, accounts: account.NewRegistry(d, cfg.Account.Password.cost()), wallet: b.wallet, bankpay: b.bankpay}, nil
}

// Close releases the database.
func (p *Payments) Close() { _ = p.db.Close() }

// List gives at most limit bank transactions, newest first: all, or those that are left for staff. A page goes on behind the
// transaction after, which may be empty; more tells whether another page follows.
func (p *Payments) List(ctx context.Context, unmatched bool, after string, limit int) (rows []PaymentRow, more bool, err error) {
	all, err := p.wallet.Matches(ctx, unmatched, after, limit+1)
	if err != nil {
		return nil, false, err
	}
	rows = []PaymentRow{}
	for _, m := range all[:min(len(all), limit)] {
		row, err := p.row(ctx, m)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, row)
	}
	return rows, len(all) > limit, nil
}

// ResolveByOrder has an unmatched transaction pay an order that has its amount.
func (p *Payments) ResolveByOrder(ctx context.Context, transaction, order, staff, note string) (PaymentRow, error) {
	known, err := id.Parse[id.Order](order)
	if err != nil {
		return PaymentRow{}, fmt.Errorf("%q is not the identifier of an order: %w", order, err)
	}
	return p.settled(ctx, transaction, p.wallet.ResolveByOrder(ctx, transaction, known, wallet.Staff{Name: staff, Note: note}))
}

// ResolveToAccount credits what an unmatched transaction is worth to an account.
func (p *Payments) ResolveToAccount(ctx context.Context, transaction, who, staff, note string) (PaymentRow, error) {
	a, err := p.accounts.Find(ctx, who)
	if err != nil {
		return PaymentRow{}, err
	}
	return p.settled(ctx, transaction, p.wallet.ResolveToAccount(ctx, transaction, a.ID, wallet.Staff{Name: staff, Note: note}))
}

// Ignore settles an unmatched transaction for which nothing is credited.
func (p *Payments) Ignore(ctx context.Context, transaction, staff, note string) (PaymentRow, error) {
	return p.settled(ctx, transaction, p.wallet.Ignore(ctx, transaction, wallet.Staff{Name: staff, Note: note}))
}

// Adjust gives points to an account, or takes them where points is below zero.
func (p *Payments) Adjust(ctx context.Context, who string, points int64, staff, note string) (AdjustmentRow, error) {
	a, err := p.accounts.Find(ctx, who)
	if err != nil {
		return AdjustmentRow{}, err
	}
	e, err := p.wallet.Adjust(ctx, a.ID, points, wallet.Staff{Name: staff, Note: note})
	if err != nil {
		return AdjustmentRow{}, err
	}
	return AdjustmentRow{
		ID: e.ID, Account: e.Account, Amount: e.Amount, BalanceAfter: e.BalanceAfter, Note: e.Note, CreatedAt: clock.Stamp{Time: e.CreatedAt},
	}, nil
}

// settled gives a transaction as it is after a change.
func (p *Payments) settled(ctx context.Context, transaction string, err error) (PaymentRow, error) {
	if err != nil {
		return PaymentRow{}, err
	}
	m, err := p.wallet.Match(ctx, transaction)
	if err != nil {
		return PaymentRow{}, err
	}
	return p.row(ctx, m)
}

func (p *Payments) row(ctx context.Context, m *wallet.Match) (PaymentRow, error) {
	t, err := p.bankpay.Transfer(ctx, m.Transfer)
	if err != nil {
		return PaymentRow{}, err
	}
	row := PaymentRow{
		ID: m.Transfer, ReceivedAt: clock.Stamp{Time: m.ReceivedAt}, Direction: string(t.Direction), Amount: t.Amount, Outcome: string(m.Outcome),
		Reason: string(m.Reason), Order: m.Order, Account: m.Account, Points: m.Points, Staff: m.Staff, Note: m.Note,
	}
	if len(t.Texts) > 0 {
		row.Content = strings.Join(strings.Fields(t.Texts[0]), " ")
	}
	if !m.SettledAt.IsZero() {
		row.SettledAt = &clock.Stamp{Time: m.SettledAt}
	}
	return row, nil
}

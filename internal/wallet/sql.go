package wallet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

const entryColumns = "id, account_id, sequence, kind, amount, balance_after, reference, note, plan, term, transfer, created_at"

const (
	// These return the new balance and the number of the entry. debit changes no row if the balance would be negative.
	credit = `INSERT INTO wallet (account_id, balance, sequence) VALUES ($1, CAST($2 AS BIGINT), 1)
		ON CONFLICT (account_id) DO UPDATE SET balance = wallet.balance + excluded.balance, sequence = wallet.sequence + 1
		RETURNING balance, sequence`
	debit = `UPDATE wallet SET balance = balance + CAST($2 AS BIGINT), sequence = sequence + 1
		WHERE account_id = $1 AND balance + CAST($2 AS BIGINT) >= 0 RETURNING balance, sequence`
	insertEntry = "INSERT INTO wallet_entry (" + entryColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"

	selectBalance = "SELECT balance FROM wallet WHERE account_id = $1"
	selectWallet  = `SELECT coalesce((SELECT balance FROM wallet WHERE account_id = $1), 0),
		(SELECT count(*) FROM topup_order WHERE account_id = $1 AND paid_at IS NULL AND expires_at > $2)`
	selectEntries = "SELECT " + entryColumns + " FROM wallet_entry WHERE account_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3"
)

const orderColumns = `id, account_id, provider, amount, currency, points, memo, bank_bin, bank_name, account_number, account_name,
	created_at, expires_at, coalesce(paid_at, 0)`

const (
	selectOrder  = "SELECT " + orderColumns + " FROM topup_order WHERE id = $1"
	selectOrders = "SELECT " + orderColumns + " FROM topup_order WHERE account_id = $1 AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3"
	selectByMemo = "SELECT " + orderColumns + " FROM topup_order WHERE memo = $1"
	insertOrder  = `INSERT INTO topup_order (id, account_id, provider, amount, currency, points, memo, bank_bin, bank_name, account_number,
		account_name, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (memo) DO NOTHING`
	// countOpen and the second part of selectWallet must count the same orders: those whose status is Pending.
	countOpen = "SELECT count(*) FROM topup_order WHERE account_id = $1 AND paid_at IS NULL AND expires_at > $2"
	// An order that a transfer names is kept, even if it is unpaid: staff may still pay it with the transfer.
	deleteUnpaid = `DELETE FROM topup_order WHERE id IN (SELECT id FROM topup_order WHERE paid_at IS NULL AND created_at <= $1
		AND NOT EXISTS (SELECT 1 FROM bankpay_match WHERE order_id = topup_order.id) LIMIT $2)`
	payOrder = "UPDATE topup_order SET paid_at = $2, paid_by = $3 WHERE id = $1 AND paid_at IS NULL"

	// 'new' is the outcome Unseen. The index bankpay_match_new has only these rows, so polling costs nothing when idle.
	selectNew = `SELECT transaction_id, received_at FROM bankpay_match WHERE outcome = 'new' AND (received_at, transaction_id) > ($1, $2)
		ORDER BY received_at, transaction_id LIMIT $3`
	// An empty reason or order keeps what is stored: a transfer that staff settle still shows why it was not credited
	// automatically. $2 is the expected outcome, which makes concurrent calls safe.
	updateOutcome = `UPDATE bankpay_match SET outcome = $3, reason = coalesce(nullif($4, ''), reason), order_id = coalesce(nullif($5, ''), order_id),
		account_id = nullif($6, ''), points = $7, settled_at = $8 WHERE transaction_id = $1 AND outcome = $2`
)

// The staff and note of a transfer are those of its last audit entry.
const matchColumns = `m.transaction_id, m.received_at, m.outcome, coalesce(m.reason, ''), coalesce(m.order_id, ''), coalesce(m.account_id, ''),
	coalesce(m.points, 0), coalesce(m.settled_at, 0), coalesce(member.email, a.staff, ''), coalesce(a.note, '')`

const matches = " FROM bankpay_match m LEFT JOIN wallet_audit a ON a.subject = m.transaction_id" +
	" AND a.sequence = (SELECT max(sequence) FROM wallet_audit WHERE subject = m.transaction_id)" +
	" LEFT JOIN account member ON member.id = a.staff" // stored by its identifier, since the row is never changed

const (
	selectMatch   = "SELECT " + matchColumns + matches + " WHERE m.transaction_id = $1"
	selectMatches = "SELECT " + matchColumns + matches + ` WHERE (m.received_at, m.transaction_id) < ($1, $2)
		ORDER BY m.received_at DESC, m.transaction_id DESC LIMIT $3`
	selectUnmatched = "SELECT " + matchColumns + matches + ` WHERE m.outcome = 'unmatched' AND (m.received_at, m.transaction_id) < ($1, $2)
		ORDER BY m.received_at DESC, m.transaction_id DESC LIMIT $3`

	// Two concurrent entries of one subject get the same number and the primary key rejects one of them.
	insertAudit = `INSERT INTO wallet_audit (subject, sequence, action, staff, note, created_at)
		VALUES ($1, 1 + coalesce((SELECT max(sequence) FROM wallet_audit WHERE subject = $1), 0), $2, $3, $4, $5)`
)

// balance returns the points of an account, 0 if it has no wallet.
func balance(ctx context.Context, q db.Queryer, account id.Account) (points int64, err error) {
	err = q.QueryRow(ctx, selectBalance, account).Scan(&points)
	if err != nil && !errors.Is(err, sql.ErrNoRows) { // no row: the account never had points
		return 0, fmt.Errorf("read the balance of %s: %w", account, err)
	}
	return points, nil
}

// read returns the wallet of an account, with the orders pending at now.
func read(ctx context.Context, q db.Queryer, account id.Account, now time.Time) (w Wallet, err error) {
	if err := q.QueryRow(ctx, selectWallet, account, now.UnixMicro()).Scan(&w.Balance, &w.Pending); err != nil {
		return Wallet{}, fmt.Errorf("read the wallet of %s: %w", account, err)
	}
	return w, nil
}

func scanEntry(row db.Row) (*Entry, error) {
	var e Entry
	var created int64
	err := row.Scan(&e.ID, &e.Account, &e.Sequence, &e.Kind, &e.Amount, &e.BalanceAfter, &e.Reference, &e.Note, &e.Plan, &e.Interval, &e.Transfer, &created)
	if err != nil {
		return nil, err
	}
	e.CreatedAt = time.UnixMicro(created).UTC()
	return &e, nil
}

// entries lists an account's entries numbered below before, newest first; 0 means all.
func entries(ctx context.Context, q db.Queryer, account id.Account, before int64, max int) ([]*Entry, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	all, err := db.Collect(ctx, q, scanEntry, selectEntries, account, before, max)
	if err != nil {
		return nil, fmt.Errorf("list the ledger of %s: %w", account, err)
	}
	return all, nil
}

// insertEntryTx inserts an entry. A trigger rejects it unless its number and balance continue those of the last entry.
func insertEntryTx(ctx context.Context, tx *db.Tx, e *Entry) error {
	_, err := tx.Exec(ctx, insertEntry, e.ID, e.Account, e.Sequence, e.Kind, e.Amount, e.BalanceAfter, e.Reference, e.Note, e.Plan, e.Interval, e.Transfer, e.CreatedAt.UnixMicro())
	return err
}

func scanOrder(row db.Row) (*Order, error) {
	var o Order
	var created, expires, paid int64
	err := row.Scan(&o.ID, &o.Account, &o.Provider, &o.Amount, &o.Currency, &o.Points, &o.Memo, &o.Bank.BIN, &o.Bank.Name,
		&o.Bank.AccountNumber, &o.Bank.AccountName, &created, &expires, &paid)
	if err != nil {
		return nil, err
	}
	o.CreatedAt, o.ExpiresAt, o.PaidAt = db.Moment(created), db.Moment(expires), db.Moment(paid)
	return &o, nil
}

// orderBy reads an order; nil without an error means that there is none.
func orderBy(ctx context.Context, q db.Queryer, query string, arg any) (*Order, error) {
	o, err := db.One(ctx, q, scanOrder, query, arg)
	if err != nil {
		return nil, fmt.Errorf("read the order %v: %w", arg, err)
	}
	return o, nil
}

// tryInsertOrderTx inserts an order. inserted is false if its memo is taken.
func tryInsertOrderTx(ctx context.Context, tx *db.Tx, o *Order) (inserted bool, err error) {
	n, err := tx.Exec(ctx, insertOrder, o.ID, o.Account, o.Provider, o.Amount, o.Currency, o.Points, o.Memo, o.Bank.BIN, o.Bank.Name,
		o.Bank.AccountNumber, o.Bank.AccountName, o.CreatedAt.UnixMicro(), o.ExpiresAt.UnixMicro())
	if err != nil {
		return false, fmt.Errorf("store order %s: %w", o.ID, err)
	}
	return n == 1, nil
}

// countOpenTx counts the pending orders of an account.
func countOpenTx(ctx context.Context, tx *db.Tx, account id.Account, now time.Time) (n int, err error) {
	if err := tx.QueryRow(ctx, countOpen, account, now.UnixMicro()).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the open orders of %s: %w", account, err)
	}
	return n, nil
}

// payTx marks an order as paid. It returns an error if the order is already paid, which callers must check before.
func payTx(ctx context.Context, tx *db.Tx, o *Order, transfer string, at time.Time) error {
	n, err := tx.Exec(ctx, payOrder, o.ID, at.UnixMicro(), transfer)
	if err == nil && n != 1 {
		err = errors.New("it is paid already")
	}
	if err != nil {
		return fmt.Errorf("pay order %s: %w", o.ID, err)
	}
	return nil
}

// newTransfers lists transfers with the outcome Unseen after a position, oldest first.
func newTransfers(ctx context.Context, q db.Queryer, last position, max int) ([]position, error) {
	scan := func(row db.Row) (p position, err error) {
		var received int64
		err = row.Scan(&p.transfer, &received)
		p.receivedAt = db.Moment(received)
		return p, err
	}
	all, err := db.Collect(ctx, q, scan, selectNew, last.receivedAt.UnixMicro(), last.transfer, max)
	if err != nil {
		return nil, fmt.Errorf("list new bank transactions: %w", err)
	}
	return all, nil
}

// setOutcomeTx stores the outcome of a transfer if its current outcome is the expected one. changed is false if it is not.
func setOutcomeTx(ctx context.Context, tx *db.Tx, m Match, expected Outcome) (changed bool, err error) {
	n, err := tx.Exec(ctx, updateOutcome, m.Transfer, expected, m.Outcome, m.Reason, m.Order, m.Account, m.Points, m.SettledAt.UnixMicro())
	if err != nil {
		return false, fmt.Errorf("settle bank transaction %s: %w", m.Transfer, err)
	}
	return n == 1, nil
}

func scanMatch(row db.Row) (*Match, error) {
	var m Match
	var received, settled int64
	err := row.Scan(&m.Transfer, &received, &m.Outcome, &m.Reason, &m.Order, &m.Account, &m.Points, &settled, &m.Staff, &m.Note)
	if err != nil {
		return nil, err
	}
	m.ReceivedAt, m.SettledAt = db.Moment(received), db.Moment(settled)
	return &m, nil
}

// matchOf reads the outcome of a transfer; nil without an error means that there is no such transfer.
func matchOf(ctx context.Context, q db.Queryer, transfer string) (*Match, error) {
	m, err := db.One(ctx, q, scanMatch, selectMatch, transfer)
	if err != nil {
		return nil, fmt.Errorf("read bank transaction %s: %w", transfer, err)
	}
	return m, nil
}

// listMatches lists transfers older than before, newest first; nil is the beginning.
func listMatches(ctx context.Context, q db.Queryer, query string, before *Match, max int) ([]*Match, error) {
	received, transfer := int64(math.MaxInt64), ""
	if before != nil {
		received, transfer = before.ReceivedAt.UnixMicro(), before.Transfer
	}
	all, err := db.Collect(ctx, q, scanMatch, query, received, transfer, max)
	if err != nil {
		return nil, fmt.Errorf("list bank transactions: %w", err)
	}
	return all, nil
}

// insertAuditTx records what a member of staff did, in the wallet's own append-only table and in the log of package
// audit. The subject is a bank transaction or a ledger entry.
func insertAuditTx(ctx context.Context, tx *db.Tx, subject, action string, by Staff, at time.Time) error {
	if _, err := tx.Exec(ctx, insertAudit, subject, action, by.Name, by.Note, at.UnixMicro()); err != nil {
		return fmt.Errorf("write the audit entry of %s: %w", subject, err)
	}
	if action == actionAdjust {
		return audit.RecordTx(ctx, tx, at, "payment.adjust", subject, by.Note)
	}
	return audit.RecordTx(ctx, tx, at, "payment.resolve", subject, action+": "+by.Note)
}

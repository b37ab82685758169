package bankpay

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	// A trigger also inserts a row of bankpay_match, by which package wallet finds the transaction. Other triggers reject
	// updates and deletions.
	insertTransaction = "INSERT INTO bankpay_transactions (id, body, received_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING"
	selectTransaction = "SELECT id, body, received_at FROM bankpay_transactions WHERE id = $1"
)

// row is a stored transaction.
type row struct {
	id         string
	body       []byte
	receivedAt time.Time
}

// read returns a stored transaction. If there is none the error wraps sql.ErrNoRows.
func read(ctx context.Context, q db.Queryer, transaction string) (r row, err error) {
	var received int64
	if err := q.QueryRow(ctx, selectTransaction, transaction).Scan(&r.id, &r.body, &received); err != nil {
		return row{}, fmt.Errorf("read bank transaction %s: %w", transaction, err)
	}
	r.receivedAt = time.UnixMicro(received).UTC()
	return r, nil
}

package idempotency

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

const (
	// A row whose expiry is not later than $6, the current time, is replaced; another one stays, and no row is changed.
	claim = `INSERT INTO idempotency_key (account_id, operation, key, body_hash, answer, expires_at) VALUES ($1, $2, $3, $4, '', $5)
		ON CONFLICT (account_id, operation, key) DO UPDATE SET body_hash = excluded.body_hash, answer = '', expires_at = excluded.expires_at
		WHERE idempotency_key.expires_at <= $6`
	selectResponse = "SELECT body_hash, answer FROM idempotency_key WHERE account_id = $1 AND operation = $2 AND key = $3"
	updateResponse = "UPDATE idempotency_key SET answer = $4 WHERE account_id = $1 AND operation = $2 AND key = $3"
	deleteAccount  = "DELETE FROM idempotency_key WHERE account_id = $1"
	deleteExpired  = `DELETE FROM idempotency_key WHERE (account_id, operation, key) IN
		(SELECT account_id, operation, key FROM idempotency_key WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`
)

// claimTx claims the key and reports whether it was free or expired.
func claimTx(ctx context.Context, tx *db.Tx, c Call, hash string, now time.Time, keep time.Duration) (bool, error) {
	n, err := tx.Exec(ctx, claim, c.Account, c.Operation, c.Key, hash, now.Add(keep).UnixMicro(), now.UnixMicro())
	if err != nil {
		return false, fmt.Errorf("claim the key of a call of %s: %w", c.Operation, err)
	}
	return n == 1, nil
}

// storedTx reads the stored response. The response is never empty here: a row without a response is in a transaction that is
// not committed. Error: idempotency.key_reused.
func storedTx(ctx context.Context, tx *db.Tx, c Call, hash string) (response string, err error) {
	var first string
	if err := tx.QueryRow(ctx, selectResponse, c.Account, c.Operation, c.Key).Scan(&first, &response); err != nil {
		return "", fmt.Errorf("read the stored response of %s: %w", c.Operation, err)
	}
	if first != hash {
		return "", problem.New(problem.IdempotencyKeyReused)
	}
	return response, nil
}

// storeTx stores the response in the row that claimTx has inserted.
func storeTx(ctx context.Context, tx *db.Tx, c Call, response any) error {
	text, err := json.Marshal(response)
	if err != nil {
		return fmt.Errorf("encode the response of %s: %w", c.Operation, err)
	}
	if _, err := tx.Exec(ctx, updateResponse, c.Account, c.Operation, c.Key, string(text)); err != nil {
		return fmt.Errorf("store the response of %s: %w", c.Operation, err)
	}
	return nil
}

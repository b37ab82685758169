// Package ledger lets the processes of a service count together what identities take of their limits, in a table of
// PostgreSQL that is not logged: a crash of the server empties it, and everybody is as fresh as ever. It refuses to know who
// they are.
package ledger

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Ledger is a ratelimit.Ledger. It is safe for concurrent use.
type Ledger struct{ db *db.DB }

// New returns the ledger in a PostgreSQL database that has been migrated.
func New(d *db.DB) *Ledger { return &Ledger{d} }

// Add moves the theoretical arrival times of entries, in one statement. An entry may not come twice.
func (l *Ledger) Add(ctx context.Context, now int64, entries []ratelimit.Entry) (tats []int64, err error) {
	keys, debts := make([][]byte, len(entries)), make([]int64, len(entries))
	place := make(map[[16]byte]int, len(entries))
	for i, e := range entries {
		keys[i], debts[i], place[e.Key] = e.Key[:], e.Debt, i
	}
	err = l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.Query(ctx, addAll, now, keys, debts)
		if err != nil {
			return err
		}
		defer rows.Close()
		tats = make([]int64, len(entries))
		for rows.Next() {
			var key []byte
			var tat int64
			if err := rows.Scan(&key, &tat); err != nil {
				return err
			}
			tats[place[[16]byte(key)]] = tat
		}
		return rows.Err()
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("count together with other processes: %w", err)
	}
	return tats, nil
}

// Sweep forgets who is as fresh as ever.
func (l *Ledger) Sweep(ctx context.Context, now int64) error {
	err := l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deleteIdle, now)
		return err
	}, nil)
	if err != nil {
		return fmt.Errorf("forget idle identities: %w", err)
	}
	return nil
}

// Package ledger implements ratelimit.Ledger in unlogged tables of PostgreSQL, so that the processes of a service count together. A crash
// of the server empties the tables, and counting starts anew. Identities are stored as hashes only.
package ledger

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Ledger is a ratelimit.Ledger. It is safe for concurrent use.
type Ledger struct {
	db      *db.DB
	process string // a random name: whose rows in rate_held are this process's
}

// New returns the ledger of a migrated PostgreSQL database.
func New(d *db.DB) *Ledger { return &Ledger{d, rand.Text()} }

// Add adds debts to theoretical arrival times, in one statement. Keys must be distinct.
func (l *Ledger) Add(ctx context.Context, now int64, entries []ratelimit.Entry) (tats []int64, err error) {
	keys, debts := make([][]byte, len(entries)), make([]int64, len(entries))
	index := make(map[[16]byte]int, len(entries))
	for i, e := range entries {
		keys[i], debts[i], index[e.Key] = e.Key[:], e.Debt, i
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
			tats[index[[16]byte(key)]] = tat
		}
		return rows.Err()
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("count limits across processes: %w", err)
	}
	return tats, nil
}

// Hold records what this process holds. Keys must be distinct.
func (l *Ledger) Hold(ctx context.Context, holdings []ratelimit.Holding, exclusive bool) (sums []int, err error) {
	keys, held, turns := make([][]byte, len(holdings)), make([]int64, len(holdings)), make([]int64, len(holdings))
	index := make(map[[16]byte]int, len(holdings))
	for i, h := range holdings {
		keys[i], held[i], turns[i], index[h.Key] = h.Key[:], int64(h.Held), h.Turn, i
	}
	err = l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		if exclusive {
			if err := tx.Queue(ctx, lockKey, int64(binary.BigEndian.Uint64(keys[0]))); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, holdAll, l.process, keys, held, turns, ratelimit.HoldFor.String())
		if err != nil {
			return err
		}
		defer rows.Close()
		sums = make([]int, len(holdings))
		for rows.Next() {
			var key []byte
			var sum int
			if err := rows.Scan(&key, &sum); err != nil {
				return err
			}
			sums[index[[16]byte(key)]] = sum
		}
		return rows.Err()
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("record what is held: %w", err)
	}
	return sums, nil
}

// Sweep deletes the rows of identities that are idle at now, and of holdings that have expired.
func (l *Ledger) Sweep(ctx context.Context, now int64) error {
	err := l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := tx.Queue(ctx, deleteIdle, now); err != nil {
			return err
		}
		return tx.Queue(ctx, deleteFree)
	}, nil)
	if err != nil {
		return fmt.Errorf("delete idle identities: %w", err)
	}
	return nil
}

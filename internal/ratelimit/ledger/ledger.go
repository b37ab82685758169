// Package ledger lets the processes of a service count together what identities take of their limits, in a table of
// PostgreSQL that is not logged: a crash of the server empties it, and everybody is as fresh as ever. It refuses to know who
// they are.
package ledger

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Ledger is a ratelimit.Ledger and a ratelimit.Holder. It is safe for concurrent use.
type Ledger struct {
	db      *db.DB
	process string // tells what this process holds from what others do
}

// New returns the ledger in a PostgreSQL database that has been migrated.
func New(d *db.DB) *Ledger { return &Ledger{d, rand.Text()} }

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

// Hold says what this process holds. A key may not come twice.
func (l *Ledger) Hold(ctx context.Context, holdings []ratelimit.Holding, alone bool) (sums []int, err error) {
	keys, held, turns := make([][]byte, len(holdings)), make([]int64, len(holdings)), make([]int64, len(holdings))
	place := make(map[[16]byte]int, len(holdings))
	for i, h := range holdings {
		keys[i], held[i], turns[i], place[h.Key] = h.Key[:], int64(h.Held), h.Turn, i
	}
	err = l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		if alone {
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
			sums[place[[16]byte(key)]] = sum
		}
		return rows.Err()
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("say what is held: %w", err)
	}
	return sums, nil
}

// Sweep forgets who is as fresh as ever, and what is no longer held.
func (l *Ledger) Sweep(ctx context.Context, now int64) error {
	err := l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := tx.Queue(ctx, deleteIdle, now); err != nil {
			return err
		}
		return tx.Queue(ctx, deleteFree)
	}, nil)
	if err != nil {
		return fmt.Errorf("forget idle identities: %w", err)
	}
	return nil
}

// Package ledger implements ratelimit.Ledger in two unlogged tables of PostgreSQL, so that the processes of a service
// count together (docs/spec/limits.md#several-processes): rate_limit has a theoretical arrival time for each identity
// and window, and rate_held how much each process holds. A crash of the server empties the tables, and counting starts
// anew; unlogged tables write no log, and a count is worth less than the writes it would cost.
//
// Identities are stored as hashes only. A process that is killed leaves rows in rate_held, which expire after
// ratelimit.HoldFor. Rows that no longer count stay until Sweep, which a periodic job calls. On SQLite there is only
// one process and no ledger.
package ledger

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Ledger is a ratelimit.Ledger on PostgreSQL. It is safe for concurrent use.
type Ledger struct {
	db      *db.DB
	process string // a random name: whose rows in rate_held are this process's
}

// New returns the ledger of a migrated PostgreSQL database. Each Ledger counts as a process of its own, so a process
// must have exactly one. The caller keeps and closes the database.
func New(d *db.DB) *Ledger { return &Ledger{d, rand.Text()} }

// Add implements ratelimit.Ledger in one statement, which locks the rows in the order of their keys, so that
// concurrent calls cannot deadlock. Keys must be distinct: a statement cannot update a row twice.
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

// Hold implements ratelimit.Ledger. Keys must be distinct. The sums include rows of other processes that had been
// committed before the statement began; only exclusive calls for a key see each other.
func (l *Ledger) Hold(ctx context.Context, holdings []ratelimit.Holding, exclusive bool) (sums []int, err error) {
	keys, held, turns := make([][]byte, len(holdings)), make([]int64, len(holdings)), make([]int64, len(holdings))
	index := make(map[[16]byte]int, len(holdings))
	for i, h := range holdings {
		keys[i], held[i], turns[i], index[h.Key] = h.Key[:], int64(h.Held), h.Turn, i
	}
	err = l.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
		// The lock ends with the transaction. Without it two processes could each insert its row and not see the
		// other's.
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

// Sweep deletes the rows of identities whose limit is available in full at now, in microseconds since 1970, and of
// holdings that have expired. Missing rows mean the same, so it may run at any time, in any process.
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

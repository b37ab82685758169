package original

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/db"
)

// These are for PostgreSQL alone.
const (
	insertParts = "INSERT INTO original (quarter, id, data) VALUES ($1, $2, $3)"
	selectParts = "SELECT data FROM original WHERE quarter = $1 AND id >= $2 AND id <= $3 ORDER BY id"

	selectPartitions = `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = CAST('original' AS regclass)`
	selectPartition = "SELECT to_regclass($1) IS NOT NULL"

	// Who changes the partitions holds this until the transaction ends.
	lockPartitions = "SELECT pg_advisory_xact_lock(7164204)"
	// Dropping one waits for whoever uses the table, and who comes after waits behind it: not for long.
	boundLocking = "SET LOCAL lock_timeout = 500"
)

// partitionName begins the names of partitions; their quarter follows.
const partitionName = "original_"

func named(quarter int64) string { return partitionName + strconv.FormatInt(quarter, 10) }

// creation are the statements that make a partition. It is made beside the table and attached to it, which stops nobody, as
// making it inside would. Rows are never changed, so there is nothing to vacuum; what fits a page stays in it.
func creation(quarter int64) []string {
	name := named(quarter)
	return []string{
		"CREATE TABLE " + name + " (LIKE original INCLUDING ALL) WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false, toast_tuple_target = 8160)",
		fmt.Sprintf("ALTER TABLE original ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", name, quarter, quarter+1),
	}
}

func removal(quarter int64) string { return "DROP TABLE IF EXISTS " + named(quarter) }

// partition makes sure that there is a partition.
func (t *Table) partition(ctx context.Context, quarter int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made[quarter] {
		return nil
	}
	err := t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, lockPartitions); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, selectPartition, named(quarter)).Scan(&there); err != nil || there {
			return err
		}
		for _, statement := range creation(quarter) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		t.made[quarter] = true
	}
	return err
}

// partitions lists the partitions there are.
func (t *Table) partitions(ctx context.Context) (quarters []int64, err error) {
	names, err := db.Collect(ctx, t.db, db.Value[string], selectPartitions)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of originals: %w", err)
	}
	for _, name := range names {
		if q, err := strconv.ParseInt(strings.TrimPrefix(name, partitionName), 10, 64); err == nil {
			quarters = append(quarters, q)
		}
	}
	return quarters, nil
}

func (t *Table) drop(ctx context.Context, quarter int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.made, quarter)
	return t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, statement := range []string{boundLocking, lockPartitions, removal(quarter)} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

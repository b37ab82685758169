package raw

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Only PostgreSQL runs these. On SQLite raw messages are in Segments.
const (
	insertParts = "INSERT INTO raw_message (slot, id, data) VALUES ($1, $2, $3)"
	selectParts = "SELECT data FROM raw_message WHERE slot = $1 AND id >= $2 AND id <= $3 ORDER BY id"

	deleteParts = "DELETE FROM raw_message WHERE slot = $1 AND id < $2"
	deleteAll   = "DELETE FROM raw_message WHERE slot = $1"

	// The size is NULL where the partition has just been dropped.
	selectPartitions = `SELECT c.relname, coalesce(pg_relation_size(c.oid), 0) > 0 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = CAST('raw_message' AS regclass) ORDER BY c.relname`
	selectPartition = "SELECT to_regclass($1) IS NOT NULL"

	// lockPartitions takes a lock until the end of the transaction. All transactions that create or drop partitions take it.
	lockPartitions = "SELECT pg_advisory_xact_lock(7164204)"
	// boundLocking limits how long truncating and dropping wait for transactions that use the table, in milliseconds, since
	// later transactions queue behind them.
	boundLocking = "SET LOCAL lock_timeout = 500"
)

// partitionPrefix is the prefix of the names of partitions. The number of their slot follows.
const partitionPrefix = "raw_message_"

// tableName returns the name of the slot's partition. It has no characters that need quoting.
func (s slot) tableName() string { return partitionPrefix + strconv.FormatInt(int64(s), 10) }

// createStatements returns the statements that create a partition. It is created as a table of its own and then attached, since that blocks no
// other transaction. Rows are never changed, so only wide partitions, in which rows are deleted, need vacuuming.
func (s slot) createStatements() []string {
	vacuum := "autovacuum_enabled = false, toast.autovacuum_enabled = false, "
	if s.isWide() {
		vacuum = ""
	}
	return []string{
		"CREATE TABLE " + s.tableName() + " (LIKE raw_message INCLUDING ALL) WITH (" + vacuum + "toast_tuple_target = 8160)",
		fmt.Sprintf("ALTER TABLE raw_message ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", s.tableName(), s, s+1),
	}
}

// createAhead is how many partitions are created at a time: the one that is needed and the ones after it. Mail therefore
// waits for the creation once a minute, not once in each period (docs/decisions/0044).
const createAhead = 3

// maxKnown is the number of partitions at which Table.known is cleared. A partition that is not known costs a query.
const maxKnown = 4096

// ensurePartition creates a partition unless it exists. It holds the mutex during the transaction, so that concurrent batches
// of this process create the partition only once. lockPartitions has the same effect among processes.
func (t *Table) ensurePartition(ctx context.Context, s slot) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[s] {
		return nil
	}
	var created []slot
	err := t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		created, err = createTx(ctx, tx, s)
		return err
	})
	if err != nil {
		return err
	}
	if len(t.known) > maxKnown {
		clear(t.known)
	}
	for _, s := range created {
		t.known[s] = true
	}
	return nil
}

// createTx creates the partition of s and the ones after it, createAhead in all, and returns their slots. If the partition
// of s exists, it creates none and returns only s.
func createTx(ctx context.Context, tx *db.Tx, s slot) (existing []slot, err error) {
	if _, err := tx.Exec(ctx, lockPartitions); err != nil {
		return nil, err
	}
	for range createAhead {
		var found bool
		if err := tx.QueryRow(ctx, selectPartition, s.tableName()).Scan(&found); err != nil {
			return nil, err
		}
		existing = append(existing, s)
		if found && len(existing) == 1 {
			return existing, nil
		}
		if !found {
			if err := execTx(ctx, tx, s.createStatements()...); err != nil {
				return nil, err
			}
		}
		s = s.next()
	}
	return existing, nil
}

// partition is an existing partition.
type partition struct {
	slot slot
	used bool // the partition is not empty
}

// partitions lists the partitions of the table.
func (t *Table) partitions(ctx context.Context) ([]partition, error) {
	parts, err := db.Collect(ctx, t.db, func(row db.Row) (p partition, err error) {
		var name string
		if err := row.Scan(&name, &p.used); err != nil {
			return p, err
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(name, partitionPrefix), 10, 64)
		p.slot = slot(n)
		return p, err
	}, selectPartitions)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of raw messages: %w", err)
	}
	return parts, nil
}

// emptyPartition truncates a partition, which removes its file. If that has to wait for another transaction, such as a dump,
// longer than boundLocking allows, it deletes the rows instead. Their octets are then erased later, with the partition.
func (t *Table) emptyPartition(ctx context.Context, s slot) error {
	err := t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return execTx(ctx, tx, boundLocking, "TRUNCATE "+s.tableName())
	})
	if err == nil {
		return nil
	}
	exists := true
	if queryErr := t.db.QueryRow(ctx, selectPartition, s.tableName()).Scan(&exists); queryErr == nil && !exists {
		return nil // another process has dropped it
	}
	if !db.Unavailable(err) {
		return partitionError(err, "empty", s)
	}
	return partitionError(t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deleteAll, int64(s))
		return err
	}), "empty", s)
}

// deleteExpired deletes the expired records of a wide partition. Their identifiers begin with the time of expiry.
func (t *Table) deleteExpired(ctx context.Context, s slot, now time.Time) error {
	return partitionError(t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deleteParts, int64(s), idPrefix(now))
		return err
	}), "delete expired records of", s)
}

// dropPartitions drops partitions in one transaction. It holds the mutex, so that batches of this process do not rely on t.known
// meanwhile.
func (t *Table) dropPartitions(ctx context.Context, expired []slot) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	statements := []string{boundLocking, lockPartitions}
	for _, s := range expired {
		delete(t.known, s)
		statements = append(statements, "DROP TABLE IF EXISTS "+s.tableName())
	}
	return t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return execTx(ctx, tx, statements...) })
}

// execTx runs statements without arguments.
func execTx(ctx context.Context, tx *db.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// partitionError adds the operation and the partition to an error. It returns nil for nil.
func partitionError(err error, what string, s slot) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the partition %s of raw messages: %w", what, s.tableName(), err)
}

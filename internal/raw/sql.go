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

	// lockPartitions is held until the end of a transaction that creates or drops partitions.
	lockPartitions = "SELECT pg_advisory_xact_lock(7164204)"
	// boundLocking bounds in milliseconds how long dropping waits for transactions that use the table, since others
	// wait behind it.
	boundLocking = "SET LOCAL lock_timeout = 500"
)

// partitionName is the prefix of the names of partitions. The number of their slot follows.
const partitionName = "raw_message_"

// table returns the name of the slot's partition. It has no characters that need quoting.
func (s slot) table() string { return partitionName + strconv.FormatInt(int64(s), 10) }

// creation returns the statements that create a partition. It is created as a table of its own and then attached, since that blocks no
// other transaction. Rows are never changed, so only wide partitions, in which rows are deleted, need vacuuming.
func (s slot) creation() []string {
	vacuum := "autovacuum_enabled = false, toast.autovacuum_enabled = false, "
	if s.wide() {
		vacuum = ""
	}
	return []string{
		"CREATE TABLE " + s.table() + " (LIKE raw_message INCLUDING ALL) WITH (" + vacuum + "toast_tuple_target = 8160)",
		fmt.Sprintf("ALTER TABLE raw_message ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", s.table(), s, s+1),
	}
}

// makeAhead is how many partitions are created at a time: the one that is needed and those after it, so that mail
// waits for this once a minute and not once in each period (docs/decisions/0044).
const makeAhead = 3

// knownMax bounds Table.made, which is then forgotten: a partition that is not known costs a query.
const knownMax = 4096

// partition creates a partition unless it exists. The lock is held during the transaction, so that concurrent batches
// of this process create it once; across processes lockPartitions does that.
func (t *Table) partition(ctx context.Context, s slot) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made[s] {
		return nil
	}
	var made []slot
	err := t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		made, err = createTx(ctx, tx, s)
		return err
	})
	if err != nil {
		return err
	}
	if len(t.made) > knownMax {
		clear(t.made)
	}
	for _, s := range made {
		t.made[s] = true
	}
	return nil
}

// createTx creates a partition and those after it, and returns those that exist at the end. If the first exists it
// creates none.
func createTx(ctx context.Context, tx *db.Tx, s slot) (there []slot, err error) {
	if _, err := tx.Exec(ctx, lockPartitions); err != nil {
		return nil, err
	}
	for range makeAhead {
		var found bool
		if err := tx.QueryRow(ctx, selectPartition, s.table()).Scan(&found); err != nil {
			return nil, err
		}
		there = append(there, s)
		if found && len(there) == 1 {
			return there, nil
		}
		if !found {
			if err := execTx(ctx, tx, s.creation()...); err != nil {
				return nil, err
			}
		}
		s = s.next()
	}
	return there, nil
}

// partitioned is an existing partition.
type partitioned struct {
	slot slot
	used bool // it is not empty
}

// partitions lists the partitions of the table.
func (t *Table) partitions(ctx context.Context) ([]partitioned, error) {
	parts, err := db.Collect(ctx, t.db, func(row db.Row) (p partitioned, err error) {
		var name string
		if err := row.Scan(&name, &p.used); err != nil {
			return p, err
		}
		n, err := strconv.ParseInt(strings.TrimPrefix(name, partitionName), 10, 64)
		p.slot = slot(n)
		return p, err
	}, selectPartitions)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of raw messages: %w", err)
	}
	return parts, nil
}

// empty truncates a partition, which removes its file. If another transaction, such as a dump, is reading from it for
// longer than boundLocking allows, empty deletes the rows instead; their octets are then erased later, with the
// partition.
func (t *Table) empty(ctx context.Context, s slot) error {
	err := t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		return execTx(ctx, tx, boundLocking, "TRUNCATE "+s.table())
	})
	if err == nil {
		return nil
	}
	there := true
	if gone := t.db.QueryRow(ctx, selectPartition, s.table()).Scan(&there); gone == nil && !there {
		return nil // another process has dropped it
	}
	if !db.Unavailable(err) {
		return wrap(err, "empty", s)
	}
	return wrap(t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deleteAll, int64(s))
		return err
	}), "empty", s)
}

// thin deletes the expired records of a wide partition. Their identifiers begin with the time of expiry.
func (t *Table) thin(ctx context.Context, s slot, now time.Time) error {
	return wrap(t.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, deleteParts, int64(s), idBefore(now))
		return err
	}), "thin", s)
}

// drop drops partitions in one transaction. The lock keeps batches of this process from relying on t.made meanwhile.
func (t *Table) drop(ctx context.Context, over []slot) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	statements := []string{boundLocking, lockPartitions}
	for _, s := range over {
		delete(t.made, s)
		statements = append(statements, "DROP TABLE IF EXISTS "+s.table())
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

// wrap adds the partition to an error, if there is one.
func wrap(err error, what string, s slot) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the partition %s of raw messages: %w", what, s.table(), err)
}

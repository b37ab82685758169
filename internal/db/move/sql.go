package move

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	// The connections of a service have this application name.
	selectServing = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gonebox'"

	insertMark = "INSERT INTO move (digest, source, row_count, secret, finished_at) VALUES ($1, $2, $3, $4, $5)"
	selectMark = "SELECT digest, source, row_count, secret, finished_at FROM move ORDER BY finished_at DESC LIMIT 1"
)

// selectTables lists all tables except partitions.
var selectTables = db.Per{
	SQLite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
	Postgres: `SELECT relname FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace)
		AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
}

// setLockTimeout bounds the wait for other users of the tables, in milliseconds.
const setLockTimeout = "SET LOCAL lock_timeout = 10000"

// Lock modes of PostgreSQL: while the source is read others may read it, too; the target is locked against everything.
const (
	shareMode     = "SHARE"
	exclusiveMode = "ACCESS EXCLUSIVE"
)

// lock keeps the tables from being changed by others until the transaction ends. On SQLite the writer is alone anyway.
func lock(ctx context.Context, tx *db.Tx, mode string) error {
	if tx.Engine() == db.SQLite {
		return nil
	}
	var names []string
	for _, t := range tables() {
		names = append(names, quote(t.name))
	}
	for _, statement := range []string{setLockTimeout, "LOCK TABLE " + strings.Join(names, ", ") + " IN " + mode + " MODE"} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("lock the tables: %w", err)
		}
	}
	return nil
}

func selectNoRows(name string) string { return "SELECT * FROM " + quote(name) + " LIMIT 0" }
func selectCount(name string) string  { return "SELECT count(*) FROM " + quote(name) }

func (t table) selectRows(columns []string) string {
	return "SELECT " + list(columns) + " FROM " + quote(t.name) + " ORDER BY " + t.key
}

func (t table) insert(columns []string) string {
	values := make([]string, len(columns))
	for i := range columns {
		values[i] = fmt.Sprintf("$%d", i+1)
	}
	text := "INSERT INTO " + quote(t.name) + " (" + list(columns) + ") VALUES (" + strings.Join(values, ", ") + ")"
	if !t.triggered {
		return text
	}
	var sets []string
	for _, c := range columns {
		sets = append(sets, quote(c)+" = excluded."+quote(c))
	}
	return text + " ON CONFLICT (" + t.key + ") DO UPDATE SET " + strings.Join(sets, ", ")
}

func list(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = quote(c)
	}
	return strings.Join(quoted, ", ")
}

func quote(name string) string { return `"` + name + `"` }

func scanMark(row db.Row) (m Mark, err error) {
	var at int64
	err = row.Scan(&m.Digest, &m.Source, &m.Rows, &m.Secret, &at)
	m.FinishedAt = time.UnixMicro(at).UTC()
	return m, err
}

package process

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// These statements are for PostgreSQL alone.
const (
	replaceProcess = `INSERT INTO process (id, name, version, roles, started_at, seen_at, ended, minutes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, ended = excluded.ended, minutes = excluded.minutes`
	deleteOld   = "DELETE FROM process WHERE seen_at < $1"
	listProcess = `SELECT name, version, roles, started_at, seen_at, ended, minutes FROM process
		WHERE id <> $1 AND seen_at >= $2 ORDER BY started_at DESC, id LIMIT $3`
)

// replaceTx writes the row of a process, and deletes those that were written before old.
func replaceTx(ctx context.Context, tx *db.Tx, id string, p Process, old time.Time) error {
	minutes, err := json.Marshal(p.minutes)
	if err != nil {
		return fmt.Errorf("encode what a process counted: %w", err)
	}
	ended := 0
	if p.Ended {
		ended = 1
	}
	err = tx.Queue(ctx, replaceProcess, id, p.Name, p.Version, strings.Join(p.Roles, ","), p.StartedAt.UnixMicro(), p.SeenAt.UnixMicro(), ended, string(minutes))
	if err == nil {
		err = tx.Queue(ctx, deleteOld, old.UnixMicro())
	}
	if err != nil {
		return fmt.Errorf("report the process: %w", err)
	}
	return nil
}

// list returns at most max processes but one that have reported since a time, the newest first.
func list(ctx context.Context, q db.Queryer, but string, since time.Time, max int) ([]Process, error) {
	all, err := db.Collect(ctx, q, scan, listProcess, but, since.UnixMicro(), max)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	return all, nil
}

func scan(row db.Row) (p Process, err error) {
	var roles, minutes string
	var started, seen int64
	var ended int
	if err := row.Scan(&p.Name, &p.Version, &roles, &started, &seen, &ended, &minutes); err != nil {
		return p, err
	}
	p.Roles, p.StartedAt, p.SeenAt, p.Ended = strings.Split(roles, ","), db.Moment(started), db.Moment(seen), ended != 0
	return p, json.Unmarshal([]byte(minutes), &p.minutes)
}

package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

const (
	recordBackup = "INSERT INTO backup (id, made_at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET made_at = excluded.made_at"
	selectBackup = "SELECT made_at FROM backup WHERE id = 1"
)

func recordTx(ctx context.Context, tx *db.Tx, at time.Time) error {
	if _, err := tx.Exec(ctx, recordBackup, at.UnixMicro()); err != nil {
		return fmt.Errorf("record the backup: %w", err)
	}
	return nil
}

func last(ctx context.Context, q db.Queryer) (time.Time, error) {
	var at int64
	err := q.QueryRow(ctx, selectBackup).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the last backup was made: %w", err)
	}
	return db.Moment(at), nil
}

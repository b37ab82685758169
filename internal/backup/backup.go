// Package backup remembers when the operator's backup of the database last succeeded. It makes none: the tools of the database do, and
// call gonebox backup record afterwards (docs/operating.md#backup-and-restore).
package backup

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
)

// Log knows the last backup. It is safe for concurrent use.
type Log struct {
	db    *db.DB
	clock clock.Clock
}

// New returns a Log.
func New(d *db.DB, c clock.Clock) *Log { return &Log{d, c} }

// Record records that a backup has succeeded now, and returns the time.
func (l *Log) Record(ctx context.Context) (time.Time, error) {
	now := l.clock.Now().UTC().Truncate(time.Microsecond)
	return now, l.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := recordTx(ctx, tx, now); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, now, "backup.record", "", "")
	})
}

// Last returns when the last backup succeeded; the zero Time if none was recorded.
func (l *Log) Last(ctx context.Context) (time.Time, error) { return last(ctx, l.db) }

package backup_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/backup"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func TestLastBackupIsTheOneRecordedLast(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
		l := backup.New(d, c)
		if at, err := l.Last(t.Context()); err != nil || !at.IsZero() {
			t.Errorf("l.Last() = %v, %v before the first backup, want the zero time", at, err)
		}
		for range 2 {
			c.Advance(time.Hour)
			if _, err := l.Record(t.Context()); err != nil {
				t.Fatal(err)
			}
			if at, err := l.Last(t.Context()); err != nil || !at.Equal(c.Now()) {
				t.Errorf("l.Last() = %v, %v, want %v", at, err, c.Now())
			}
		}
	})
}

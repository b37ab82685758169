package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/reserve"
)

// open opens what is kept: SQLite and segment files in data_dir, or the PostgreSQL that processes share.
func (a *App) open(ctx context.Context, o Options) (err error) {
	if err := makeDataDir(a.cfg.DataDir); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	options := db.Options{Logger: a.log, Commit: o.Commit}
	if a.cfg.Database.URL == "" {
		if a.reserve, err = reserve.Open(a.cfg.DataDir, int64(a.cfg.DiskReserve), a.log); err != nil {
			return err
		}
		options.Space = a.reserve
		s, err := raw.Open(filepath.Join(a.cfg.DataDir, rawFolder), a.clock, a.log)
		if err != nil {
			return err
		}
		a.rawStore = segments{s, a.clock}
	}
	a.db, err = openDatabase(ctx, a.cfg, options)
	if err != nil {
		return err
	}
	if _, _, err = a.db.Migrate(ctx); err != nil {
		return err
	}
	if err := a.openCounts(ctx); err != nil {
		return err
	}
	if a.rawStore == nil {
		a.rawStore = partitions{raw.NewTable(a.db), a.clock}
	}
	return nil
}

func openDatabase(ctx context.Context, cfg *config.Config, o db.Options) (*db.DB, error) {
	if url := string(cfg.Database.URL); url != "" {
		o.Timeout, o.Waiting = cfg.Database.Timeout, databaseWaiting(cfg)
		return db.Open(ctx, url, o)
	}
	return db.Open(ctx, filepath.Join(cfg.DataDir, databaseFile), o)
}

// makeDataDir makes the folder, and its name durable: a loss of power must not take the whole folder with it.
func makeDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// keepReserve finds disk space where there is none, and makes the reserve anew once there is enough: what was deleted leaves
// the log, and then the free pages of the database.
func (a *App) keepReserve(ctx context.Context) error {
	if a.reserve == nil || !a.reserve.Full() {
		return nil
	}
	err := errors.Join(a.db.Purge(ctx), a.db.Shrink(ctx), a.reserve.Restore())
	if errors.Is(err, db.ErrFull) {
		a.log.Debug("no disk space was found", "error", err)
		return nil // readiness says so
	}
	return err
}

// databaseWaiting is how many calls may wait for PostgreSQL at once, by the memory that they keep meanwhile.
func databaseWaiting(cfg *config.Config) int {
	const (
		each  = 64 << 10 // a request with its connection and its goroutine
		least = 1000
	)
	return max(least, int(memoryBudget(cfg)/each))
}

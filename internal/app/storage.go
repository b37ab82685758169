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

// open opens the storage and migrates the database: SQLite and segment files in data_dir, or a shared PostgreSQL. The
// reserve and the lock of the segment files come first, so that a second process on the same data_dir fails before it
// opens the database.
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
	if err := a.openLedger(ctx); err != nil {
		return err
	}
	if a.rawStore == nil {
		a.rawStore = partitions{raw.NewTable(a.db), a.clock}
	}
	return nil
}

// openDatabase opens the database of cfg without migrating it. The caller must close it.
func openDatabase(ctx context.Context, cfg *config.Config, o db.Options) (*db.DB, error) {
	if url := string(cfg.Database.URL); url != "" {
		o.Timeout, o.MaxWaiting = cfg.Database.Timeout, databaseWaiting(cfg)
		if o.SharedWith == nil {
			o.Readers, o.Writers = databaseConnections(cfg)
		}
		return db.Open(ctx, url, o)
	}
	return db.Open(ctx, filepath.Join(cfg.DataDir, databaseFile), o)
}

// makeDataDir creates the data directory, readable only for the user of the service, and syncs its parent, so that the
// directory survives a power failure.
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

// restoreReserve is the periodic job that frees disk space while the disk is full: it truncates SQLite's write-ahead log,
// returns the free pages of the database to the file system, and recreates the reserve once there is enough space. On
// PostgreSQL, where there is no reserve, and while the disk is not full it does nothing.
func (a *App) restoreReserve(ctx context.Context) error {
	if a.reserve == nil || !a.reserve.Full() {
		return nil
	}
	err := errors.Join(a.db.Purge(ctx), a.db.Shrink(ctx), a.reserve.Restore())
	if errors.Is(err, db.ErrFull) {
		a.log.Debug("no disk space could be freed", "error", err)
		return nil // /readyz reports the full disk
	}
	return err
}

// databaseConnections returns how many of the connections to PostgreSQL read and how many write: all but the ledger's
// (openLedger), the one of each database that sends notifications, and the one that receives them.
func databaseConnections(cfg *config.Config) (readers, writers int) {
	const others = ledgerReaders + ledgerWriters + 2 + 1
	n := cfg.Database.Connections - others
	return n / 2, n - n/2
}

// databaseWaiting returns how many calls may wait for PostgreSQL at once (db.Options.MaxWaiting). Waiting calls hold memory
// that is not acquired from the memory budget, so their number is in proportion to it. Further calls fail at once.
func databaseWaiting(cfg *config.Config) int {
	const (
		each  = 64 << 10 // octets of a waiting request with its connection and its goroutine
		least = 1000
	)
	return max(least, int(memoryBudget(cfg)/each))
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/reserve"
	"github.com/gonebox/gonebox/internal/token"
)

// open opens the storage and migrates the database: SQLite and segment files in data_dir, or a shared PostgreSQL. The
// segment files are opened after the database, since opening them erases what has expired, which must not happen beside a
// database that is refused; and before it is migrated, since their lock keeps a second process off data_dir.
func (a *App) open(ctx context.Context, o Options) (err error) {
	defer func() { err = withAdvice(a.cfg, err) }()
	if err := makeDataDir(a.cfg.DataDir); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	options := db.Options{Logger: a.log, Commit: o.Commit}
	if a.cfg.Database.URL == "" {
		if err := checkDatabaseFile(a.cfg); err != nil {
			return err
		}
		if a.reserve, err = reserve.Open(a.cfg.DataDir, int64(a.cfg.DiskReserve), a.log); err != nil {
			return err
		}
		options.Space = a.reserve
	}
	a.db, err = openServedDatabase(ctx, a.cfg, options)
	if err != nil {
		return err
	}
	if a.cfg.Database.URL == "" {
		s, err := raw.Open(filepath.Join(a.cfg.DataDir, rawFolder), a.clock, a.log)
		if err != nil {
			return err
		}
		a.rawStore = segments{s, a.clock}
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

// openServedDatabase is openDatabase for a database that is about to be migrated and served. It returns an error for an empty one beside
// what an earlier service left in data_dir: the database was lost, or is not the one that was meant, and on a new one the service would be
// ready without any of its data. With database.start_empty it logs a warning instead.
func openServedDatabase(ctx context.Context, cfg *config.Config, o db.Options) (_ *db.DB, err error) {
	if cfg.Database.URL == "" {
		if err := checkDatabaseFile(cfg); err != nil {
			return nil, err
		}
	}
	left := leftBehind(cfg.DataDir)
	d, err := openDatabase(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	used, err := d.Used(ctx)
	if err == nil && !used {
		err = checkStartEmpty(cfg, left)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if !used && left != "" && o.Logger != nil {
		o.Logger.Warn("beginning with an empty database, in which nothing belongs to what a service has left in data_dir", "left", left)
	}
	return d, nil
}

// checkDatabaseFile is what openServedDatabase checks of SQLite's file before anything is created: that it is neither missing nor empty.
func checkDatabaseFile(cfg *config.Config) error {
	info, err := os.Stat(filepath.Join(cfg.DataDir, databaseFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return checkStartEmpty(cfg, leftBehind(cfg.DataDir))
	}
	return nil
}

// checkStartEmpty returns an error if a service must not start on an empty database because of what another one has left at a path.
func checkStartEmpty(cfg *config.Config, left string) error {
	if left == "" || cfg.Database.StartEmpty {
		return nil
	}
	return emptyDatabase(cfg, left)
}

// leftBehind returns the path of something in a data directory that only a service with a database leaves there, or "".
func leftBehind(dir string) string {
	for _, name := range []string{token.MasterFile, token.PreviousFile} {
		if path := filepath.Join(dir, name); exists(path) {
			return path
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, rawFolder))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Type().IsRegular() && raw.IsSegment(e.Name()) {
			return filepath.Join(dir, rawFolder)
		}
	}
	return ""
}

// exists reports whether there is something at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// emptyDatabase returns the error for an empty database beside something that a service has left behind at a path.
func emptyDatabase(cfg *config.Config, left string) error {
	const anew = "to begin with an empty database, add --set database.start_empty=true once"
	if cfg.Database.URL != "" {
		return fmt.Errorf("database.url: the database is empty, but there is %s of a service: check the URL, or move the data with gonebox migrate --from sqlite:%s; %s", left, cfg.DataDir, anew)
	}
	return fmt.Errorf("data_dir: there is %s of a service, but %s is missing or empty: restore it, or check data_dir and database.url; %s", left, filepath.Join(cfg.DataDir, databaseFile), anew)
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
	d, err := db.Open(ctx, filepath.Join(cfg.DataDir, databaseFile), o)
	return d, withAdvice(cfg, err)
}

// advised is an error that says what to do.
type advised struct {
	error
	advice string
}

func (e *advised) Error() string { return e.error.Error() + ": " + e.advice }
func (e *advised) Unwrap() error { return e.error }

// withAdvice returns an error of the data directory with what an operator can do about it.
func withAdvice(cfg *config.Config, err error) error {
	if _, done := errors.AsType[*advised](err); done {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &advised{err, fmt.Sprintf("give data_dir (%s) and all in it to the user that runs this command, or set another data_dir", cfg.DataDir)}
	case errors.Is(err, raw.ErrLocked):
		return &advised{err, fmt.Sprintf("a service runs on data_dir (%s); stop it, or set another data_dir", cfg.DataDir)}
	case errors.Is(err, db.ErrDamaged):
		return &advised{err, fmt.Sprintf("restore data_dir (%s) from a backup, or set another data_dir", cfg.DataDir)}
	}
	return err
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

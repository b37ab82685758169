package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/move"
	"github.com/gonebox/gonebox/internal/raw"
)

// MoveReport is the result of Move; see package db/move.
type MoveReport = move.Report

// MoveProgress is the progress of Move.
type MoveProgress = move.Progress

// The SQLite database and the directory of raw messages in data_dir.
const (
	databaseFile = "gonebox.db"
	rawFolder    = "raw"
)

// Move copies all data of a service from one database to another. Each is sqlite:DIR (a data_dir, or the database file in it),
// postgres://…, or "" for the one that cfg names. cfg is the configuration of the service after the move: its secrets.key must
// be the secret that the data was signed and encrypted with. The source is not changed. After a completed move, moving again
// only reports that it is done. progress may be nil.
func Move(ctx context.Context, cfg *config.Config, from, to string, progress func(MoveProgress)) (r MoveReport, err error) {
	if from, err = parseLocation(from, cfg); err != nil {
		return r, fmt.Errorf("--from: %w", err)
	}
	if to, err = parseLocation(to, cfg); err != nil {
		return r, fmt.Errorf("--to: %w", err)
	}
	if from == to {
		return r, fmt.Errorf("--from and --to are the same: %s", redact(from))
	}
	if dir, ok := dataDirOf(from); ok {
		if _, err := os.Stat(filepath.Join(dir, databaseFile)); err != nil {
			return r, fmt.Errorf("--from: there is no database: %w", err)
		}
	}
	proof, err := proveMovedSecret(cfg, from, to)
	if err != nil {
		return r, err
	}
	c := clock.System()
	source, err := openSide(ctx, from, c, requireUsed)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openSide(ctx, to, c, func(context.Context, *db.DB) error { return nil })
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	return move.Run(ctx, source.Side, target.Side, move.Options{Now: c.Now(), Secret: proof, Progress: progress})
}

const sqliteScheme = "sqlite:"

// parseLocation returns a location in full: sqlite: and the absolute path of a data_dir, or a PostgreSQL URL.
func parseLocation(location string, cfg *config.Config) (string, error) {
	if location == "" {
		if url := string(cfg.Database.URL); url != "" {
			return url, nil
		}
		location = sqliteScheme + cfg.DataDir
	}
	if path, ok := strings.CutPrefix(location, sqliteScheme); ok && path != "" {
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if filepath.Base(path) == databaseFile {
			path = filepath.Dir(path)
		}
		return sqliteScheme + path, nil
	}
	if strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://") {
		return location, nil
	}
	return "", errors.New("must be sqlite:PATH or postgres://…")
}

// dataDirOf returns the data_dir of a location; ok is false for PostgreSQL.
func dataDirOf(location string) (dir string, ok bool) {
	return strings.CutPrefix(location, sqliteScheme)
}

// redact returns a location without user, password and parameters, for messages.
func redact(location string) string {
	if _, ok := dataDirOf(location); ok {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		return "postgres://…" // a URL with several hosts, which only pgx can parse
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// side is one end of a move, opened. close closes the database and then the raw messages.
type side struct {
	move.Side
	close func() error
}

// requireUsed returns an error for a database that no service has run on. As the source of a move it is not the one that was meant.
func requireUsed(ctx context.Context, d *db.DB) error {
	used, err := d.Used(ctx)
	if err == nil && !used {
		err = errors.New("--from: the database is empty: no service has run on it")
	}
	return err
}

// openSide opens one end of a move, calls check, and migrates it. On SQLite it holds the lock of the directory of raw messages, so that no
// service can start on it.
func openSide(ctx context.Context, location string, c clock.Clock, check func(context.Context, *db.DB) error) (_ side, err error) {
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	fail := func(err error) (side, error) {
		return side{}, errors.Join(fmt.Errorf("%s: %w", redact(location), err), closeAll())
	}
	var store rawStore
	target := withApplicationName(location)
	if dir, ok := dataDirOf(location); ok {
		if err := makeDataDir(dir); err != nil {
			return fail(err)
		}
		s, err := raw.Open(filepath.Join(dir, rawFolder), c, slog.New(slog.DiscardHandler))
		if errors.Is(err, raw.ErrLocked) {
			err = move.ErrServing
		}
		if err != nil {
			return fail(err)
		}
		store, target = segments{s, c}, filepath.Join(dir, databaseFile)
		closers = append(closers, s.Close)
	}
	d, err := db.Open(ctx, target, db.Options{Readers: 2})
	if err != nil {
		return fail(err)
	}
	closers = append([]func() error{d.Close}, closers...)
	if err := check(ctx, d); err != nil {
		return fail(err)
	}
	if _, _, err := d.Migrate(ctx); err != nil {
		return fail(err)
	}
	if store == nil {
		store = partitions{raw.NewTable(d), c}
	}
	return side{move.Side{DB: d, RawMessages: moveStore{store}, Name: redact(location)}, closeAll}, nil
}

// withApplicationName adds a parameter that distinguishes the connections of a move from those of a service in
// pg_stat_activity.
func withApplicationName(url string) string {
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	return url + mark + "application_name=gonebox-move"
}

// moveStore adapts a rawStore to package db/move, which copies records within its transactions.
type moveStore struct{ rawStore }

// Read returns a raw message as the transaction of q sees it.
func (c moveStore) Read(ctx context.Context, q db.Queryer, ref raw.Ref) ([]byte, error) {
	if p, ok := c.rawStore.(partitions); ok {
		return p.ReadFrom(ctx, q, ref)
	}
	return c.rawStore.Read(ref)
}

// KeepTx writes records and returns when they are on stable storage, or will be when tx commits.
func (c moveStore) KeepTx(ctx context.Context, tx *db.Tx, at time.Time, records []raw.Record) ([]raw.Ref, error) {
	refs, wait, err := c.Append(at, records)
	if err != nil {
		return nil, err
	}
	if err := c.InsertTx(ctx, tx, refs, records); err != nil {
		return nil, err
	}
	return refs, wait()
}

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

// MoveReport is what Move did; see package db/move.
type MoveReport = move.Report

// MoveProgress is how far Move has come.
type MoveProgress = move.Progress

// databaseFile is the SQLite database in data_dir, and rawFolder where the raw messages beside it are.
const (
	databaseFile = "gonebox.db"
	rawFolder    = "raw"
)

// Move carries everything a service keeps from one place to another, each of them sqlite:DIR (its data_dir, or the database
// file in it), postgres://…, or "" for the one that cfg names. cfg is that of the service as it will be: its secrets.key must be
// the secret that the data were signed and sealed with. The source stays as it is. Running it again once it is done finds that.
func Move(ctx context.Context, cfg *config.Config, from, to string, progress func(MoveProgress)) (r MoveReport, err error) {
	if from, err = placeOf(from, cfg); err != nil {
		return r, fmt.Errorf("--from: %w", err)
	}
	if to, err = placeOf(to, cfg); err != nil {
		return r, fmt.Errorf("--to: %w", err)
	}
	if from == to {
		return r, fmt.Errorf("--from and --to are the same: %s", public(from))
	}
	if dir, ok := folder(from); ok {
		if _, err := os.Stat(filepath.Join(dir, databaseFile)); err != nil {
			return r, fmt.Errorf("--from: there is no database: %w", err)
		}
	}
	proof, err := proveSecret(cfg, from, to)
	if err != nil {
		return r, err
	}
	c := clock.System()
	source, err := openSide(ctx, from, c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openSide(ctx, to, c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	return move.Run(ctx, source.Side, target.Side, move.Options{Now: c.Now(), Secret: proof, Progress: progress})
}

const sqliteScheme = "sqlite:"

// placeOf is a place in full: sqlite: and a clean path of a folder, or a URL.
func placeOf(place string, cfg *config.Config) (string, error) {
	if place == "" {
		if url := string(cfg.Database.URL); url != "" {
			return url, nil
		}
		place = sqliteScheme + cfg.DataDir
	}
	if path, ok := strings.CutPrefix(place, sqliteScheme); ok && path != "" {
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if filepath.Base(path) == databaseFile {
			path = filepath.Dir(path)
		}
		return sqliteScheme + path, nil
	}
	if strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://") {
		return place, nil
	}
	return "", errors.New("must be sqlite:PATH or postgres://…")
}

// folder is the data_dir of a place on SQLite.
func folder(place string) (dir string, ok bool) { return strings.CutPrefix(place, sqliteScheme) }

// public is a place without what is secret of it.
func public(place string) string {
	if _, ok := folder(place); ok {
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "postgres://…" // several hosts, which pgx alone understands
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// side is an end of a move, opened.
type side struct {
	move.Side
	close func() error
}

// openSide opens a place, which on SQLite keeps every service away from it, and brings its tables up to date.
func openSide(ctx context.Context, place string, c clock.Clock) (_ side, err error) {
	var closers []func() error
	shut := func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	fail := func(err error) (side, error) {
		return side{}, errors.Join(fmt.Errorf("%s: %w", public(place), err), shut())
	}
	var kept rawStore
	target := named(place)
	if dir, ok := folder(place); ok {
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
		kept, target = segments{s, c}, filepath.Join(dir, databaseFile)
		closers = append(closers, s.Close)
	}
	d, err := db.Open(ctx, target, db.Options{Readers: 2})
	if err != nil {
		return fail(err)
	}
	closers = append([]func() error{d.Close}, closers...)
	if _, _, err := d.Migrate(ctx); err != nil {
		return fail(err)
	}
	if kept == nil {
		kept = partitions{raw.NewTable(d), c}
	}
	return side{move.Side{DB: d, RawMessages: carrier{kept}, Name: public(place)}, shut}, nil
}

// named has the connections of a move told from those of a service.
func named(url string) string {
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	return url + mark + "application_name=gonebox-move"
}

// carrier reads raw messages and keeps them in the transaction of a move.
type carrier struct{ rawStore }

// Read returns a raw message that q sees.
func (c carrier) Read(ctx context.Context, q db.Queryer, ref raw.Ref) ([]byte, error) {
	if p, ok := c.rawStore.(partitions); ok {
		return p.ReadFrom(ctx, q, ref)
	}
	return c.rawStore.Read(ref)
}

// KeepTx keeps records.
func (c carrier) KeepTx(ctx context.Context, tx *db.Tx, at time.Time, records []raw.Record) ([]raw.Ref, error) {
	refs, synced, err := c.Append(at, records)
	if err != nil {
		return nil, err
	}
	if err := c.rawStore.KeepTx(ctx, tx, refs, records); err != nil {
		return nil, err
	}
	return refs, synced.Wait()
}

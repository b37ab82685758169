package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/inbound"
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

// demandSecret demands the secret that everything is signed with where processes share a database. They must share it, too,
// so none is made up for one of them: its tokens would be void in the others.
func (a *App) demandSecret() error {
	if a.shared() && a.cfg.Secrets.Key == "" {
		return errors.New("secrets.key: must be set where database.url is, the same for every process; make one with: openssl rand -base64 32")
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

// deleting has the calls that delete carried out on a full disk.
func deleting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			r = r.WithContext(db.Freeing(r.Context()))
		}
		h.ServeHTTP(w, r)
	})
}

// rawStore keeps raw messages for their short time.
type rawStore interface {
	inbound.RawMessages
	Read(ref raw.Ref) ([]byte, error)
	NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error)
	sweep(ctx context.Context) error
	Close() error
}

// segments are raw messages in files of this machine.
type segments struct {
	*raw.Segments
	clock clock.Clock
}

// Append begins to write records.
func (s segments) Append(at time.Time, records []raw.Record) ([]raw.Ref, inbound.Synced, error) {
	refs, synced, err := s.Segments.Append(at, records)
	return refs, synced, err
}

// KeepTx has nothing to do: Append has written the record.
func (segments) KeepTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error { return nil }

func (s segments) sweep(context.Context) error {
	_, err := s.Sweep(s.clock.Now())
	return err
}

// partitions are raw messages in PostgreSQL.
type partitions struct {
	*raw.Table
	clock clock.Clock
}

// Append gives records their references; the transaction of their messages writes them.
func (p partitions) Append(at time.Time, records []raw.Record) ([]raw.Ref, inbound.Synced, error) {
	refs, err := p.Table.Append(context.Background(), at, records)
	return refs, withRows{}, err
}

func (p partitions) sweep(ctx context.Context) error {
	_, err := p.Sweep(ctx, p.clock.Now())
	return err
}

// withRows is on stable storage when the rows beside it are.
type withRows struct{}

// Wait has nothing to wait for.
func (withRows) Wait() error { return nil }

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Times that bound what PostgreSQL may keep us waiting for.
const (
	connectMax     = 5 * time.Second  // to connect, where the URL says nothing else
	statementMax   = 30 * time.Second // one statement
	transactionMax = time.Minute      // one run of a closure
	idleMax        = 5 * time.Minute  // an idle connection is kept
)

// postgres writes to PostgreSQL: each update is a transaction on a connection of its own.
type postgres struct {
	config   *pgx.ConnConfig
	writers  *sql.DB
	readers  *sql.DB
	notifier *sql.DB // of one connection, so that wake-ups do not wait behind writers
	commit   func(commit func() error) error
	log      *slog.Logger
	each     eachTexts
	rooms    rooms
	turn     sync.Mutex // of updates that were refused several times: they go one after the other

	mu      sync.RWMutex // held for reading by updates, so that close waits for them
	closed  bool
	closing chan struct{}
	once    sync.Once
}

func isURL(target string) bool {
	return strings.HasPrefix(target, "postgres://") || strings.HasPrefix(target, "postgresql://")
}

// openPostgres opens the database that a URL names. It need not be reachable yet: what is asked before it is fails with
// ErrUnavailable.
func openPostgres(_ context.Context, url string, o Options) (*DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("database.url: it cannot be read as a PostgreSQL URL") // the library's own error repeats it, password and all
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectMax
	}
	preset(config, "application_name", "gonebox")
	preset(config, "synchronous_commit", "on") // what was acknowledged survives a loss of power, whatever the server's default
	preset(config, "statement_timeout", fmt.Sprint(statementMax.Milliseconds()))
	reading := config.Copy()
	reading.RuntimeParams["default_transaction_read_only"] = "on"
	p := &postgres{
		config: config, writers: openPool(config, o.Writers), readers: openPool(reading, o.Readers), notifier: openPool(config, 1),
		commit: o.Commit, log: o.Logger, closing: make(chan struct{}),
	}
	return &DB{
		engine: Postgres, store: p, readers: p.readers,
		migrations: func() (*sql.DB, error) { return openPool(migrating(config), 2), nil },
	}, nil
}

// preset sets a parameter of the session unless the URL does.
func preset(config *pgx.ConnConfig, name, value string) {
	if _, set := config.RuntimeParams[name]; !set {
		config.RuntimeParams[name] = value
	}
}

// migrating is the configuration of connections that migrate: a change of the tables takes as long as it takes.
func migrating(config *pgx.ConnConfig) *pgx.ConnConfig {
	patient := config.Copy()
	patient.RuntimeParams["statement_timeout"] = "0"
	return patient
}

func openPool(config *pgx.ConnConfig, n int) *sql.DB {
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	pool.SetConnMaxIdleTime(idleMax)
	return pool
}

// errUnreachable is what readiness says. Anybody may read it, so it does not tell what the driver's own error does: where
// the database is and as whom it is reached.
var errUnreachable = fmt.Errorf("the database cannot be reached: %w", ErrUnavailable)

// ready looks whether the server takes writes: one that only reads, a standby, does not.
func (p *postgres) ready(ctx context.Context) error {
	var standby bool
	if err := p.writers.QueryRowContext(ctx, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'").Scan(&standby); err != nil {
		p.log.WarnContext(ctx, "the database is not ready", "error", err)
		return errUnreachable
	}
	if standby {
		return fmt.Errorf("the database only reads: %w", ErrUnavailable)
	}
	return nil
}

// close lets the updates under way end.
func (p *postgres) close() error {
	p.once.Do(func() { close(p.closing) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return errors.Join(p.writers.Close(), p.notifier.Close())
}

// pause waits for d, less where ctx or the database ends.
func (p *postgres) pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-p.closing:
	}
}

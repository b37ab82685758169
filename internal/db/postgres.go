package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// What Options leave open.
const (
	timeoutDefault = 5 * time.Second
	waitingDefault = 10_000
)

// Times that no option sets.
const (
	idleMax = 5 * time.Minute // an idle connection is kept
	bulkMax = time.Hour       // one statement of a migration or of Bulk
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
	monitor  *monitor
	turn     chan struct{} // of updates that were refused several times: they go one after the other
	noRoom   atomic.Bool   // its disk was full when something was written last; see room

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
	m := monitorOf(o)
	if m != nil {
		o.Timeout = m.timeout
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = o.Timeout / 2 // of each host that the URL names
	}
	preset(config, "application_name", "gonebox")
	preset(config, "synchronous_commit", "on") // what was acknowledged survives a loss of power, whatever the server's default
	server := serverTimeout(o.Timeout)
	preset(config, "statement_timeout", server)
	preset(config, "idle_in_transaction_session_timeout", server)
	if m == nil {
		m = newMonitor(config, o)
	}
	config.DialFunc = m.dialerFor(o.Timeout)
	reading := config.Copy()
	reading.RuntimeParams["default_transaction_read_only"] = "on"
	p := &postgres{
		config: config, monitor: m, turn: make(chan struct{}, 1),
		writers: m.openPool(config, o.Writers), readers: m.openPool(reading, o.Readers), notifier: m.openPool(config, 1),
		commit: o.Commit, log: o.Logger, closing: make(chan struct{}),
	}
	d := &DB{
		engine: Postgres, store: p, readers: p.readers, monitor: m,
		migrations: func() (*sql.DB, error) { return m.openPool(m.migrating(config), 2), nil },
	}
	if o.Beside == nil {
		d.last = func() error { m.close(); return nil }
	}
	return d, nil
}

// monitorOf is the monitor of the database beside which another is opened, or nil.
func monitorOf(o Options) *monitor {
	if o.Beside == nil {
		return nil
	}
	return o.Beside.monitor
}

// serverTimeout is a bound as PostgreSQL takes it, in milliseconds: a little shorter than our own, so that a server that
// answers keeps the connection, and one that was stopped meanwhile ends what we have given up when it goes on.
func serverTimeout(d time.Duration) string { return fmt.Sprint((d - d/10).Milliseconds()) }

// preset sets a parameter of the session unless the URL does.
func preset(config *pgx.ConnConfig, name, value string) {
	if _, set := config.RuntimeParams[name]; !set {
		config.RuntimeParams[name] = value
	}
}

// migrating is the configuration of connections that migrate: a change of the tables takes long.
func (m *monitor) migrating(config *pgx.ConnConfig) *pgx.ConnConfig {
	patient := config.Copy()
	patient.RuntimeParams["statement_timeout"] = serverTimeout(bulkMax)
	patient.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	patient.DialFunc = m.dialerFor(bulkMax)
	return patient
}

// openPool opens a pool of up to n connections. One that is older than the server's last silence is not used again, nor
// is it tried before: the server may have forgotten it, and each would be waited for.
func (m *monitor) openPool(config *pgx.ConnConfig, n int) *sql.DB {
	pool := sql.OpenDB(connector{m, stdlib.GetConnector(*config,
		stdlib.OptionShouldPing(func(_ context.Context, p stdlib.ShouldPingParams) bool {
			return p.IdleDuration > time.Second && !m.outdated(p.Conn)
		}),
		stdlib.OptionResetSession(func(_ context.Context, conn *pgx.Conn) error {
			if m.outdated(conn) {
				return driver.ErrBadConn
			}
			return nil
		}))})
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	pool.SetConnMaxIdleTime(idleMax)
	return pool
}

// connector connects within the monitor's timeout, and not at all while the server is down.
type connector struct {
	monitor *monitor
	driver.Connector
}

// Connect connects.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.monitor.down(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.monitor.timeout)
	defer cancel()
	return c.Connector.Connect(ctx)
}

// errUnreachable is what readiness says. Anybody may read it, so it does not tell what the driver's own error does: where
// the database is and as whom it is reached.
var errUnreachable = fmt.Errorf("the database cannot be reached: %w", ErrUnavailable)

// ready looks whether the server takes writes: one that only reads, a standby, does not.
func (p *postgres) ready(ctx context.Context) error {
	var standby bool
	ctx = p.monitor.begin(ctx)
	defer p.monitor.end()
	if err := p.writers.QueryRowContext(ctx, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'").Scan(&standby); err != nil {
		p.log.WarnContext(ctx, "the database is not ready", "error", err)
		return errUnreachable
	}
	if standby {
		return fmt.Errorf("the database only reads: %w", ErrUnavailable)
	}
	return p.room(ctx)
}

// purge has nothing to do: PostgreSQL reuses and recycles its files by itself (docs/operating.md#what-remains-of-erased-mail).
func (*postgres) purge(context.Context) error { return nil }

// full is for the server to say, when it is written to.
func (*postgres) full() bool { return false }

// shrink has nothing to do.
func (*postgres) shrink(context.Context) error { return nil }

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

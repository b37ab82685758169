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
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Defaults of Options.
const (
	timeoutDefault = 5 * time.Second
	waitingDefault = 10_000
)

// Durations that no option sets.
const (
	idleMax = 5 * time.Minute // before an idle connection is closed
	bulkMax = time.Hour       // of one statement in a migration or in Bulk
)

// postgres writes to PostgreSQL: each update is a transaction on a connection of its own.
type postgres struct {
	config   *pgx.ConnConfig
	writers  *sql.DB
	readers  *sql.DB
	notifier *sql.DB // one connection, so that wake-ups do not wait behind writers
	commit   func(commit func() error) error
	log      *slog.Logger
	each     arrayStatements
	buffers  buffers
	monitor  *monitor
	serial   chan struct{} // held by an update from its try number serialFrom on, so that these run one after the other; capacity 1
	diskFull atomic.Bool   // a write failed because the server's disk was full; see checkDisk

	mu      sync.RWMutex // read-locked by updates, so that close waits for them
	closed  bool
	closing chan struct{}
	once    sync.Once
}

func isURL(target string) bool {
	return strings.HasPrefix(target, "postgres://") || strings.HasPrefix(target, "postgresql://")
}

// openPostgres opens the database that a URL names. The database need not be reachable yet: until it is, calls fail with ErrUnavailable.
func openPostgres(_ context.Context, url string, o Options) (*DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("database.url: it cannot be read as a PostgreSQL URL") // the library's error would include the URL with its password
	}
	if config.ValidateConnect == nil && len(perHost(config)) > 1 {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary // a standby cannot be written to
	}
	m := monitorOf(o)
	if m != nil {
		o.Timeout = m.timeout
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = o.Timeout / 2 // of each host that the URL names
	}
	setDefaultParam(config, "application_name", "gonebox")
	setDefaultParam(config, "synchronous_commit", "on") // commits survive a power failure, whatever the server's default
	server := serverTimeout(o.Timeout)
	setDefaultParam(config, "statement_timeout", server)
	setDefaultParam(config, "idle_in_transaction_session_timeout", server)
	if m == nil {
		m = newMonitor(config, o)
	}
	config.OnNotice = recordWarning
	config.DialFunc = m.dialerFor(o.Timeout)
	reading := config.Copy()
	reading.AfterConnect = setReadOnly
	p := &postgres{
		config: config, monitor: m, serial: make(chan struct{}, 1),
		writers: m.openPool(config, o.Writers), readers: m.openPool(reading, o.Readers), notifier: m.openPool(config, 1),
		commit: o.Commit, log: o.Logger, closing: make(chan struct{}),
	}
	d := &DB{
		engine: Postgres, store: p, readers: p.readers, monitor: m,
		migrations: func() (*sql.DB, error) { return m.openPool(m.migrationConfig(config), 2), nil },
	}
	if o.SharedWith == nil {
		d.closeLast = func() error { m.close(); return nil }
	}
	return d, nil
}

// setReadOnly makes the transactions of a new connection read-only. This is not done with a startup parameter, since a server would then not
// satisfy a URL with target_session_attrs=read-write.
func setReadOnly(ctx context.Context, c *pgconn.PgConn) error {
	return c.Exec(ctx, "SET default_transaction_read_only = on").Close()
}

// monitorOf returns the monitor of Options.SharedWith, or nil.
func monitorOf(o Options) *monitor {
	if o.SharedWith == nil {
		return nil
	}
	return o.SharedWith.monitor
}

// serverTimeout returns the timeout that the server applies, in milliseconds, for a timeout of this process. It is a tenth shorter, so that a
// live server cancels a statement before this process closes the connection, and a server that was frozen rolls back a transaction that
// this process has given up.
func serverTimeout(d time.Duration) string { return fmt.Sprint((d - d/10).Milliseconds()) }

// setDefaultParam sets a parameter of the session unless the URL sets it.
func setDefaultParam(config *pgx.ConnConfig, name, value string) {
	if _, set := config.RuntimeParams[name]; !set {
		config.RuntimeParams[name] = value
	}
}

// migrationConfig returns the configuration of connections that migrate: changing tables may take long.
func (m *monitor) migrationConfig(config *pgx.ConnConfig) *pgx.ConnConfig {
	c := config.Copy()
	c.RuntimeParams["statement_timeout"] = serverTimeout(bulkMax)
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	c.DialFunc = m.dialerFor(bulkMax)
	return c
}

// openPool opens a pool of up to n connections. Connections that were opened before the server was last found not to respond are dropped without
// a ping, which would take the whole timeout for each of them if the server does not know the connection any more.
func (m *monitor) openPool(config *pgx.ConnConfig, n int) *sql.DB {
	pool := sql.OpenDB(connector{m, stdlib.GetConnector(*config, stdlib.OptionBeforeConnect(m.preferHost),
		stdlib.OptionShouldPing(func(_ context.Context, p stdlib.ShouldPingParams) bool {
			return p.IdleDuration > time.Second && !m.isOutdated(p.Conn)
		}),
		stdlib.OptionResetSession(func(_ context.Context, conn *pgx.Conn) error {
			if m.isOutdated(conn) {
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

// errUnreachable is the error of readiness checks. Its text is public, so it does not contain the error of the driver, which names host,
// database and user.
var errUnreachable = fmt.Errorf("the database cannot be reached: %w", ErrUnavailable)

// ready returns an error unless the server accepts writes, which a standby does not.
func (p *postgres) ready(ctx context.Context) error {
	var standby bool
	ctx = p.monitor.begin(ctx)
	defer p.monitor.end()
	if err := p.writers.QueryRowContext(ctx, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'").Scan(&standby); err != nil {
		p.log.WarnContext(ctx, "the database is not ready", "error", err)
		return errUnreachable
	}
	if standby {
		return fmt.Errorf("the database is read-only: %w", ErrUnavailable)
	}
	return p.checkDisk(ctx)
}

// purge has nothing to do: PostgreSQL reuses and recycles its files by itself (docs/operating.md#what-remains-of-erased-mail).
func (*postgres) purge(context.Context) error { return nil }

// full returns false: the server reports a full disk itself, when it is written to.
func (*postgres) full() bool { return false }

// shrink has nothing to do on PostgreSQL.
func (*postgres) shrink(context.Context) error { return nil }

// close waits for the updates that are running.
func (p *postgres) close() error {
	p.once.Do(func() { close(p.closing) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return errors.Join(p.writers.Close(), p.notifier.Close())
}

// pause waits for d, or until ctx or the database ends.
func (p *postgres) pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-p.closing:
	}
}

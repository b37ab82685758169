package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite": no cgo, so the service stays one static binary
)

// busyTimeout is how long, in milliseconds, a connection waits for a lock.
const busyTimeout = "5000"

// pragmas are the pragmas of every connection. There is a busy timeout because another process, such as gonebox domain add, may hold a lock for
// a moment.
const pragmas = "_pragma=busy_timeout(" + busyTimeout + ")&_pragma=foreign_keys(1)&_pragma=temp_store(memory)"

// writerPragmas are the pragmas of a connection that writes. With secure_delete SQLite overwrites what it deletes with zeros, in pages that stay
// in use and in those that become free; Purge removes it from the log.
const writerPragmas = pragmas + "&_pragma=page_size(4096)&_pragma=journal_mode(wal)&_pragma=secure_delete(on)" +
	"&_pragma=wal_autocheckpoint(16000)&_pragma=journal_size_limit(67108864)&_pragma=cache_size(-4096)"

// syncPragma returns the pragma for commits. With synchronous=FULL each commit syncs the log, so that it survives a power failure.
func syncPragma(o Options) string {
	if o.Unsynced {
		return "&_pragma=synchronous(off)"
	}
	return "&_pragma=synchronous(full)"
}

// writeConn is the writer's connection with its prepared statements.
type writeConn struct {
	*sql.Conn
	pool       *sql.DB
	statements map[string]*sql.Stmt
}

func openWriteConn(ctx context.Context, path string, o Options) (*writeConn, error) {
	layer := ""
	if !o.Unsynced {
		var err error
		if layer, err = gatheringParameter(); err != nil {
			return nil, err
		}
	}
	pool, err := sql.Open("sqlite", dsn(path, writerPragmas+syncPragma(o)+layer))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &writeConn{Conn: conn, pool: pool, statements: make(map[string]*sql.Stmt)}, nil
}

func (c *writeConn) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.statements[query]; ok {
		return s, nil
	}
	s, err := c.PrepareContext(ctx, stableLimits(query))
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	c.statements[query] = s
	return s, nil
}

// stableLimits rewrites LIMIT $1 to LIMIT +$1. SQLite plans a statement for the number that is bound to LIMIT $1, so it parses and plans
// the statement again at each execution, which takes as long as reading a short page of messages (BenchmarkLimit). The value of an
// expression such as +$1 does not influence the plan.
func stableLimits(query string) string { return strings.ReplaceAll(query, "LIMIT $", "LIMIT +$") }

// run executes a statement without arguments.
func (c *writeConn) run(ctx context.Context, query string) error {
	_, err := c.exec(ctx, query, nil)
	return err
}

func (c *writeConn) exec(ctx context.Context, query string, args []any) (int64, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", verb(query), classify(err))
	}
	return r.RowsAffected()
}

func (c *writeConn) queue(ctx context.Context, query string, args []any) error {
	_, err := c.exec(ctx, query, args)
	return err
}

func (c *writeConn) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

func (c *writeConn) queryRow(ctx context.Context, query string, args []any) *sql.Row {
	s, err := c.statement(ctx, query)
	if err != nil {
		return c.QueryRowContext(ctx, query, args...) // carries the same error in the row
	}
	return s.QueryRowContext(ctx, args...)
}

func (*writeConn) engine() Engine { return SQLite }

// Close closes the connection; SQLite then writes the log back into the database file.
func (c *writeConn) Close() error {
	for _, s := range c.statements {
		s.Close()
	}
	c.Conn.Close()
	return c.pool.Close()
}

// openSQLite opens the database in a file, which is created if it does not exist.
func openSQLite(ctx context.Context, path string, o Options) (*DB, error) {
	if err := restrictFiles(path); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	w, err := openWriterPatiently(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, classify(err))
	}
	readers, err := openReaders(ctx, path, o.Readers)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s for reading: %w", path, classify(err)), w.close(), w.checkpointer.closeIndex())
	}
	return &DB{
		engine: SQLite, store: w, readers: readers, closeLast: w.checkpointer.closeIndex,
		migrations: func() (*sql.DB, error) { return openMigrations(path) },
	}, nil
}

// restrictFiles creates the file of the database if it does not exist, and makes it and the files beside it readable for their owner alone,
// whatever the umask and the folder. SQLite gives the files that it creates beside the database the mode of the database.
func restrictFiles(path string) error {
	const ownerOnly = 0o600
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, ownerOnly)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Stat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode().Perm() != ownerOnly {
			err = os.Chmod(path+suffix, ownerOnly)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openReaders opens the pool for reads. Its connections cannot write.
func openReaders(ctx context.Context, path string, n int) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", dsn(path, pragmas+"&_pragma=query_only(1)&_pragma=cache_size(-2048)"))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	pool.SetConnMaxIdleTime(time.Minute) // an idle service frees the page caches
	return pool, pool.PingContext(ctx)
}

// openMigrations opens a pool of one connection in addition to the writer's connection, since the migration library needs a pool.
func openMigrations(path string) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", dsn(path, writerPragmas))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return pool, nil
}

func dsn(path, query string) string {
	// A path may contain '?' or '%', which have a meaning in a file: URI.
	return "file:" + strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), "?", "%3F") + "?" + query
}

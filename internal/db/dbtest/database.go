package dbtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gonebox/gonebox/internal/db"
)

// shared is the server of this test program. The first test that needs it starts it; it ends with the program.
type shared struct {
	once   sync.Once
	server *Server
	err    error
	last   atomic.Int64 // number of a database
}

var program shared

// template is the database of which each test gets a copy.
const template = "template_gonebox"

// PostgresURL returns the URL of a new database with all tables, which is dropped when the test ends. The tests of a program share a
// server. Without PostgreSQL the test fails; with -short it is skipped.
func PostgresURL(t testing.TB) string {
	t.Helper()
	return program.startedFor(t).database(t, template)
}

// EmptyPostgresURL is PostgresURL for a database without tables.
func EmptyPostgresURL(t testing.TB) string {
	t.Helper()
	return program.startedFor(t).database(t, "template1")
}

// startedFor starts the server for the first test that needs it.
func (p *shared) startedFor(t testing.TB) *shared {
	t.Helper()
	skipShort(t)
	p.once.Do(p.start)
	if p.err != nil {
		t.Fatalf("start PostgreSQL for the test: %v", p.err)
	}
	return p
}

// skipShort skips a test that needs PostgreSQL with -short.
func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out PostgreSQL")
	}
}

func (p *shared) start() {
	if p.server, p.err = Start(); p.err != nil {
		return
	}
	if p.err = p.server.exec(context.Background(), createDatabase(template, "template1")); p.err == nil {
		p.err = fill(p.server.URL(template))
	}
}

// Create creates a database without tables.
func (s *Server) Create(ctx context.Context, name string) error {
	return s.exec(ctx, createDatabase(name, "template1"))
}

// Seasoned returns settings for Start that are those of a production server: commits are synced, and the segments of the log that Season
// created are kept for reuse.
func Seasoned() []string {
	return []string{"fsync=on", "shared_buffers=256MB", "min_wal_size=2GB", "max_wal_size=4GB"}
}

// Season gives the server log segments for reuse, as a server has that has run for a while. A new server creates each segment while a
// commit waits, which costs as much as writing to it.
func (s *Server) Season(ctx context.Context) error {
	const segments = 120
	if err := s.exec(ctx, fmt.Sprintf(beginSegments, segments)); err != nil {
		return err
	}
	return s.exec(ctx, checkpoint)
}

// Set changes a setting of postgresql.conf in the running server, some time after it returns.
func (s *Server) Set(ctx context.Context, setting string) error {
	return errors.Join(s.exec(ctx, alterSystem+setting), s.exec(ctx, reloadConf))
}

// exec runs a statement on a connection of its own.
func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// fill creates the tables of a database, given by its URL or path.
func fill(target string) (err error) {
	d, err := db.Open(context.Background(), target, db.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, _, err = d.Migrate(context.Background())
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}

func (p *shared) database(t testing.TB, from string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", p.last.Add(1))
	if err := p.server.exec(t.Context(), createDatabase(name, from)); err != nil {
		t.Fatalf("create a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := p.server.exec(context.Background(), dropDatabase(name)); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return p.server.URL(name)
}

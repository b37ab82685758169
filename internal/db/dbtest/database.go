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

// shared is the server of this test program: started by the first test that wants one, gone with the program.
type shared struct {
	once   sync.Once
	server *Server
	err    error
	last   atomic.Int64 // of the databases' numbers
}

var program shared

// template is the database that every test's is a copy of.
const template = "template_gonebox"

// PostgresURL is the URL of a new database with all tables, which is dropped when the test ends. Every test program has one
// server for all of its tests. Without PostgreSQL the test fails, and with -short it is skipped.
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

// skipShort skips tests on PostgreSQL with -short, which needs Go alone.
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

// Create makes a database without tables.
func (s *Server) Create(ctx context.Context, name string) error {
	return s.exec(ctx, createDatabase(name, "template1"))
}

// Seasoned are settings of a server as an operator has it, for Start: what it has committed is on the disk, and it keeps as
// much of its log to use again as Season has made.
func Seasoned() []string {
	return []string{"fsync=on", "shared_buffers=256MB", "min_wal_size=2GB", "max_wal_size=4GB"}
}

// Season gives the server what one has that has run for a while: segments of the log to use again. A new server makes each
// segment while a commit waits, which costs as much as what is then written to it.
func (s *Server) Season(ctx context.Context) error {
	const segments = 120
	if err := s.exec(ctx, fmt.Sprintf(beginSegments, segments)); err != nil {
		return err
	}
	return s.exec(ctx, checkpoint)
}

// exec runs a statement on a connection that leaves nothing behind.
func (s *Server) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// fill makes the tables of a database, named by its URL or its path.
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
		t.Fatalf("make a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := p.server.exec(context.Background(), dropDatabase(name)); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return p.server.URL(name)
}

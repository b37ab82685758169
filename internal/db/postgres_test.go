package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func count(ctx context.Context, q db.Queryer) (n int, err error) {
	err = q.QueryRow(ctx, "SELECT count(*) FROM public_domain").Scan(&n)
	return n, err
}

// Each update counts the rows and inserts one if there are fewer than the limit. If two updates did so without seeing each other, there would be
// more rows than the limit allows.
func TestUpdatesAreSerializable(t *testing.T) {
	const room, asking = 5, 40
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var after, done atomic.Int32
		var wg sync.WaitGroup
		for i := range asking {
			wg.Go(func() {
				added := false
				err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					added = false
					n, err := count(ctx, tx)
					if err != nil || n >= room {
						return err
					}
					tx.AfterCommit(func() { after.Add(1) })
					added = true
					return add(fmt.Sprintf("d%d.example", i))(ctx, tx)
				})
				if err != nil {
					t.Error(err)
				}
				if added {
					done.Add(1)
				}
			})
		}
		wg.Wait()
		n, err := count(t.Context(), d)
		if err != nil || n != room || done.Load() != room || after.Load() != room {
			t.Errorf("%d rows, %d updates that added one, AfterCommit ran %d times, %v; want %d of each", n, done.Load(), after.Load(), err, room)
		}
	})
}

func TestAgainIsTrueInARetry(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	if err := d.Update(t.Context(), add("a.example")); err != nil {
		t.Fatal(err)
	}
	runs, after := 0, 0
	err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if runs++; tx.Again() != (runs > 1) {
			t.Errorf("run %d: Again() = %t, want true from the second run on", runs, tx.Again())
		}
		tx.AfterCommit(func() { after++ })
		if _, err := count(ctx, tx); err != nil {
			return err
		}
		if runs == 1 { // a concurrent update, which this one has not read
			other := make(chan error)
			go func() {
				other <- d.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error {
					_, err := tx.Exec(ctx, "UPDATE public_domain SET active = 0")
					return err
				})
			}()
			if err := <-other; err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "UPDATE public_domain SET created_at = 1")
		return err
	})
	if err != nil || runs != 2 || after != 1 {
		t.Errorf("%d runs, AfterCommit %d times, %v, want 2 and 1", runs, after, err)
	}
}

// The closure is also run again if a queued statement conflicts with another transaction, although the error is returned by a later read.
func TestConflictFoundByALaterReadIsRetried(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	if err := d.Update(t.Context(), add("a.example")); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(context.Context, *db.Tx) error{
		"one row": func(ctx context.Context, tx *db.Tx) error { _, err := count(ctx, tx); return err },
		"many rows": func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Collect(ctx, tx, db.Value[string], "SELECT name FROM public_domain")
			return err
		},
		"none": func(context.Context, *db.Tx) error { return nil },
	} {
		runs := 0
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			runs++
			if _, err := count(ctx, tx); err != nil {
				return err
			}
			if runs == 1 { // a concurrent update
				other := make(chan error)
				go func() {
					other <- d.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error {
						_, err := tx.Exec(ctx, "UPDATE public_domain SET active = 0")
						return err
					})
				}()
				if err := <-other; err != nil {
					return err
				}
			}
			if err := tx.Queue(ctx, "UPDATE public_domain SET created_at = 1"); err != nil {
				return err
			}
			return read(ctx, tx)
		})
		if err != nil || runs != 2 {
			t.Errorf("%s: %d runs, %v, want 2", name, runs, err)
		}
	}
}

// A transaction that locks the rows it reads is not rolled back, however many do so at the same time.
func TestLockedUpdatesWaitForEachOther(t *testing.T) {
	const workers, each = 8, 25
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		if err := d.Update(t.Context(), add("a.example")); err != nil {
			t.Fatal(err)
		}
		lock := db.Per{Postgres: " FOR UPDATE"}
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range each {
					err := d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
						var n int64
						if err := tx.QueryRow(ctx, "SELECT created_at FROM public_domain"+lock.On(tx.Engine())).Scan(&n); err != nil {
							return err
						}
						if tx.Again() {
							t.Error("Again() = true in an update that locks its row, want it to run once")
						}
						return tx.Queue(ctx, "UPDATE public_domain SET created_at = $1", n+1)
					}, nil)
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var n int
		if err := d.QueryRow(t.Context(), "SELECT created_at FROM public_domain").Scan(&n); err != nil || n != workers*each {
			t.Errorf("the row has the count %d, %v, want %d", n, err, workers*each)
		}
	})
}

func TestFailingQueuedStatementRollsBackAll(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			tx.AfterCommit(func() { t.Error("AfterCommit ran, want it left out since a statement failed") })
			for _, name := range []string{"a.example", "b.example", "a.example", "c.example"} {
				if err := tx.Queue(ctx, insert, name); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || errors.Is(err, db.ErrUnavailable) {
			t.Errorf("Update = %v, want the error of the statement that failed", err)
		}
		if got := names(t, d); got != "" {
			t.Errorf("the failed update stored %s, want nothing", got)
		}
	})
}

func TestManyQueuedStatementsAreAllExecuted(t *testing.T) {
	const n = 3000
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for i := range n {
				if err := tx.Queue(ctx, insert, fmt.Sprintf("d%d.example", i)); err != nil {
					return err
				}
			}
			if got, err := count(ctx, tx); err != nil || got != n { // queued statements are executed before a read
				t.Errorf("%d rows inside, %v, want %v", got, err, n)
			}
			return nil
		})
		if got, _ := count(t.Context(), d); err != nil || got != n {
			t.Errorf("%d rows, %v, want %v", got, err, n)
		}
	})
}

// A failed statement rolls the transaction back, even if the closure ignores the error.
func TestIgnoredFailureOfAStatementFailsTheUpdate(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_ = add("a.example")(ctx, tx)
		_ = add("a.example")(ctx, tx)
		return nil
	})
	if err == nil || names(t, d) != "" {
		t.Errorf("Update = %v, and %q is stored, want an error and nothing stored", err, names(t, d))
	}
}

// PostgreSQL can store neither NUL nor invalid UTF-8, and clients send both.
func TestAnyTextCanBeStoredAndLookedUp(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		type named string
		for _, text := range []any{"a\x00b", "\xff\xfe", named("x\x00"), strings.Repeat("\x00", 100), "ế\xe1"} {
			if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, insert, text)
				return err
			}); err != nil {
				t.Errorf("store %q: %v", text, err)
			}
			var n int
			if err := d.QueryRow(t.Context(), "SELECT count(*) FROM public_domain WHERE name = $1", text).Scan(&n); err != nil || n != 1 {
				t.Errorf("look for %q: %d, %v, want 1", text, n, err)
			}
		}
	})
}

func TestProcessesThatStartTogetherMigrateOnce(t *testing.T) {
	url := dbtest.EmptyPostgresURL(t)
	var first atomic.Int32
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			d, err := db.Open(t.Context(), url, db.Options{Timeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			from, to, err := d.Migrate(t.Context())
			if from == 0 {
				first.Add(1)
			}
			if err := errors.Join(err, d.Migrated(t.Context()), d.Close()); err != nil || to == 0 {
				t.Errorf("migrated from the version %d to %d: %v, want to a version and no error", from, to, err)
			}
		})
	}
	wg.Wait()
	if n := first.Load(); n != 1 {
		t.Errorf("%d made the tables, want 1", n)
	}
}

// Identifiers sort by time, and names are compared as on SQLite, whatever the collation of the database.
func TestTextIsComparedByOctets(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	const byLanguage = `SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = CAST('public' AS regnamespace) AND c.relkind = 'r' AND c.relname <> 'goose_db_version'
		AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = CAST('text' AS regtype) AND a.attcollation <> CAST('"C"' AS regcollation)`
	var n int
	if err := d.QueryRow(t.Context(), byLanguage).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d columns are compared by language, %v, want 0", n, err)
	}
}

func TestUpdatesFailWhileTheServerIsDown(t *testing.T) {
	server := dbtest.StartServer(t)
	d, err := db.Open(t.Context(), server.URL("postgres"), db.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, away := range []func() error{server.Stop, server.Kill} {
		if err := errors.Join(d.Ready(t.Context()), d.Update(t.Context(), add(fmt.Sprintf("d%d.example", i)))); err != nil {
			t.Fatal(err)
		}
		if err := away(); err != nil {
			t.Fatal(err)
		}
		if err := d.Update(t.Context(), add("away.example")); !errors.Is(err, db.ErrUnavailable) {
			t.Errorf("Update = %v, want the error %v", err, db.ErrUnavailable)
		}
		for _, err := range []error{d.Ready(t.Context()), d.Migrated(t.Context())} {
			if err == nil || strings.Contains(err.Error(), "/tmp") || strings.Contains(err.Error(), "user") { // the error is public
				t.Errorf("readiness without its server: %v, want an error that tells neither folder nor user", err)
			}
		}
		if _, err := d.Query(t.Context(), "SELECT 1"); !db.Unavailable(err) { //nolint:rowserrcheck // there are no rows
			t.Errorf("Query without its server: %v, want an error that the database is unavailable", err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.Ready(t.Context()), d.Update(t.Context(), add(fmt.Sprintf("back%d.example", i)))); err != nil {
			t.Errorf("it does not come back: %v", err)
		}
	}
	if got := names(t, d); got != "back0.example back1.example d0.example d1.example" {
		t.Errorf(`stored: %s, want "back0.example back1.example d0.example d1.example"`, got)
	}
}

func TestListenReconnects(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	began, heard := make(chan struct{}, 10), make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		d.Listen(ctx, "news", func() { began <- struct{}{} }, func(text string) { heard <- text })
	})
	defer wg.Wait()
	defer cancel()
	const listening = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`
	connections := func() (n int) {
		t.Helper()
		if err := d.QueryRow(t.Context(), "SELECT count(*) "+listening).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2 {
		wait(t, began)
		if err := d.Notify(t.Context(), "news", []string{"one", "two"}); err != nil {
			t.Fatal(err)
		}
		if got := wait(t, heard) + " " + wait(t, heard); got != "one two" {
			t.Errorf(`heard %s, want "one two"`, got)
		}
		eventuallyOK(t, func() error { // the process of the connection before may still be ending
			if n := connections(); n != 1 {
				return fmt.Errorf("%d connections listen, want 1", n)
			}
			return nil
		})
		var n int
		if err := d.QueryRow(t.Context(), "SELECT count(pg_terminate_backend(pid)) "+listening).Scan(&n); err != nil || n != 1 {
			t.Fatalf("%d connections were ended, %v, want 1", n, err)
		}
	}
	wait(t, began)
}

func wait[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing came from the channel within a minute")
	}
	return v
}

// If a URL with several hosts requires one that accepts writes, read-only connections use that host, too.
func TestConnectionsAreToTheHostThatAcceptsWrites(t *testing.T) {
	for _, attrs := range []string{"read-write", "primary"} {
		url := dbtest.PostgresURL(t) + "&target_session_attrs=" + attrs
		d, err := db.Open(t.Context(), url, db.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		var readOnly string
		if err := d.QueryRow(t.Context(), "SELECT current_setting('transaction_read_only')").Scan(&readOnly); err != nil || readOnly != "on" {
			t.Errorf(`%s: a read has transaction_read_only %q, %v, want "on"`, attrs, readOnly, err)
		}
		if err := d.Update(t.Context(), add("a.example")); err != nil {
			t.Errorf("Update of a database with %s: %v", attrs, err)
		}
	}
}

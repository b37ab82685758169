package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

const insertPage = "INSERT INTO page (key, locale, title, html, updated_at) VALUES ($1, '', '', '', 1)"

func TestBulkIsAllOrNothing(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		write := func(ctx context.Context, key string, end func() error) error {
			return d.Bulk(ctx, func(ctx context.Context, tx *db.Tx) error {
				for _, queued := range []string{key + "-1", key + "-2"} {
					if err := tx.Queue(ctx, insertPage, queued); err != nil {
						return err
					}
				}
				return end()
			})
		}
		failure := errors.New("a failure")
		if err := write(t.Context(), "failed", func() error { return failure }); !errors.Is(err, failure) {
			t.Errorf("a failure came back as %v, want the error %v", err, failure)
		}
		if err := write(t.Context(), "panicked", func() error { panic("a panic") }); err == nil {
			t.Error("a panic in Bulk came back as nil, want an error")
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := write(ctx, "cancelled", func() error { cancel(); return ctx.Err() }); !errors.Is(err, context.Canceled) {
			t.Errorf("an end came back as %v, want the error %v", err, context.Canceled)
		}
		if err := write(t.Context(), "good", func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		keys, err := db.Collect(t.Context(), d, db.Value[string], "SELECT key FROM page ORDER BY key")
		if err != nil || len(keys) != 2 || keys[0] != "good-1" || keys[1] != "good-2" {
			t.Errorf("%v are stored (%v), want good-1 and good-2", keys, err)
		}
	})
}

func TestBulkInsideAnUpdateIsRefused(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, _ *db.Tx) error {
			if err := d.Bulk(ctx, func(context.Context, *db.Tx) error { return nil }); err == nil {
				t.Error("Bulk within an Update returned no error, want it refused")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestBulkReadsOneSnapshot runs only on PostgreSQL, where other transactions can write meanwhile; SQLite has a single writer.
func TestBulkReadsOneSnapshot(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	count := func(q db.Queryer) (n int) {
		if err := q.QueryRow(t.Context(), "SELECT count(*) FROM page").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	err := d.Bulk(t.Context(), func(_ context.Context, tx *db.Tx) error {
		before := count(tx)
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, insertPage, "meanwhile")
			return err
		}); err != nil {
			return err
		}
		if now, inside := count(d), count(tx); inside != before || now != before+1 {
			t.Errorf("the transaction saw %d rows and then %d, and outside there are %d; want %d, %d and %d", before, inside, now, before, before, before+1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTextIsStoredInTheFormOfTheEngine(t *testing.T) {
	for text, want := range map[string]string{"plain ü": "plain ü", "a\x00b": "a\uFFFDb", "a\xffb": "a\uFFFDb"} {
		if got := db.Postgres.Text(text); got != want {
			t.Errorf("PostgreSQL keeps %q as %q, want %q", text, got, want)
		}
		if got := db.SQLite.Text(text); got != text {
			t.Errorf("SQLite keeps %q as %q, want it as it is", text, got)
		}
	}
}

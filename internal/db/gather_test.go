package db

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
)

// A transaction that does not fit into the writer's cache is in the log before it is committed. The writer reads it there, and another
// connection, which does not gather, sees what was committed and nothing that was rolled back.
func TestGatheredLogIsReadByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	d := openPlain(t, path)
	defer d.Close()
	exec(t, d, 1, "CREATE TABLE page (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
	other, err := sql.Open("sqlite", dsn(path, pragmas))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	const rows = 2500 // of a page each, which is more than twice the cache
	refused := errors.New("refused")
	for round, fails := range []bool{false, true, false, true, false} {
		exec(t, d, 1, "INSERT INTO page (data) VALUES ($1)", make([]byte, 10))
		err := d.Update(t.Context(), func(ctx context.Context, tx *Tx) error {
			for range rows {
				if _, err := tx.Exec(ctx, "INSERT INTO page (data) VALUES (randomblob(4000))"); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, "UPDATE page SET data = randomblob(4000) WHERE id % 3 = 0"); err != nil {
				return err
			}
			var n, octets int
			if err := tx.QueryRow(ctx, "SELECT count(*), sum(length(data)) FROM page WHERE length(data) = 4000").Scan(&n, &octets); err != nil {
				return err
			}
			if n < rows || octets != n*4000 {
				t.Errorf("round %d: the transaction reads %d rows of %d octets in all, want at least %d of 4000 octets each", round, n, octets, rows)
			}
			if fails {
				return refused
			}
			return nil
		})
		if fails != errors.Is(err, refused) || !fails && err != nil {
			t.Fatalf("round %d: Update(%d rows) = %v, want refused only where it fails: %t", round, rows, err, fails)
		}
		var n int
		if err := other.QueryRow("SELECT count(*) FROM page").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if committed := round/2 + 1; n != committed*rows+round+1 {
			t.Errorf("round %d: another connection counts %d rows, want %d", round, n, committed*rows+round+1)
		}
		var state string
		if err := other.QueryRow("PRAGMA integrity_check").Scan(&state); err != nil || state != "ok" {
			t.Errorf("round %d: PRAGMA integrity_check = %q, %v, want ok", round, state, err)
		}
	}
}

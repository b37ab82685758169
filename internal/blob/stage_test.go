package blob_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

func rows(t *testing.T, d *db.DB, table string) (n int) {
	t.Helper()
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func wantRows(t *testing.T, d *db.DB, want map[string]int) {
	t.Helper()
	for table, n := range want {
		if got := rows(t, d, table); got != n {
			t.Errorf("%d rows of %s, want %d", got, table, n)
		}
	}
}

// claim makes a message that refers to everything staged in place of its stage.
func claim(t *testing.T, d *db.DB, message string, staged blob.Staged, contents ...blob.Content) error {
	return d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		if err := tx.Queue(ctx, insertMessage, message, []byte{}, nil); err != nil {
			return err
		}
		for i, c := range contents {
			if err := tx.Queue(ctx, insertAttachment, message, string(rune('a'+i)), []byte{}, c.Key[:]); err != nil {
				return err
			}
		}
		var refs blob.References
		refs.AddStaged(staged, 1)
		return blob.InsertTx(ctx, tx, &refs)
	})
}

func TestStagedContentIsStoredInSeveralTransactionsAndClaimed(t *testing.T) {
	commits := 0
	counted := db.Options{Commit: func(commit func() error) error { commits++; return commit() }}
	for name, d := range map[string]*db.DB{"sqlite": dbtest.Open(t, counted), "postgres": dbtest.OpenPostgres(t, counted)} {
		t.Run(name, func(t *testing.T) {
			large, larger := random(1, 5<<20), random(2, 7<<20+1)
			contents := []blob.Content{large, contentOf(1), larger, large, contentOf(0)}
			stager := blob.NewStager(d)
			commits = 0
			staged, err := stager.Stage(t.Context(), noon(), contents)
			if err != nil {
				t.Fatal(err)
			}
			if commits < 7 || commits > 8 {
				t.Errorf("12 MiB were stored in %d transactions", commits)
			}
			wantRows(t, d, map[string]int{"blob": 4, "blob_stage": 4})
			if err := claim(t, d, "1", staged, contents...); err != nil {
				t.Fatal(err)
			}
			wantRows(t, d, map[string]int{"blob": 4, "blob_stage": 0, "blob WHERE refs = 2": 1, "blob WHERE refs = 1": 3})
			for _, c := range contents {
				if got, err := blob.Read(t.Context(), d, c.Key, 0, 1<<40); err != nil || !bytes.Equal(got, c.Data) {
					t.Errorf("%d octets instead of %d, %v", len(got), len(c.Data), err)
				}
			}
			if n, err := stager.Sweep(t.Context(), noon().Add(24*time.Hour)); n != 0 || err != nil {
				t.Errorf("swept %d, %v", n, err)
			}
			if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return deleteTx(ctx, tx, "1") }); err != nil {
				t.Fatal(err)
			}
			wantRows(t, d, map[string]int{"blob": 0, "blob_chunk": 0})
		})
	}
}

func TestExistingContentIsNotStagedAgain(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		stager, c := blob.NewStager(d), random(1, 3<<20)
		first, err := stager.Stage(t.Context(), noon(), []blob.Content{c})
		if err != nil {
			t.Fatal(err)
		}
		before := rows(t, d, "blob_chunk")
		second, err := stager.Stage(t.Context(), noon(), []blob.Content{c})
		if err != nil {
			t.Fatal(err)
		}
		if after := rows(t, d, "blob_chunk"); after != before {
			t.Errorf("%d chunks became %d", before, after)
		}
		if err := stager.Discard(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if err := claim(t, d, "1", second, c); err != nil {
			t.Fatal(err)
		}
		if got, err := blob.Read(t.Context(), d, c.Key, 0, 1<<40); err != nil || !bytes.Equal(got, c.Data) {
			t.Errorf("%d octets, %v", len(got), err)
		}
	})
}

// A process that died has stored some of the chunks only, or all of them.
func TestStagedContentOfADeadProcessIsSwept(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		stager, c := blob.NewStager(d), random(1, 3<<20)
		lost, err := stager.Stage(t.Context(), noon(), []blob.Content{c, contentOf(1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM blob_chunk WHERE number > 20")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		again, err := stager.Stage(t.Context(), noon().Add(10*time.Minute), []blob.Content{c})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := stager.Sweep(t.Context(), noon().Add(14*time.Minute)); n != 0 || err != nil {
			t.Errorf("swept %d that may still be claimed, %v", n, err)
		}
		if n, err := stager.Sweep(t.Context(), noon().Add(16*time.Minute)); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		wantRows(t, d, map[string]int{"blob": 1, "blob_stage": 1})
		if err := claim(t, d, "1", lost, c, contentOf(1)); !errors.Is(err, blob.ErrStageLost) || !errors.Is(err, db.ErrUnavailable) {
			t.Errorf("claiming what was swept: %v", err)
		}
		if err := claim(t, d, "1", again, c); err != nil {
			t.Fatal(err)
		}
		if got, err := blob.Read(t.Context(), d, c.Key, 0, 1<<40); err != nil || !bytes.Equal(got, c.Data) {
			t.Errorf("%d octets, %v", len(got), err)
		}
	})
}

func TestStagingEndsWithItsContext(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := blob.NewStager(d).Stage(ctx, noon(), []blob.Content{contentOf(5)}); err == nil {
			t.Error("no error")
		}
		wantRows(t, d, map[string]int{"blob": 0, "blob_chunk": 0, "blob_stage": 0})
	})
}

// TestConcurrentStagesShareContent has several goroutines stage, claim, discard and delete the same contents.
func TestConcurrentStagesShareContent(t *testing.T) {
	const workers, rounds = 4, 12
	contents := []blob.Content{random(1, 3<<20), random(2, 200_000), random(3, 64<<10), contentOf(1)}
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() {
				stager := blob.NewStager(d) // each is a process
				for round := range rounds {
					mine := contents[(w+round)%len(contents):]
					staged, err := stager.Stage(t.Context(), noon(), mine)
					if err != nil {
						t.Error(err)
						return
					}
					if round%3 == 0 {
						err = stager.Discard(t.Context(), staged)
					} else if err = claim(t, d, string(rune('A'+w)), staged, mine...); err == nil {
						err = d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return deleteTx(ctx, tx, string(rune('A'+w))) })
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		wantRows(t, d, map[string]int{"blob": 0, "blob_chunk": 0, "blob_stage": 0})
	})
}

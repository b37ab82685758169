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
			t.Errorf("SELECT count(*) FROM %s: got %d, want %d", table, got, n)
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
				t.Errorf("Stage of 12 MiB: got %d transactions, want 7 or 8", commits)
			}
			wantRows(t, d, map[string]int{"blob": 4, "blob_stage": 4})
			if err := claim(t, d, "1", staged, contents...); err != nil {
				t.Fatal(err)
			}
			wantRows(t, d, map[string]int{"blob": 4, "blob_stage": 0, "blob WHERE refs = 2": 1, "blob WHERE refs = 1": 3})
			for _, c := range contents {
				if got, err := blob.Read(t.Context(), d, c.Key, 0, 1<<40); err != nil || !bytes.Equal(got, c.Data) {
					t.Errorf("Read of a claimed content: got %d octets and the error %v, want the %d that were staged", len(got), err, len(c.Data))
				}
			}
			if n, err := stager.Sweep(t.Context(), noon().Add(24*time.Hour)); n != 0 || err != nil {
				t.Errorf("Sweep of claimed contents: got %d erased and the error %v, want 0", n, err)
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
			t.Errorf("Stage of a content that is stored: got %d chunks, want the %d that were there", after, before)
		}
		if err := stager.Discard(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if err := claim(t, d, "1", second, c); err != nil {
			t.Fatal(err)
		}
		if got, err := blob.Read(t.Context(), d, c.Key, 0, 1<<40); err != nil || !bytes.Equal(got, c.Data) {
			t.Errorf("Read of a claimed content: got %d octets and the error %v, want the %d that were staged", len(got), err, len(c.Data))
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
			t.Errorf("Sweep after 14 minutes: got %d erased and the error %v, want 0, since all may still be claimed", n, err)
		}
		if n, err := stager.Sweep(t.Context(), noon().Add(16*time.Minute)); n != 1 || err != nil {
			t.Errorf("Sweep after 16 minutes: got %d erased and the error %v, want 1", n, err)
		}
		wantRows(t, d, map[string]int{"blob": 1, "blob_stage": 1})
		if err := claim(t, d, "1", lost, c, contentOf(1)); !errors.Is(err, blob.ErrStageLost) || !errors.Is(err, db.ErrUnavailable) {
			t.Errorf("InsertTx of what was swept: got the error %v, want ErrStageLost and ErrUnavailable", err)
		}
		if err := claim(t, d, "1", again, c); err != nil {
			t.Fatal(err)
		}
		if got, err := blob.Read(t.Context(), d, c.Key, 0, 1<<40); err != nil || !bytes.Equal(got, c.Data) {
			t.Errorf("Read of a claimed content: got %d octets and the error %v, want the %d that were staged", len(got), err, len(c.Data))
		}
	})
}

func TestStagingEndsWithItsContext(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := blob.NewStager(d).Stage(ctx, noon(), []blob.Content{contentOf(5)}); err == nil {
			t.Error("Stage with a context that is cancelled: got no error, want one")
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
						t.Errorf("worker %d, round %d: Stage: got the error %v, want none", w, round, err)
						return
					}
					if round%3 == 0 {
						err = stager.Discard(t.Context(), staged)
					} else if err = claim(t, d, string(rune('A'+w)), staged, mine...); err == nil {
						err = d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return deleteTx(ctx, tx, string(rune('A'+w))) })
					}
					if err != nil {
						t.Errorf("worker %d, round %d: Discard, or claim and delete: got the error %v, want none", w, round, err)
						return
					}
				}
			})
		}
		group.Wait()
		wantRows(t, d, map[string]int{"blob": 0, "blob_chunk": 0, "blob_stage": 0})
	})
}

// What a process staged before it died is left to no client, so the next process on SQLite discards it at once. On PostgreSQL another process
// may still be staging it.
func TestStagedContentIsSweptAfterARestart(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		if _, err := blob.NewStager(d).Stage(t.Context(), noon(), []blob.Content{random(1, 1<<20)}); err != nil {
			t.Fatal(err)
		}
		restarted := blob.NewStager(d)
		c := random(2, 1<<20)
		staged, err := restarted.Stage(t.Context(), noon().Add(time.Second), []blob.Content{c})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if d.Engine() == db.SQLite {
			want = 1
		}
		if n, err := restarted.Sweep(t.Context(), noon().Add(2*time.Second)); n != want || err != nil {
			t.Errorf("Sweep after a restart: got %d erased and the error %v, want %d", n, err, want)
		}
		if err := claim(t, d, "1", staged, c); err != nil {
			t.Errorf("InsertTx of what the process staged itself: got the error %v, want none", err)
		}
	})
}

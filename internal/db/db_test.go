package db_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const insert = "INSERT INTO public_domain (name, active, created_at) VALUES ($1, 1, 0)"

func add(name string) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, insert, name)
		return err
	}
}

func names(t *testing.T, q db.Queryer) string {
	t.Helper()
	rows, err := q.Query(t.Context(), "SELECT name FROM public_domain ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("read rows: got the error %v, want none", err)
	}
	return strings.Join(all, " ")
}

// hold occupies the writer until release is called, so that updates that are sent meanwhile form one group.
func hold(t *testing.T, d *db.DB) (release func()) {
	t.Helper()
	entered, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = d.Update(context.Background(), func(context.Context, *db.Tx) error {
			close(entered)
			<-leave
			return nil
		})
	})
	<-entered
	return func() { close(leave); wg.Wait() }
}

func TestEachClosureOfAGroupFailsAlone(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		refused := errors.New("refused")
		closures := map[string]func(context.Context, *db.Tx) error{
			"good-1": add("a.example"),
			"error": func(ctx context.Context, tx *db.Tx) error {
				tx.AfterCommit(func() { t.Error("AfterCommit ran after a rollback") })
				return errors.Join(add("b.example")(ctx, tx), refused)
			},
			"panic": func(ctx context.Context, tx *db.Tx) error {
				_ = add("c.example")(ctx, tx)
				panic("out of order")
			},
			"constraint": func(ctx context.Context, tx *db.Tx) error {
				return errors.Join(add("d.example")(ctx, tx), add("d.example")(ctx, tx))
			},
			"good-2": add("e.example"),
		}
		release := hold(t, d)
		results := make(map[string]error)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for name, fn := range closures {
			wg.Go(func() {
				err := d.Update(context.Background(), fn)
				mu.Lock()
				defer mu.Unlock()
				results[name] = err
			})
		}
		release()
		wg.Wait()

		for name := range closures {
			if good := strings.HasPrefix(name, "good"); good != (results[name] == nil) {
				t.Errorf("the closure %s returned %v, want success: %t", name, results[name], strings.HasPrefix(name, "good"))
			}
		}
		if !errors.Is(results["error"], refused) {
			t.Errorf("the closure's own error is lost: %v, want the error %v", results["error"], refused)
		}
		if got := names(t, d); got != "a.example e.example" {
			t.Errorf(`stored: %s, want "a.example e.example"`, got)
		}
	})
}

func TestUpdatesReturnAfterTheCommit(t *testing.T) {
	var ran, answered atomic.Int32
	var committed int32 // closures that were run by the commits so far
	d := dbtest.Open(t, db.Options{Commit: func(commit func() error) error {
		mine := ran.Load()
		if n := answered.Load(); n > committed {
			t.Errorf("%d updates were answered when %d had been committed, want no more than those", n, committed)
		}
		err := commit()
		if n := answered.Load(); n > committed {
			t.Errorf("%d updates were answered when %d had been committed, want no more than those", n, committed)
		}
		committed = mine
		return err
	}})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := d.Update(context.Background(), func(ctx context.Context, tx *db.Tx) error {
				ran.Add(1)
				return add(fmt.Sprintf("d%d.example", i))(ctx, tx)
			})
			if err != nil {
				t.Error(err)
			}
			answered.Add(1)
		})
	}
	wg.Wait()
}

func TestFailedClosureAloneInItsGroupIsRolledBack(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		refused := errors.New("refused")
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(add("a.example")(ctx, tx), refused)
		})
		if !errors.Is(err, refused) {
			t.Errorf("Update = %v, want the error %v", err, refused)
		}
		if err := d.Update(t.Context(), add("b.example")); err != nil {
			t.Errorf("the update after it: %v", err)
		}
		if got := names(t, d); got != "b.example" {
			t.Errorf(`stored: %s, want "b.example"`, got)
		}
	})
}

func TestFailedCommitFailsTheWholeGroup(t *testing.T) {
	var broken atomic.Bool
	full := errors.New("no space left on device")
	dbtest.RunWith(t, func(testing.TB) db.Options {
		return db.Options{Commit: func(commit func() error) error {
			if broken.Load() {
				return full
			}
			return commit()
		}}
	}, func(t *testing.T, d *db.DB) { failingCommits(t, d, &broken, full) })
}

func failingCommits(t *testing.T, d *db.DB, broken *atomic.Bool, full error) {
	broken.Store(true)
	woken := false
	err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		tx.AfterCommit(func() { woken = true })
		return add("lost.example")(ctx, tx)
	})
	if !errors.Is(err, db.ErrUnavailable) || !errors.Is(err, full) {
		t.Errorf("Update = %v, want the error %v and the error %v", err, db.ErrUnavailable, full)
	}
	if woken {
		t.Error("AfterCommit ran although the commit failed")
	}
	broken.Store(false)
	if err := d.Update(t.Context(), add("kept.example")); err != nil {
		t.Errorf("the writer did not recover: %v", err)
	}
	if got := names(t, d); got != "kept.example" {
		t.Errorf(`stored: %s, want "kept.example"`, got)
	}
}

func TestAfterCommitRunsBeforeUpdateReturnsAndSeesTheWrite(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var seen string
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			tx.AfterCommit(func() { seen = names(t, d) })
			return add("a.example")(ctx, tx)
		})
		if err != nil || seen != "a.example" {
			t.Errorf(`Update = %v, seen by AfterCommit: %q, want "a.example"`, err, seen)
		}
	})
}

func TestUpdateInsideAnUpdateIsRefused(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, _ *db.Tx) error {
			return d.Update(ctx, add("a.example"))
		})
		if err == nil {
			t.Error("Update within an Update returned no error, want it refused")
		}
	})
}

func TestUpdateWithAnEndedContextIsNotRun(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Update(ctx, add("a.example")); !errors.Is(err, context.Canceled) {
			t.Errorf("Update = %v, want the error %v", err, context.Canceled)
		}
		if got := names(t, d); got != "" {
			t.Errorf("an Update with an ended context stored %s, want nothing", got)
		}
	})
}

func TestReadersCannotWrite(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		rows, err := d.Query(t.Context(), "INSERT INTO public_domain (name, active, created_at) VALUES ('x', 1, 0) RETURNING name")
		if err == nil {
			rows.Next()
			err = rows.Err()
			rows.Close()
		}
		if err == nil {
			t.Error("a reader wrote and got no error, want it refused")
		}
	})
}

func TestReopenedDatabaseKeepsWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd name %3F?#.db")
	for i := range 3 {
		d, err := db.Open(t.Context(), path, db.Options{})
		if err != nil {
			t.Fatal(err)
		}
		from, to, err := d.Migrate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first := i == 0; first != (from < to) {
			t.Errorf("opening %d migrated from %d to %d, want %v", i, from, to, from < to)
		}
		if err := errors.Join(d.Migrated(t.Context()), d.Ready(t.Context())); err != nil {
			t.Error(err)
		}
		if err := d.Update(t.Context(), add(fmt.Sprintf("d%d.example", i))); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if got := names(t, d); got != "d0.example d1.example d2.example" {
				t.Errorf(`stored: %s, want "d0.example d1.example d2.example"`, got)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := d.Update(t.Context(), add("late.example")); !errors.Is(err, db.ErrUnavailable) {
			t.Errorf("Update after Close = %v, want the error %v", err, db.ErrUnavailable)
		}
	}
}

func TestInHasPlaceholdersInPowersOfTwo(t *testing.T) {
	for _, c := range []struct {
		values []string
		list   string
		args   []any
	}{
		{[]string{"a"}, "($2)", []any{"a"}},
		{[]string{"a", "b"}, "($2,$3)", []any{"a", "b"}},
		{[]string{"a", "b", "c"}, "($2,$3,$4,$5)", []any{"a", "b", "c", "c"}},
		{[]string{"a", "b", "c", "d"}, "($2,$3,$4,$5)", []any{"a", "b", "c", "d"}},
	} {
		list, args := db.In(2, c.values)
		if list != c.list || !slices.Equal(args, c.args) {
			t.Errorf("In(2, %v) = %s, %v, want %v and %v", c.values, list, args, c.list, c.args)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	d := dbtest.Open(b, db.Options{})
	var n atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := d.Update(context.Background(), add(fmt.Sprint(n.Add(1)))); err != nil {
				b.Error(err)
			}
		}
	})
}

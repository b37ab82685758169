package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/idempotency"
	"github.com/gonebox/gonebox/internal/problem"
)

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

type response struct {
	Number int
	At     time.Time
}

// counter is a call whose effect is a row, and whose response is the number of rows.
func counter(name string) func(context.Context, *db.Tx) (*response, error) {
	return func(ctx context.Context, tx *db.Tx) (*response, error) {
		if _, err := tx.Exec(ctx, "INSERT INTO public_domain (name, active, created_at) VALUES ($1, 1, 0)", name); err != nil {
			return nil, err
		}
		a := &response{At: noon()}
		return a, tx.QueryRow(ctx, "SELECT count(*) FROM public_domain").Scan(&a.Number)
	}
}

func TestKeyTakesEffectOnce(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon())
		kept := idempotency.New(d, c, time.Hour)
		ada, eve := id.New[id.Account](noon()), id.New[id.Account](noon())
		n := 0
		call := func(account id.Account, operation string, key idempotency.Key, body any) (int, error) {
			n++
			a, err := idempotency.Once(t.Context(), kept, idempotency.Call{Account: account, Operation: operation, Key: key, Body: body}, counter(fmt.Sprint(n)))
			if err != nil {
				return 0, err
			}
			if !a.At.Equal(noon()) {
				t.Errorf("Once = %+v, want it at %v", a, noon())
			}
			return a.Number, nil
		}
		for i, step := range []struct {
			account   id.Account
			operation string
			key       idempotency.Key
			body      any
			want      int // 0: idempotency.key_reused
		}{
			{ada, "buy", "k1", "one", 1},
			{ada, "buy", "k1", "one", 1},
			{ada, "buy", "k1", "two", 0},
			{ada, "buy", "k1", "one", 1},
			{ada, "buy", "k2", "two", 2},
			{ada, "sell", "k1", "two", 3},
			{eve, "buy", "k1", "two", 4},
			{ada, "buy", "", "one", 5},
			{ada, "buy", "", "one", 6},
		} {
			got, err := call(step.account, step.operation, step.key, step.body)
			if got != step.want || (step.want == 0) != problem.Has(err, problem.IdempotencyKeyReused) {
				t.Errorf("step %d, %s of %q with the key %q: got response %d, %v, want %d (0: %s)", i, step.operation, step.body, step.key, got, err, step.want, problem.IdempotencyKeyReused)
			}
		}
		c.Advance(time.Hour) // also without a sweep a key is forgotten when its time is over
		if got, err := call(ada, "buy", "k1", "three"); got != 7 || err != nil {
			t.Errorf("buy of \"three\" with the key \"k1\", an hour later: got response %d, %v, want a new one, 7", got, err)
		}
		if err := kept.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := rows(t, d); left != 1 {
			t.Errorf("%d keys are kept, want 1", left)
		}
	})
}

func rows(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_key").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFailedCallStoresNothing(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		kept := idempotency.New(d, clock.NewFake(noon()), time.Hour)
		call := idempotency.Call{Account: "acc", Operation: "buy", Key: "k", Body: 1}
		poor := errors.New("too poor")
		_, err := idempotency.Once(t.Context(), kept, call, func(ctx context.Context, tx *db.Tx) (*response, error) {
			_, err := counter("first")(ctx, tx)
			return nil, errors.Join(err, poor)
		})
		if !errors.Is(err, poor) || rows(t, d) != 0 {
			t.Fatalf("Once of a failing call = %v, and %d keys are kept, want the error %v and none", err, rows(t, d), poor)
		}
		if a, err := idempotency.Once(t.Context(), kept, call, counter("second")); err != nil || a.Number != 1 {
			t.Errorf("Once after a failed call = %+v, %v, want the number 1", a, err)
		}
	})
}

func TestConcurrentCallsTakeEffectOnce(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		kept := idempotency.New(d, clock.NewFake(noon()), time.Hour)
		var ran atomic.Int32
		var done sync.WaitGroup
		for i := range 20 {
			done.Go(func() {
				call := idempotency.Call{Account: "acc", Operation: "buy", Key: "k", Body: "x"}
				a, err := idempotency.Once(context.Background(), kept, call, func(ctx context.Context, tx *db.Tx) (*response, error) {
					ran.Add(1)
					return counter(fmt.Sprint(i))(ctx, tx)
				})
				if err != nil || a.Number != 1 {
					t.Errorf("Once beside others = %+v, %v, want the number 1", a, err)
				}
			})
		}
		done.Wait()
		var n int
		if err := d.QueryRow(t.Context(), "SELECT count(*) FROM public_domain").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d effects, %v, after %d runs, want 1", n, err, ran.Load())
		}
	})
}

func TestKeysAreParsedStrictly(t *testing.T) {
	for text, good := range map[string]bool{
		"k": true, `"8e03978e-40d5-43dd-bc93-6894a57f9324"`: true, strings.Repeat("k", 255): true,
		"": false, strings.Repeat("k", 256): false, "a b": false, "a\tb": false, "khoá": false, "a\x7f": false,
	} {
		key, err := idempotency.ParseKey(text)
		if good != (err == nil) || good && string(key) != text || !good && !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("ParseKey(%q) = %q, %v, want the key itself: %t, else %s", text, key, err, good, problem.RequestInvalid)
		}
	}
	if key, err := idempotency.ParseKey(); key != "" || err != nil {
		t.Errorf("ParseKey() = %q, %v, want no key and no error", key, err)
	}
	if _, err := idempotency.ParseKey("a", "a"); err == nil {
		t.Error("ParseKey of two fields: no error, want one")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("k")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := idempotency.ParseKey(text); err == nil && (string(key) != text || text == "") {
			t.Errorf("ParseKey(%q) = %q, want the same text, and none if it is empty", text, key)
		}
	})
}

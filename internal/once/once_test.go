package once_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/once"
)

// fixture is a Store on a database of its own, and its clock.
type fixture struct {
	*once.Store
	db    *db.DB
	clock *clock.Fake
}

func run(t *testing.T, test func(t *testing.T, f fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
		test(t, fixture{once.New(d, c), d, c})
	})
}

// store adds marks in a transaction, and returns false if one of them is remembered.
func (f fixture) store(t *testing.T, marks ...once.Mark) (stored bool) {
	t.Helper()
	err := f.db.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		c, err := f.CheckTx(ctx, tx, marks)
		if err != nil {
			return err
		}
		if stored = !c.Has(marks); stored {
			c.Add(marks)
		}
		return f.SaveTx(ctx, tx, c)
	}, nil)
	if err != nil {
		t.Fatalf("store %d marks: %v", len(marks), err)
	}
	return stored
}

func TestMarkIsRememberedForADay(t *testing.T) {
	run(t, func(t *testing.T, f fixture) {
		mail := once.NewKey("mail", "in", "octets")
		ada, bob := mail.Mark("ada@box.example"), mail.Mark("bob@box.example")
		if !f.store(t, ada) || f.store(t, ada) || f.store(t, bob, ada) || !f.store(t, bob) {
			t.Error("the marks of ada and bob were not stored once each, want each stored the first time and refused the second")
		}
		if known, err := f.Known(t.Context(), []once.Mark{ada, once.NewKey("mail", "in", "other").Mark("ada@box.example")}); err != nil || len(known) != 1 || !known[ada] {
			t.Errorf("Known(ada's mark, that of another mail) = %v, %v, want ada's alone", known, err)
		}
		f.clock.Advance(once.Kept - time.Second)
		if f.store(t, ada) {
			t.Error("a mark was stored again a second before its day was over, want it refused")
		}
		f.clock.Advance(time.Second)
		if !f.store(t, ada) || f.store(t, ada) {
			t.Error("after a day the mark was not stored again, or twice, want it stored once")
		}
		if err := f.Sweep(t.Context()); err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		var left int
		if err := f.db.QueryRow(t.Context(), "SELECT count(*) FROM once").Scan(&left); err != nil || left != 1 {
			t.Errorf("after Sweep %d marks are stored (%v), want ada's second", left, err)
		}
	})
}

func TestTokenServesOneMail(t *testing.T) {
	run(t, func(t *testing.T, f fixture) {
		token, other := once.NewKey("token", "in", "t1"), once.NewKey("token", "in", "t2")
		first, second := once.NewKey("mail", "first"), once.NewKey("mail", "second")
		for i, step := range []struct {
			token, mail once.Key
			want        bool
		}{{token, first, true}, {token, first, true}, {token, second, false}, {other, second, true}, {other, first, false}, {token, first, true}} {
			if got, err := f.Use(t.Context(), step.token, step.mail); got != step.want || err != nil {
				t.Errorf("step %d: Use returned %v, %v, want %v", i, got, err, step.want)
			}
		}
	})
}

// Keys are made of their parts, not of the parts' concatenation.
func TestKeysOfDifferentPartsDiffer(t *testing.T) {
	keys := map[once.Key]string{}
	for _, parts := range [][]string{{"mail"}, {"mail", ""}, {"mail", "ab", "c"}, {"mail", "a", "bc"}, {"mail", "abc"}, {"token", "abc"}} {
		k := once.NewKey(parts[0], parts[1:]...)
		if other, taken := keys[k]; taken {
			t.Errorf("NewKey(%q) is also the key of %s, want a key of its own", parts, other)
		}
		keys[k] = parts[0]
	}
}

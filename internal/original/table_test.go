package original_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/original"
)

// store keeps some originals as a set of mail does.
func store(t *testing.T, d *db.DB, table *original.Table, at time.Time, class time.Duration, texts ...string) []original.Ref {
	t.Helper()
	var records []original.Record
	for _, text := range texts {
		records = append(records, original.Record{Class: class, Data: original.Compress(nil, []byte(text))})
	}
	refs, err := table.Append(t.Context(), at, records)
	if err != nil {
		t.Fatal(err)
	}
	err = d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for i, r := range records {
			if err := table.KeepTx(ctx, tx, refs[i], r.Data); err != nil {
				return err
			}
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func TestATableKeepsOriginalsForTheirTimeAndNoLonger(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := original.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	large := string(bytes.Repeat([]byte("all work and no play "), 50_000))
	short := store(t, d, table, begin, 15*time.Minute, "short", large)
	long := store(t, d, table, begin, time.Hour, "long")
	read := func(refs []original.Ref) (texts []string) {
		for _, ref := range refs {
			raw, err := table.Read(ref)
			if err != nil && !errors.Is(err, original.ErrGone) {
				t.Fatal(err)
			}
			texts = append(texts, string(raw))
		}
		return texts
	}
	for _, step := range []struct {
		after       time.Duration
		short, long bool
	}{{0, true, true}, {15 * time.Minute, true, true}, {31*time.Minute + time.Second, false, true}, {time.Hour, false, true}, {76*time.Minute + time.Second, false, false}} {
		if _, err := table.Sweep(t.Context(), begin.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		s, l := read(short), read(long)
		if (s[0] == "short" && s[1] == large) != step.short || (l[0] == "long") != step.long {
			t.Errorf("after %s: %.20q, %.20q", step.after, s, l)
		}
	}
}

// Processes that begin a quarter of an hour together, and erase what is over while others go on, do not get in each other's
// way. Their clocks agree.
func TestProcessesShareATable(t *testing.T) {
	url := dbtest.PostgresURL(t)
	begin := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var processes []*db.DB
	var tables []*original.Table
	for range 3 {
		d, err := db.Open(t.Context(), url, db.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		processes, tables = append(processes, d), append(tables, original.NewTable(d))
	}
	for i := range 8 {
		now := begin.Add(time.Duration(i) * 15 * time.Minute)
		var wg sync.WaitGroup
		for n, table := range tables {
			wg.Go(func() {
				ref := store(t, processes[n], table, now, 15*time.Minute, "kept")[0]
				if _, err := table.Sweep(t.Context(), now.Add(-time.Minute)); err != nil {
					t.Error(err)
				}
				if raw, err := table.Read(ref); err != nil || string(raw) != "kept" {
					t.Errorf("%q, %v", raw, err)
				}
			})
		}
		wg.Wait()
	}
}

func TestATableRefusesWhatItDidNotWrite(t *testing.T) {
	table := original.NewTable(dbtest.OpenPostgres(t, db.Options{}))
	for ref, want := range map[original.Ref]error{
		"":                                       original.ErrDamaged,
		"t.":                                     original.ErrDamaged,
		"t.zz.00":                                original.ErrDamaged,
		"t.zz.00000000000000000000000000000000":  original.ErrGone,
		"t.+zz.00000000000000000000000000000000": original.ErrDamaged,
		"t.zz.0000000000000000000000000000000G":  original.ErrDamaged,
		"x.zz.00000000000000000000000000000000":  original.ErrDamaged,
	} {
		if _, err := table.Read(ref); !errors.Is(err, want) {
			t.Errorf("Read(%q) = %v, want %v", ref, err, want)
		}
	}
	for name, r := range map[string]original.Record{"no class": {Data: []byte{0}}, "no data": {Class: time.Minute}} {
		if _, err := table.Append(t.Context(), time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), []original.Record{r}); !errors.Is(err, original.ErrRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

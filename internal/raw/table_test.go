package raw_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/raw"
)

// store appends and inserts raw messages, as a batch of mail does.
func store(t *testing.T, d *db.DB, table *raw.Table, at time.Time, class time.Duration, texts ...string) []raw.Ref {
	t.Helper()
	var records []raw.Record
	for _, text := range texts {
		records = append(records, raw.Seal(class, raw.Compress(nil, []byte(text))))
	}
	return keepInTable(t, d, table, at, records)
}

func keepInTable(t *testing.T, d *db.DB, table *raw.Table, at time.Time, records []raw.Record) []raw.Ref {
	t.Helper()
	refs, err := table.Append(t.Context(), at, records)
	if err != nil {
		t.Fatal(err)
	}
	err = d.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return table.InsertTx(ctx, tx, refs, records)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func TestATableKeepsRawMessagesForTheirTimeAndNoLonger(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	large := string(bytes.Repeat([]byte("all work and no play "), 50_000))
	short := store(t, d, table, begin, 15*time.Minute, "short", large)
	long := store(t, d, table, begin, time.Hour, "long")
	read := func(refs []raw.Ref) (texts []string) {
		for _, ref := range refs {
			content, err := table.Read(ref)
			if err != nil && !errors.Is(err, raw.ErrGone) {
				t.Fatal(err)
			}
			texts = append(texts, string(content))
		}
		return texts
	}
	for _, step := range []struct {
		after       time.Duration
		short, long bool
	}{{0, true, true}, {15 * time.Minute, true, true}, {15*time.Minute + 35*time.Second, false, true}, {time.Hour, false, true}, {time.Hour + 35*time.Second, false, false}} {
		if _, err := table.Sweep(t.Context(), begin.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		s, l := read(short), read(long)
		if (s[0] == "short" && s[1] == large) != step.short || (l[0] == "long") != step.long {
			t.Errorf("after %s: read %.20q and %.20q, want the short-lived kept: %t, the long-lived kept: %t", step.after, s, l, step.short, step.long)
		}
	}
	if n := rowsOf(t, d, "SELECT coalesce(sum(pg_relation_size(relid)), 0) FROM pg_partition_tree('raw_message') WHERE isleaf"); n != 0 {
		t.Errorf("%d octets are left, want 0", n)
	}
}

func rowsOf(t *testing.T, d *db.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := d.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const countPartitions = "SELECT count(*) FROM pg_partition_tree('raw_message') WHERE isleaf"

// Records with a long retention share partitions, but each is erased on time.
func TestLongRetentionIsErasedInTime(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	for _, class := range []time.Duration{3 * time.Hour, 24 * time.Hour, 365 * 24 * time.Hour} {
		first := store(t, d, table, begin, class, "first")[0]
		other := store(t, d, table, begin, class+2*time.Minute, "of another class")[0]
		second := store(t, d, table, begin.Add(50*time.Second), class, "second")[0]
		for _, step := range []struct {
			after         time.Duration
			first, second bool
		}{{class, true, true}, {class + 35*time.Second, false, true}, {class + 50*time.Second, false, true}, {class + 85*time.Second, false, false}} {
			if _, err := table.Sweep(t.Context(), begin.Add(step.after)); err != nil {
				t.Fatal(err)
			}
			_, err1 := table.Read(first)
			_, err2 := table.Read(second)
			if (err1 == nil) != step.first || (err2 == nil) != step.second {
				t.Errorf("class %s, after %s: Read = %v and %v, want the first kept: %t, the second kept: %t", class, step.after, err1, err2, step.first, step.second)
			}
		}
		if content, err := table.Read(other); err != nil || string(content) != "of another class" {
			t.Errorf(`of another class: %q, %v, want "of another class"`, content, err)
		}
	}
}

// There are some hundred partitions for a class, whatever its retention. Emptied ones are dropped periodically.
func TestPartitionsAreFew(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for i := range 60 {
		now := begin.Add(time.Duration(i) * 20 * time.Second)
		store(t, d, table, now, time.Minute, "short")
		store(t, d, table, now, 24*time.Hour, "long")
		if _, err := table.Sweep(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	if n := rowsOf(t, d, countPartitions); n > 65 {
		t.Errorf("%d partitions after 20 minutes, want at most 65", n)
	}
	if _, err := table.Sweep(t.Context(), begin.Add(49*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(t, d, countPartitions); n > 3 {
		t.Errorf("%d partitions at the end, want at most 3", n)
	}
}

// While a dump reads the table, a partition cannot be truncated without making other transactions wait, so expired records are deleted.
func TestErasedDuringADumpIsGone(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	ref := store(t, d, table, begin, time.Minute, "over")[0]
	held, release := make(chan struct{}), make(chan struct{})
	var dump sync.WaitGroup
	dump.Go(func() {
		_ = d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			var n int64
			err := tx.QueryRow(ctx, "SELECT count(*) FROM raw_message").Scan(&n)
			close(held)
			<-release
			return err
		})
	})
	<-held
	if _, err := table.Sweep(t.Context(), begin.Add(2*time.Minute)); err != nil {
		t.Error(err)
	}
	if _, err := table.Read(ref); !errors.Is(err, raw.ErrGone) {
		t.Errorf("Read = %v, want the error %v", err, raw.ErrGone)
	}
	close(release)
	dump.Wait()
	if n, err := table.Sweep(t.Context(), begin.Add(3*time.Minute)); n != 1 || err != nil {
		t.Errorf("Sweep after the dump = %d, %v, want 1", n, err)
	}
}

// Processes that share a table and have the same time can create the same partitions and sweep concurrently.
func TestProcessesShareATable(t *testing.T) {
	url := dbtest.PostgresURL(t)
	begin := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var processes []*db.DB
	var tables []*raw.Table
	for range 3 {
		d, err := db.Open(t.Context(), url, db.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		processes, tables = append(processes, d), append(tables, raw.NewTable(d))
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
				if content, err := table.Read(ref); err != nil || string(content) != "kept" {
					t.Errorf("Read(%s) = %q, %v, want kept", ref, content, err)
				}
			})
		}
		wg.Wait()
	}
}

func TestTableRejectsForeignReferences(t *testing.T) {
	table := raw.NewTable(dbtest.OpenPostgres(t, db.Options{}))
	for ref, want := range map[raw.Ref]error{
		"":                                       raw.ErrDamaged,
		"t.":                                     raw.ErrDamaged,
		"t.zz.00":                                raw.ErrDamaged,
		"t.zz.00000000000000000000000000000000":  raw.ErrDamaged,
		"t.+zz.00000000000000000000000000000000": raw.ErrDamaged,
		"t.zz.0000000000000000000000000000000G":  raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.0.9.AAAAAAAAAAAAAAAAAAAAAAAAAAA":        raw.ErrGone,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.0.0.AAAAAAAAAAAAAAAAAAAAAAAAAAA":        raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.-1.9.AAAAAAAAAAAAAAAAAAAAAAAAAAA":       raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.0.zzzzzzzz.AAAAAAAAAAAAAAAAAAAAAAAAAAA": raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.0":                                      raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.0.9":                                    raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAA.0.9.AAAAAAAAAAAAAAAAAAAAAAAAAAB":        raw.ErrDamaged,
		"t.zz.AAAAAAAAAAAAAAAAAAAAAB.0.9.AAAAAAAAAAAAAAAAAAAAAAAAAAA":        raw.ErrDamaged,
		"x.zz.00000000000000000000000000000000":                              raw.ErrDamaged,
	} {
		if _, err := table.Read(ref); !errors.Is(err, want) {
			t.Errorf("Read(%q) = %v, want %v", ref, err, want)
		}
	}
	for name, r := range map[string]raw.Record{"no class": {Data: []byte{0}}, "no data": {Class: time.Minute}} {
		if _, err := table.Append(t.Context(), time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), []raw.Record{r}); !errors.Is(err, raw.ErrRecord) {
			t.Errorf("%s: table.Append(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), []raw.Record{r}) = %v, want the error %v", name, err, raw.ErrRecord)
		}
	}
}

// Records are read back as they were written, whether they share a row, fill rows exactly or extend over several, and in any mix of
// classes.
func TestRecordsShareRows(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	begin := time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC)
	part := raw.PartSize - 1 // fills a row together with the octet that Compress puts in front
	for name, sizes := range map[string][]int{
		"one small": {100}, "one row": {part}, "an octet more": {part + 1}, "small ones": {3000, 4000, 5000, 900, 1},
		"rows to the octet": {part, part, 2*part + 1}, "large ones": {50_000, 10, 100_000, 20_000}, "a large one": {1 << 20},
	} {
		var texts []string
		var records []raw.Record
		for i, n := range sizes {
			texts = append(texts, string(randomBytes(n)))
			class := 15 * time.Minute
			if i%3 == 1 {
				class = time.Hour
			}
			records = append(records, raw.Seal(class, raw.Compress(nil, []byte(texts[i]))))
		}
		for i, ref := range keepInTable(t, d, table, begin, records) {
			if len(ref) > 80 {
				t.Errorf("%s: a reference of %d characters, want at most 80", name, len(ref))
			}
			if content, err := table.Read(ref); err != nil || string(content) != texts[i] {
				t.Errorf("%s, record %d: %d octets, %v; want %d", name, i, len(content), err, sizes[i])
			}
		}
	}
}

// PostgreSQL would store a larger row in pieces of 2 KiB in a TOAST table, each with an index entry. No row may be that large.
func TestRowsFillPages(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	text := string(randomBytes(100*raw.PartSize - 1))
	store(t, d, raw.NewTable(d), time.Date(2026, 3, 14, 12, 7, 0, 0, time.UTC), 15*time.Minute, text)
	var pages, toastPages int
	const sizes = `SELECT CAST(sum(pg_relation_size(relid)) / 8192 AS bigint), CAST(sum(pg_relation_size(reltoastrelid)) / 8192 AS bigint)
		FROM pg_partition_tree('raw_message') JOIN pg_class ON pg_class.oid = relid WHERE isleaf`
	if err := d.QueryRow(t.Context(), sizes).Scan(&pages, &toastPages); err != nil {
		t.Fatal(err)
	}
	if pages != 100 || toastPages != 0 {
		t.Errorf("%d pages and %d of TOAST; want 100 and none", pages, toastPages)
	}
}

// The offset in a reference is right only if all records of the Append are written.
func TestTableRejectsPartOfAnAppend(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	table := raw.NewTable(d)
	records := []raw.Record{raw.Seal(time.Minute, []byte{0, 1}), raw.Seal(time.Minute, []byte{0, 2})}
	refs, err := table.Append(t.Context(), time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), records)
	if err != nil {
		t.Fatal(err)
	}
	err = d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return table.InsertTx(ctx, tx, refs[1:], records[1:]) })
	if !errors.Is(err, raw.ErrRecord) {
		t.Errorf("InsertTx of the second alone = %v, want the error %v", err, raw.ErrRecord)
	}
}

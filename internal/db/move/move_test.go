package move

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/raw"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// place returns an empty side of an engine. Its connections do not have a service's application name.
func place(t *testing.T, e db.Engine) Side {
	t.Helper()
	target := filepath.Join(t.TempDir(), "gonebox.db")
	if e == db.Postgres {
		target = dbtest.PostgresURL(t) + "&application_name=move"
	}
	d, err := db.Open(t.Context(), target, db.Options{Logger: slog.New(slog.DiscardHandler), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if _, _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return Side{DB: d, RawMessages: &shelf{name: t.Name(), kept: make(map[raw.Ref][]byte)}, Name: "side-" + fmt.Sprint(int(e))}
}

// shelf keeps raw messages in memory.
type shelf struct {
	name  string
	kept  map[raw.Ref][]byte
	last  atomic.Int64
	spoil bool // store other content than was given
}

func (s *shelf) Read(_ context.Context, _ db.Queryer, ref raw.Ref) ([]byte, error) {
	data, ok := s.kept[ref]
	if !ok {
		return nil, raw.ErrGone
	}
	return raw.Decompress(data)
}

func (s *shelf) KeepTx(_ context.Context, _ *db.Tx, at time.Time, records []raw.Record) (refs []raw.Ref, err error) {
	for _, r := range records {
		if r.Class <= 0 || r.Class%keptPer != 0 || at != noon {
			return nil, fmt.Errorf("kept for %s from %s on", r.Class, at)
		}
		ref := raw.Ref(fmt.Sprintf("kept-%d-%s", s.last.Add(1), r.Class))
		content, err := r.Read()
		if err != nil {
			return nil, err
		}
		if s.kept[ref] = raw.Store(nil, content); s.spoil {
			s.kept[ref] = raw.Store(nil, []byte("something else"))
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// How many messages a side is filled with: more than a batch; enough to have some of every kind.
const (
	many = batchRows + 18
	some = 120
)

// others is the number of rows of each other table.
const others = 40

func rowsOf(t table, messagesEach int) int {
	if t.name == messages {
		return messagesEach
	}
	return others
}

// fill writes rows of every kind to every table of a side.
func fill(t *testing.T, s Side, messagesEach int) {
	t.Helper()
	err := s.DB.Bulk(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, each := range tables() {
			names, err := columns(ctx, tx, each.name)
			if err != nil {
				return err
			}
			kinds, err := kindsOf(ctx, tx, each.name)
			if err != nil {
				return err
			}
			for i := range rowsOf(each, messagesEach) {
				values := make([]any, len(names))
				for c, name := range names {
					values[c] = value(each.name, name, kinds[name], i, s.DB.Engine())
				}
				if err := tx.Queue(ctx, each.insert(names), values...); err != nil {
					return fmt.Errorf("%s: %w", each.name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rawMessages := s.RawMessages.(*shelf)
	for i := range messagesEach / 2 { // two messages share one; one pair's is missing
		if i != 55 {
			rawMessages.kept[raw.Ref(fmt.Sprint("raw-", i))] = raw.Compress(nil, []byte(strings.Repeat(fmt.Sprintln("raw", i), i)))
		}
	}
}

// kindsOf returns the types of a table's columns in SQLite's terms; those of nullable columns begin with a question mark.
func kindsOf(ctx context.Context, tx *db.Tx, name string) (map[string]string, error) {
	rows, err := tx.Query(ctx, db.Per{
		SQLite: `SELECT name, (CASE WHEN "notnull" = 1 THEN '' ELSE '?' END) || type FROM pragma_table_info($1)`,
		Postgres: `SELECT column_name, (CASE WHEN is_nullable = 'NO' THEN '' ELSE '?' END) || replace(upper(data_type), 'BYTEA', 'BLOB')
			FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1`,
	}.On(tx.Engine()), name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	kinds := make(map[string]string)
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		kinds[name] = kind
	}
	return kinds, rows.Err()
}

// value returns the value of a column in row i of a table.
func value(table, column, kind string, i int, e db.Engine) any {
	switch table + "." + column {
	case "wallet_entry.sequence":
		return 1
	case "wallet_entry.kind":
		return []string{"topup", "subscription", "adjustment"}[i%3]
	case "wallet_entry.amount", "wallet_entry.balance_after":
		return i + 1
	case "bankpay_match.transaction_id":
		return fmt.Sprint("id-ü-", i) // as the row of bankpay_transactions
	case "bankpay_match.outcome":
		return []string{"new", "credited", "unmatched"}[i%3]
	case "message.raw_ref":
		return fmt.Sprint("raw-", i/2)
	case "message.raw_until":
		return noon.Add(time.Duration(i-100) * time.Minute).UnixMicro()
	case "message.summary":
		if i == 7 && e == db.SQLite {
			return "a NUL \x00 and broken \xff text"
		}
	case "attachment.data":
		if i == 7 {
			return []byte{}
		}
	case "subscription.status":
		return "expired"
	}
	kind, optional := strings.CutPrefix(kind, "?")
	switch {
	case optional && i%3 == 0:
		return nil
	case kind == "TEXT":
		return fmt.Sprint(column, "-ü-", i)
	case kind == "BLOB":
		return fmt.Appendf(nil, "%c\x00\xff%d", i%256, i)
	case kind == "SMALLINT":
		return i % 2
	}
	return int64(i+1) << (i % 40)
}

func run(t *testing.T, from, to Side) Report {
	t.Helper()
	r, err := Run(t.Context(), from, to, Options{Now: noon, Secret: []byte("a proof")})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// content returns every row of every table without the references to raw messages.
func content(t *testing.T, s Side) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	err := s.DB.Bulk(t.Context(), func(_ context.Context, tx *db.Tx) error {
		m := mover{source: tx, target: tx}
		for _, each := range tables() {
			sh, err := m.shape(t.Context(), each)
			if err != nil {
				return err
			}
			_, err = sh.each(t.Context(), tx, func(r row) error {
				all[each.name] = append(all[each.name], string(encode(r, sh.ref)))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryTableIsMovedOrLeftOut(t *testing.T) {
	for _, e := range []db.Engine{db.SQLite, db.Postgres} {
		err := place(t, e).DB.Bulk(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			unknown, err := unknownTables(ctx, tx)
			if len(unknown) > 0 {
				t.Errorf("tables or leftOut lack %v, want every table in one of them", unknown)
			}
			for _, each := range tables() {
				if _, err := count(ctx, tx, each.name); err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestEveryRowArrives(t *testing.T) {
	for _, way := range [][2]db.Engine{{db.SQLite, db.Postgres}, {db.Postgres, db.SQLite}, {db.Postgres, db.Postgres}} {
		t.Run(fmt.Sprint(way[0], " to ", way[1]), func(t *testing.T) {
			from, to := place(t, way[0]), place(t, way[1])
			fill(t, from, many)
			before := content(t, from)
			r := run(t, from, to)
			if d := cmp.Diff(before, content(t, from)); d != "" {
				t.Errorf("the move changed the source (-want as before, +got):\n%s", d)
			}
			if r.Replaced > 0 {
				before["message"] = nil // it is checked below
			}
			after := content(t, to)
			if r.Replaced > 0 {
				if r.Replaced != 1 || !slices.ContainsFunc(after["message"], func(row string) bool { return strings.Contains(row, "a NUL \uFFFD and broken \uFFFD text") }) {
					t.Errorf("%d texts were replaced, want 1 in a message: %q", r.Replaced, after["message"])
				}
				after["message"] = nil
			}
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("the target differs (-want as the source, +got):\n%s", d)
			}
			if want := int64((len(tables())-1)*others + many); r.Rows != want || len(r.Tables) != len(tables()) {
				t.Errorf("the report has %d rows of %d tables, want %d of %d", r.Rows, len(r.Tables), want, len(tables()))
			}
			// Those that expire by noon are not moved; two messages share each of the rest.
			if want := int64(many-100)/2 - 1; r.RawMessages.Count != want {
				t.Errorf("%d raw messages were moved, want %d", r.RawMessages.Count, want)
			}
			if r.RawMessages.Gone != 2 {
				t.Errorf("%d messages had no raw message, want 2", r.RawMessages.Gone)
			}
		})
	}
}

func TestRawMessagesAreKeptAsLongAsTheyMayBeRead(t *testing.T) {
	from, to := place(t, db.SQLite), place(t, db.Postgres)
	fill(t, from, some)
	run(t, from, to)
	rows, err := to.DB.Query(t.Context(), "SELECT raw_ref, raw_until FROM message ORDER BY raw_until")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var ref raw.Ref
		var until int64
		if err := rows.Scan(&ref, &until); err != nil {
			t.Fatal(err)
		}
		_, text, kept := strings.Cut(string(ref), "kept-")
		if live := until > noon.UnixMicro(); kept != live && ref != "raw-55" {
			t.Fatalf("message %d, which expires at %v, refers to %s, want a class of retention while it is live", i, time.UnixMicro(until).UTC(), ref)
		}
		if _, class, _ := strings.Cut(text, "-"); kept {
			d, err := time.ParseDuration(class)
			if end := noon.Add(d + time.Minute); err != nil || end.Before(time.UnixMicro(until)) {
				t.Errorf("message %d may be read until %v, and its raw message is kept until %v, want it kept at least as long", i, time.UnixMicro(until).UTC(), end)
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestSecondRunFindsTheFirst(t *testing.T) {
	from, to := place(t, db.SQLite), place(t, db.Postgres)
	fill(t, from, some)
	first := run(t, from, to)
	again, err := Run(t.Context(), from, to, Options{Now: noon.Add(time.Hour), Secret: []byte("a proof")})
	if err != nil || !again.Already || again.Digest != first.Digest || !again.MovedAt.Equal(noon) {
		t.Errorf("the second run: %v, already %t at %v, digest %s; want it found as of %v with the digest %s", err, again.Already, again.MovedAt, again.Digest, noon, first.Digest)
	}
	if _, err := Run(t.Context(), from, to, Options{Now: noon, Secret: []byte("another")}); !errors.Is(err, ErrSecret) {
		t.Errorf("with another secret: %v, want the error %v", err, ErrSecret)
	}
	write(t, from, "UPDATE account SET locale = 'vi'")
	if _, err := Run(t.Context(), from, to, Options{Now: noon, Secret: []byte("a proof")}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("after a change of the source: %v, want the error %v", err, ErrNotEmpty)
	}
}

// write executes statements on a side.
func write(t *testing.T, s Side, statements ...string) {
	t.Helper()
	err := s.DB.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFailureLeavesTheTargetEmpty(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		ctx      context.Context
		arrange  func(from, to Side)
		progress func(Progress)
		want     error
		text     string
	}{
		"a row that changes on the way": {arrange: func(_, to Side) {
			write(t, to, `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id LIKE '%-17' THEN NEW.locale := 'x'; END IF; RETURN NEW; END $$`,
				`CREATE TRIGGER spoil BEFORE INSERT ON account FOR EACH ROW EXECUTE FUNCTION spoil()`)
		}, want: ErrUnlike, text: "verify account"},
		"a row that is lost": {arrange: func(_, to Side) {
			write(t, to, `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id LIKE '%-39' THEN RETURN NULL; END IF; RETURN NEW; END $$`,
				`CREATE TRIGGER lose BEFORE INSERT ON notice FOR EACH ROW EXECUTE FUNCTION lose()`)
		}, want: ErrUnlike, text: "verify notice"},
		"a raw message that arrives as another": {arrange: func(_, to Side) { to.RawMessages.(*shelf).spoil = true }, want: ErrUnlike, text: "raw message raw-"},
		"an unknown table":                      {arrange: func(from, _ Side) { write(t, from, "CREATE TABLE novelty (id TEXT)") }, text: "novelty"},
		"a column that one side does not have":  {arrange: func(from, _ Side) { write(t, from, "ALTER TABLE page ADD COLUMN novelty TEXT") }, text: "copy page: it has the columns"},
		"cancelled": {ctx: cancelled, progress: func(p Progress) {
			if p.Table == "attachment" {
				cancel()
			}
		}, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := place(t, db.SQLite), place(t, db.Postgres)
			fill(t, from, some)
			if c.arrange != nil {
				c.arrange(from, to)
			}
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			_, err := Run(c.ctx, from, to, Options{Now: noon, Progress: c.progress})
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("error %v, want %v with %q", err, c.want, c.text)
			}
			for _, each := range tables() {
				if n, err := count(t.Context(), to.DB, each.name); err != nil || n > 0 {
					t.Errorf("%s has %d rows (%v), want 0", each.name, n, err)
				}
			}
			if _, marked, err := Marked(t.Context(), to.DB); err != nil || marked {
				t.Errorf("Marked(target) = %t, %v, want false and no error", marked, err)
			}
		})
	}
}

func TestTargetWithRowsIsRefused(t *testing.T) {
	from, to := place(t, db.SQLite), place(t, db.Postgres)
	write(t, to, "INSERT INTO page (key, locale, title, html, updated_at) VALUES ('terms', '', '', '', 1)")
	if _, err := Run(t.Context(), from, to, Options{Now: noon}); !errors.Is(err, ErrNotEmpty) || !strings.Contains(err.Error(), "page") {
		t.Errorf(`error %v, want the error %v and "page" in it`, err, ErrNotEmpty)
	}
}

func TestDatabaseOfARunningServiceIsRefused(t *testing.T) {
	url := dbtest.PostgresURL(t)
	d, err := db.Open(t.Context(), url, db.Options{Timeout: time.Minute}) // as a service opens it
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	beside, err := db.Open(t.Context(), url+"&application_name=move", db.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	served := Side{DB: beside, RawMessages: &shelf{}, Name: "served"}
	for _, sides := range [][2]Side{{served, place(t, db.SQLite)}, {place(t, db.SQLite), served}} {
		if _, err := Run(t.Context(), sides[0], sides[1], Options{Now: noon}); !errors.Is(err, ErrServing) {
			t.Errorf("from %s to %s: %v, want the error %v", sides[0].Name, sides[1].Name, err, ErrServing)
		}
	}
}

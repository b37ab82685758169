package db_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

const (
	insertEach = "INSERT INTO address_hold (address_hash, account_id, until) VALUES ($1, $2, $3)"
	updateEach = `UPDATE address_hold SET until = new.until FROM (SELECT $1 AS hash, $2 AS until) AS new
		WHERE address_hold.address_hash = new.hash`
)

func holds(t *testing.T, d *db.DB) string {
	t.Helper()
	all, err := db.Collect(t.Context(), d, func(row db.Row) (string, error) {
		var hash []byte
		var account string
		var until int64
		err := row.Scan(&hash, &account, &until)
		return fmt.Sprintf("%q %q %d", hash, account, until), err
	}, "SELECT address_hash, account_id, until FROM address_hold ORDER BY address_hash")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

func TestStatementIsExecutedForEachRow(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if err := tx.QueueEach(ctx, insertEach, db.Octets{}, db.Texts{}, db.Numbers{}); err != nil {
				return err
			}
			hashes := db.Octets{{0, 1}, {}, []byte("c"), {0xff}}
			if err := tx.QueueEach(ctx, insertEach, hashes, db.Texts{`{"a",NULL}`, "", "null", "ü"}, db.Numbers{1, -2, 1 << 60, 0}); err != nil {
				return err
			}
			return tx.QueueEach(ctx, updateEach, db.Octets{{0xff}, {9}, {}}, db.Numbers{7, 8, 9})
		})
		if err != nil {
			t.Fatal(err)
		}
		want := `"" "" 9` + "\n" + `"\x00\x01" "{\"a\",NULL}" 1` + "\n" + `"c" "null" 1152921504606846976` + "\n" + `"\xff" "ü" 7`
		if got := holds(t, d); got != want {
			t.Errorf("QueueEach of four inserts and three updates: got the rows\n%s\nwant\n%s", got, want)
		}
	})
}

func TestOptionalOctetsMayBeNull(t *testing.T) {
	const insert = `INSERT INTO attachment (mailbox_id, message_id, id, data, crc, blob) VALUES ($1, $2, $3, $4, 0, $5)`
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for _, blobs := range []db.OptionalOctets{{nil, {}, {0xff}}, {nil}} { // a single row is another case
				n := len(blobs)
				texts := db.Texts{"a", "b", "c"}[:n]
				if err := tx.QueueEach(ctx, insert, texts, db.Texts{fmt.Sprint(n), "", ""}[:n], texts, db.Octets{{}, {}, {}}[:n], blobs); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := db.Collect(t.Context(), d, func(row db.Row) (text string, err error) {
			var octets []byte
			var null bool
			err = row.Scan(&octets, &null)
			return fmt.Sprintf("%q %t", octets, null), err
		}, "SELECT blob, blob IS NULL FROM attachment ORDER BY id, message_id")
		want := `"" true, "" true, "" false, "\xff" false`
		if got := strings.Join(all, ", "); err != nil || got != want {
			t.Errorf("QueueEach with optional octets: got the rows %s and the error %v, want %s", got, err, want)
		}
	})
}

func TestFailingRowRollsBackAll(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		for name, columns := range map[string][]db.Column{
			"the same row twice": {db.Octets{{1}, {2}, {1}}, db.Texts{"", "", ""}, db.Numbers{0, 0, 0}},
			"a value too few":    {db.Octets{{1}, {2}}, db.Texts{"", ""}, db.Numbers{0}},
		} {
			err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				return tx.QueueEach(ctx, insertEach, columns...)
			})
			if err == nil {
				t.Errorf("QueueEach with %s: got no error, want one", name)
			}
			if got := holds(t, d); got != "" {
				t.Errorf("QueueEach with %s: got the rows\n%s\nwant none", name, got)
			}
		}
	})
}

// A text that PostgreSQL cannot store is stored in the same form by QueueEach as by Queue.
func TestAnyTextCanBeStoredForEachRow(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return tx.QueueEach(ctx, insertEach, db.Octets{{1}, {2}}, db.Texts{"a\x00b", "\xff"}, db.Numbers{0, 0})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := holds(t, d), `"\x01" "a�b" 0`+"\n"+`"\x02" "�" 0`; got != want {
		t.Errorf("QueueEach of texts that PostgreSQL cannot store: got the rows\n%s\nwant\n%s", got, want)
	}
}

// The buffers for encoding rows are reused, but not by two updates at the same time.
func TestRowsOfConcurrentUpdatesDoNotMix(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	var updates sync.WaitGroup
	for n := range 8 {
		updates.Go(func() {
			for round := range 10 {
				rows := (n*7 + round*13) % 40
				var hashes db.Octets
				var accounts db.Texts
				var untils db.Numbers
				for i := range rows {
					name := fmt.Sprintf("%d/%d/%d", n, round, i)
					hashes, accounts, untils = append(hashes, []byte(strings.Repeat(name, 1+i*i))), append(accounts, name), append(untils, int64(i))
				}
				err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					return tx.QueueEach(ctx, insertEach, hashes, accounts, untils)
				})
				if err != nil {
					t.Errorf("QueueEach of %d rows: got the error %v, want none", rows, err)
				}
			}
		})
	}
	updates.Wait()
	var all, mixed int
	err := d.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE address_hash <> convert_to(repeat(account_id,
		CAST(1 + until * until AS integer)), 'UTF8')) FROM address_hold`).Scan(&all, &mixed)
	if err != nil || all == 0 || mixed != 0 {
		t.Errorf("after concurrent updates got %d rows, %d of them mixed up, and the error %v, want some rows and none mixed up", all, mixed, err)
	}
}

// TestLargeRowsAreSeveralStatements lets PostgreSQL log the size of each statement that it receives.
func TestLargeRowsAreSeveralStatements(t *testing.T) {
	d := dbtest.OpenPostgres(t, db.Options{})
	const rows, each, limit = 40, 1 << 20, 4 << 20
	err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, statement := range []string{
			"CREATE TABLE statement_size (octets BIGINT)",
			`CREATE FUNCTION measure() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				INSERT INTO statement_size SELECT sum(length(account_id)) FROM added; RETURN NULL; END $$`,
			`CREATE TRIGGER measure AFTER INSERT ON address_hold REFERENCING NEW TABLE AS added
				FOR EACH STATEMENT EXECUTE FUNCTION measure()`,
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		var hashes db.Octets
		var accounts db.Texts
		var untils db.Numbers
		for i := range rows {
			hashes, untils = append(hashes, []byte{byte(i)}), append(untils, int64(i))
			accounts = append(accounts, strings.Repeat("x", each))
		}
		accounts[7] = strings.Repeat("y", 2*limit)
		return tx.QueueEach(ctx, insertEach, hashes, accounts, untils)
	})
	if err != nil {
		t.Fatal(err)
	}
	var statements, sum, over, kept int
	err = d.QueryRow(t.Context(), `SELECT count(*), sum(octets), count(*) FILTER (WHERE octets > $1),
		(SELECT count(DISTINCT address_hash) FROM address_hold WHERE until = get_byte(address_hash, 0)) FROM statement_size`,
		limit).Scan(&statements, &sum, &over, &kept)
	if want := (rows-1)*each + 2*limit; err != nil || sum != want || kept != rows {
		t.Fatalf("QueueEach of large rows: got %d octets in %d rows and the error %v, want %d in %d", sum, kept, err, want, rows)
	}
	if over != 1 || statements < sum/limit {
		t.Errorf("QueueEach of large rows: got %d statements, %d of them above %d octets, want %d at least, and only the one of the larger row above", statements, over, limit, sum/limit)
	}
}

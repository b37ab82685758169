package deliverylog_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/deliverylog"
)

// world is a delivery log on a fake clock.
type world struct {
	*deliverylog.Service
	t     *testing.T
	db    *db.DB
	clock *clock.Fake
}

func run(t *testing.T, test func(t *testing.T, w *world)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		w := &world{t: t, db: d, clock: clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))}
		w.restart()
		test(t, w)
	})
}

// restart replaces the Service by a new one on the same database.
func (w *world) restart() {
	w.Service = deliverylog.New(deliverylog.Parts{DB: w.db, Clock: w.clock, Logger: slog.New(slog.DiscardHandler), Secret: []byte("secret")})
}

// write writes pending entries, as a shutdown does.
func (w *world) write() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.Run(ctx)
}

func (w *world) entry(reply int) deliverylog.Entry {
	return deliverylog.Entry{
		At: w.clock.Now(), From: "a@shop.example", RemoteIP: netip.MustParseAddr("198.51.100.7"), Helo: "mail.shop.example", TLS: true,
		Reply: reply, Code: fmt.Sprintf("%d.1.1", reply/100), Reason: "text", HasMailbox: reply == 250,
	}
}

func (w *world) list(address string) []deliverylog.Entry {
	w.t.Helper()
	all, err := w.List(w.t.Context(), address, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) rows() (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(w.t.Context(), "SELECT count(*) FROM mail_delivery").Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestEntriesAreListedBeforeAndAfterTheyAreWritten(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		first := w.entry(550)
		w.Record("ann@box.example", "198.51.100.7", first)
		w.clock.Advance(time.Second)
		second := w.entry(250)
		second.Message = "msg_1"
		w.Record("ann@box.example", "198.51.100.7", second)
		w.Record("bob@box.example", "198.51.100.7", w.entry(452))
		check := func() {
			t.Helper()
			if all := w.list("ann@box.example"); len(all) != 2 || all[0] != second || all[1] != first {
				t.Errorf("listed %+v, want %+v", all, []deliverylog.Entry{second, first})
			}
			if all := w.list("never@box.example"); len(all) != 0 {
				t.Errorf("an unknown address has %+v", all)
			}
		}
		check()
		w.write()
		check()
		w.restart()
		check()
	})
}

func TestEntriesOfEarlierMailboxAreHidden(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Record("ann@box.example", "a", w.entry(250))
		w.Record("ann@box.example", "a", w.entry(550))
		w.write()
		w.Record("ann@box.example", "a", w.entry(250))
		all, err := w.List(t.Context(), "ann@box.example", w.clock.Now().Add(time.Second))
		if err != nil || len(all) != 1 || all[0].Reply != 550 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestEntriesEndAfterADay(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Record("ann@box.example", "a", w.entry(550))
		w.Record("ann@box.example", "a", w.entry(250))
		w.write()
		w.clock.Advance(deliverylog.Retention)
		if all := w.list("ann@box.example"); len(all) != 0 {
			t.Errorf("listed %+v", all)
		}
		w.Record("ann@box.example", "a", w.entry(550))
		w.write()
		if err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.rows(); n != 1 {
			t.Errorf("%d rows are left, want 1", n)
		}
	})
}

func TestErasedMailboxLeavesNothing(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		erase := func() {
			err := w.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				return w.EraseTx(ctx, tx, []string{"ann@box.example", "bob@box.example"})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.Record("ann@box.example", "a", w.entry(250))
		w.Record("eve@box.example", "a", w.entry(250))
		w.write()
		w.Record("bob@box.example", "a", w.entry(452))
		erase() // one entry is written, the other is pending
		w.write()
		if n := w.rows(); n != 1 {
			t.Errorf("%d rows are left, want 1", n)
		}
		if len(w.list("ann@box.example"))+len(w.list("bob@box.example")) != 0 || len(w.list("eve@box.example")) != 1 {
			t.Error("the wrong entries were erased")
		}
	})
}

// The number of rows is limited for each address, and for the refused recipients of each client, however many addresses it tries.
func TestRowsAreBounded(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for i := range 600 {
			w.clock.Advance(time.Millisecond)
			e := w.entry(250)
			e.Reason = fmt.Sprint(i)
			w.Record("ann@box.example", "a", e)
			if i%100 == 99 {
				w.write()
			}
		}
		all := w.list("ann@box.example")
		if n := w.rows(); n > deliverylog.ListMax+50 || len(all) != deliverylog.ListMax || all[0].Reason != "599" {
			t.Errorf("%d rows, %d listed, the first is %+v", n, len(all), all[0])
		}
		before := w.rows()
		for i := range 5000 {
			w.Record(fmt.Sprintf("random%d@box.example", i), "hostile", w.entry(550))
		}
		w.Record("bob@box.example", "other", w.entry(550))
		w.write()
		if n := w.rows() - before; n != 201 {
			t.Errorf("%d rows of refused recipients, want 201", n)
		}
		if w.Dropped() != 4800 {
			t.Errorf("%d entries were dropped", w.Dropped())
		}
	})
}

// If the database is too slow, entries are dropped, beginning with those of stored mail.
func TestPendingEntriesAreBounded(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		for i := range 6000 {
			w.Record(fmt.Sprintf("box%d@box.example", i), "a", w.entry(250))
		}
		if stored := 6000 - w.Dropped(); stored != 2048 {
			t.Errorf("%d entries of stored mail wait", stored)
		}
		w.Record("ann@box.example", "b", w.entry(550))
		if len(w.list("ann@box.example")) != 1 {
			t.Error("the entry of a refused recipient was dropped")
		}
	})
}

func TestLongAndInvalidTextsAreStored(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		e := w.entry(550)
		e.Helo, e.From = strings.Repeat("ü", 1000), "a\x00\xff@b"
		w.Record("ann@box.example", "a", e)
		w.write()
		all := w.list("ann@box.example")
		if len(all) != 1 || len(all[0].Helo) > 330 || all[0].From != "a\ufffd\ufffd@b" {
			t.Errorf("%+v", all)
		}
	})
}

func TestRecordIsSafeForManyGoroutines(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		var running, writing sync.WaitGroup
		writing.Go(func() { w.Run(ctx) })
		for g := range 8 {
			running.Go(func() {
				for i := range 100 {
					w.Record(fmt.Sprintf("box%d-%d@box.example", g, i), "a", w.entry(250))
				}
			})
		}
		running.Wait()
		cancel()
		writing.Wait()
		if n := int64(w.rows()); n+w.Dropped() != 800 {
			t.Errorf("%d rows, %d dropped", n, w.Dropped())
		}
	})
}

// BenchmarkRecord measures the cost of a mail's entry: recording it, and its share of a transaction that writes a full batch.
func BenchmarkRecord(b *testing.B) {
	d, err := db.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), db.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if _, _, err := d.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	c := clock.System()
	s := deliverylog.New(deliverylog.Parts{DB: d, Clock: c, Logger: slog.New(slog.DiscardHandler), Secret: []byte("secret")})
	ended, cancel := context.WithCancel(b.Context())
	cancel()
	e := deliverylog.Entry{From: "a@shop.example", RemoteIP: netip.MustParseAddr("198.51.100.7"), Helo: "mail.shop.example", Reply: 250, Code: "2.0.0", Reason: "Message taken", Message: "msg_01jzq8w3v5e4t9n2k7m6x0y1dr"}
	n := 0
	for b.Loop() {
		e.At = c.Now()
		s.Record(fmt.Sprintf("box%d@box.example", n%100_000), "a", e)
		if n++; n%512 == 0 {
			s.Run(ended)
		}
	}
	s.Run(ended)
	if s.Dropped() != 0 {
		b.Errorf("%d entries were dropped", s.Dropped())
	}
}

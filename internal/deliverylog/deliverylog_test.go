package deliverylog_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/id"
)

// fixture is a delivery log on a fake clock.
type fixture struct {
	*deliverylog.Service
	t     *testing.T
	db    *db.DB
	clock *clock.Fake
}

func run(t *testing.T, test func(t *testing.T, f *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := &fixture{t: t, db: d, clock: clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))}
		f.restart()
		test(t, f)
	})
}

// restart replaces the Service by a new one on the same database.
func (f *fixture) restart() {
	f.Service = deliverylog.New(deliverylog.Parts{DB: f.db, Clock: f.clock, Logger: slog.New(slog.DiscardHandler), Secret: []byte("secret")})
}

// write writes pending entries, as a shutdown does.
func (f *fixture) write() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.Run(ctx)
}

func (f *fixture) entry(reply int) deliverylog.Entry {
	return deliverylog.Entry{
		At: f.clock.Now(), From: "a@shop.example", RemoteIP: netip.MustParseAddr("198.51.100.7"), Helo: "mail.shop.example", TLS: true,
		Reply: reply, Code: fmt.Sprintf("%d.1.1", reply/100), Reason: "text", HasMailbox: reply == 250,
	}
}

func (f *fixture) list(address string) []deliverylog.Entry {
	f.t.Helper()
	all, err := f.List(f.t.Context(), address, time.Time{})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func (f *fixture) rows() (n int) {
	f.t.Helper()
	if err := f.db.QueryRow(f.t.Context(), "SELECT count(*) FROM mail_delivery").Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestEntriesAreListedBeforeAndAfterTheyAreWritten(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		first := f.entry(550)
		f.Record("ann@box.example", "198.51.100.7", first)
		f.clock.Advance(time.Second)
		second := f.entry(250)
		second.Message = "msg_1"
		f.Record("ann@box.example", "198.51.100.7", second)
		f.Record("bob@box.example", "198.51.100.7", f.entry(452))
		check := func() {
			t.Helper()
			if all := f.list("ann@box.example"); len(all) != 2 || all[0] != second || all[1] != first {
				t.Errorf("listed %+v, want %+v", all, []deliverylog.Entry{second, first})
			}
			if all := f.list("never@box.example"); len(all) != 0 {
				t.Errorf("an unknown address has the entries %+v, want none", all)
			}
		}
		check()
		f.write()
		check()
		f.restart()
		check()
	})
}

func TestEntriesOfEarlierMailboxAreHidden(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.Record("ann@box.example", "a", f.entry(250))
		f.Record("ann@box.example", "a", f.entry(550))
		f.write()
		f.Record("ann@box.example", "a", f.entry(250))
		all, err := f.List(t.Context(), "ann@box.example", f.clock.Now().Add(time.Second))
		if err != nil || len(all) != 1 || all[0].Reply != 550 {
			t.Errorf("List of the last second = %+v, %v, want one entry with the reply 550", all, err)
		}
	})
}

// Refusals has what was refused for some addresses since a time, queued and written, and nothing of other addresses or of
// an earlier mailbox.
func TestRefusalsOfSomeAddresses(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		record := func(address string, reply int, hasMailbox bool) {
			e := f.entry(reply)
			e.HasMailbox = hasMailbox
			f.Record(address, "a", e)
			f.clock.Advance(time.Second)
		}
		record("ann@box.example", 550, false)
		after := f.clock.Now().Add(-time.Millisecond)
		record("ann@box.example", 451, true) // of an earlier mailbox
		created := f.clock.Now()
		record("ann@box.example", 452, true)
		record("bob@box.example", 550, false)
		f.write()
		record("eve@box.example", 550, true)
		record("ann@box.example", 250, true)
		record("ann@box.example", 554, true)
		got, err := f.Refusals(t.Context(), map[string]time.Time{"ann@box.example": created, "bob@box.example": created}, after, 10)
		var replies []string
		for _, r := range got {
			replies = append(replies, fmt.Sprint(r.Address, " ", r.Reply))
		}
		if want := "ann@box.example 554, bob@box.example 550, ann@box.example 452"; err != nil || strings.Join(replies, ", ") != want {
			t.Errorf("Refusals of ann and bob after the first: %s, %v; want %s", strings.Join(replies, ", "), err, want)
		}
		if got, err := f.Refusals(t.Context(), map[string]time.Time{"ann@box.example": created}, after, 1); err != nil || len(got) != 1 || got[0].Reply != 554 {
			t.Errorf("Refusals of ann, at most one: %+v, %v; want the newest", got, err)
		}
	})
}

func TestEntriesEndAfterADay(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.Record("ann@box.example", "a", f.entry(550))
		f.Record("ann@box.example", "a", f.entry(250))
		f.write()
		f.clock.Advance(deliverylog.Retention)
		if all := f.list("ann@box.example"); len(all) != 0 {
			t.Errorf("List = %+v, want none", all)
		}
		f.Record("ann@box.example", "a", f.entry(550))
		f.write()
		if err := f.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := f.rows(); n != 1 {
			t.Errorf("%d rows are left, want 1", n)
		}
	})
}

func TestErasedMailboxLeavesNothing(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		erase := func() {
			err := f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				return f.EraseTx(ctx, tx, []string{"ann@box.example", "bob@box.example"})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		f.Record("ann@box.example", "a", f.entry(250))
		f.Record("eve@box.example", "a", f.entry(250))
		f.write()
		f.Record("bob@box.example", "a", f.entry(452))
		erase() // one entry is written, the other is pending
		f.write()
		if n := f.rows(); n != 1 {
			t.Errorf("%d rows are left, want 1", n)
		}
		if len(f.list("ann@box.example"))+len(f.list("bob@box.example")) != 0 || len(f.list("eve@box.example")) != 1 {
			t.Errorf("ann has %d entries, bob %d and eve %d, want only the 1 of eve left", len(f.list("ann@box.example")), len(f.list("bob@box.example")), len(f.list("eve@box.example")))
		}
	})
}

// The number of rows is limited for each address, and for the refused recipients of each client, however many addresses it tries.
func TestRowsAreBounded(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		for i := range 600 {
			f.clock.Advance(time.Millisecond)
			e := f.entry(250)
			e.Reason = fmt.Sprint(i)
			f.Record("ann@box.example", "a", e)
			if i%100 == 99 {
				f.write()
			}
		}
		all := f.list("ann@box.example")
		if n := f.rows(); n > deliverylog.ListMax+50 || len(all) != deliverylog.ListMax || all[0].Reason != "599" {
			t.Errorf("%d rows are stored and %d entries listed, the first %+v, want at most %d rows and %d entries, the newest first", n, len(all), all[0], deliverylog.ListMax+50, deliverylog.ListMax)
		}
		before := f.rows()
		for i := range 5000 {
			f.Record(fmt.Sprintf("random%d@box.example", i), "hostile", f.entry(550))
		}
		f.Record("bob@box.example", "other", f.entry(550))
		f.write()
		if n := f.rows() - before; n != 201 {
			t.Errorf("%d rows of refused recipients, want 201", n)
		}
		if f.Dropped() != 4800 {
			t.Errorf("Dropped() = %d, want 4800", f.Dropped())
		}
	})
}

// If the database is too slow, entries are dropped, beginning with those of stored mail.
func TestPendingEntriesAreBounded(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		for i := range 6000 {
			f.Record(fmt.Sprintf("box%d@box.example", i), "a", f.entry(250))
		}
		if stored := 6000 - f.Dropped(); stored != 2048 {
			t.Errorf("%d entries of stored mail wait, want 2048", stored)
		}
		f.Record("ann@box.example", "b", f.entry(550))
		if len(f.list("ann@box.example")) != 1 {
			t.Errorf("ann has %d entries, want the one of the refused recipient kept", len(f.list("ann@box.example")))
		}
	})
}

func TestLongAndInvalidTextsAreStored(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		e := f.entry(550)
		e.Helo, e.From = strings.Repeat("ü", 1000), "a\x00\xff@b"
		f.Record("ann@box.example", "a", e)
		f.write()
		all := f.list("ann@box.example")
		if len(all) != 1 || len(all[0].Helo) > 330 || all[0].From != "a\ufffd\ufffd@b" {
			t.Errorf("the entries are %+v, want one whose HELO name is cut to 330 octets and whose sender is valid UTF-8", all)
		}
	})
}

func TestRecordIsSafeForManyGoroutines(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		var running, writing sync.WaitGroup
		writing.Go(func() { f.Run(ctx) })
		for g := range 8 {
			running.Go(func() {
				for i := range 100 {
					f.Record(fmt.Sprintf("box%d-%d@box.example", g, i), "a", f.entry(250))
				}
			})
		}
		running.Wait()
		cancel()
		writing.Wait()
		if n := int64(f.rows()); n+f.Dropped() != 800 {
			t.Errorf("%d rows are stored and %d entries dropped, want 800 in all", n, f.Dropped())
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
		b.Errorf("Dropped() = %d, want 0", s.Dropped())
	}
}

// BenchmarkRecordFull measures an entry that is dropped since the queue is full.
func BenchmarkRecordFull(b *testing.B) {
	s := deliverylog.New(deliverylog.Parts{Clock: clock.System(), Logger: slog.New(slog.DiscardHandler), Secret: []byte("secret")})
	e := deliverylog.Entry{At: time.Now(), Reply: 250}
	for s.Dropped() == 0 {
		s.Record("box@box.example", "a", e)
	}
	for b.Loop() {
		s.Record("box@box.example", "a", e)
	}
}

// What the relay replies to a message of a mailbox is no refusal of mail to the mailbox.
func TestRepliesOfTheRelayAreNoRefusals(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		released := f.entry(550)
		released.Recipient = "you@example.org"
		f.Record("ann@box.example", "relay", released)
		refusals := func() int {
			all, err := f.Refusals(t.Context(), map[string]time.Time{"ann@box.example": {}}, f.clock.Now().Add(-time.Hour), 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		queued := refusals()
		f.write()
		if written := refusals(); queued+written != 0 {
			t.Errorf("Refusals has %d queued and %d written replies of the relay, want none", queued, written)
		}
		if all := f.list("ann@box.example"); len(all) != 1 || all[0].Recipient != "you@example.org" {
			t.Errorf("List = %+v, want the reply of the relay to the message for you@example.org", all)
		}
	})
}

// TestEntriesOfErasedMailboxesAreNotWritten erases a mailbox in another process while an entry of it is queued in this one.
func TestEntriesOfErasedMailboxesAreNotWritten(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		var asked []id.Mailbox
		f.Existing = func(_ context.Context, _ *db.Tx, boxes []id.Mailbox) ([]id.Mailbox, error) {
			asked = boxes
			return []id.Mailbox{"mbx_kept"}, nil
		}
		for address, box := range map[string]id.Mailbox{"kept@box.example": "mbx_kept", "erased@box.example": "mbx_erased", "none@box.example": ""} {
			e := f.entry(250)
			e.Mailbox, e.HasMailbox = box, box != ""
			f.Record(address, "198.51.100.7", e)
			f.Record(address, "198.51.100.7", e)
		}
		f.write()
		for address, want := range map[string]int{"kept@box.example": 2, "erased@box.example": 0, "none@box.example": 2} {
			if got := f.list(address); len(got) != want {
				t.Errorf("%s has %d entries, want %d", address, len(got), want)
			}
		}
		if slices.Sort(asked); !slices.Equal(asked, []id.Mailbox{"mbx_erased", "mbx_kept"}) {
			t.Errorf("Existing was asked for %v, want both mailboxes once", asked)
		}
	})
}

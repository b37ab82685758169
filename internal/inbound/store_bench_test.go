package inbound

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// BenchmarkStore commits batches of 12 mails, the size that 32 concurrent senders cause. It reports the CPU time per mail: of this process
// for storing and for preparing, and of the PostgreSQL server. With SQLite, raw messages are not stored, since they are in files.
func BenchmarkStore(b *testing.B) {
	for _, name := range []string{"text4k", "att64k"} {
		content, err := os.ReadFile("testdata/" + name + ".eml")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/sqlite", func(b *testing.B) {
			newBare(b, dbtest.Open(b, db.Options{}), bare{}).benchmarkStore(b, content, func() time.Duration { return 0 })
		})
		b.Run(name+"/postgres", func(b *testing.B) {
			server, d := benchServer(b)
			newBare(b, d, tabled{raw.NewTable(d)}).benchmarkStore(b, content, func() time.Duration {
				used, err := server.CPU()
				if err != nil {
					b.Fatal(err)
				}
				return used
			})
		})
	}
}

func (s *Service) benchmarkStore(b *testing.B, content []byte, database func() time.Duration) {
	const mails = 12
	n := 0
	before, databaseBefore := cpuTime(), database()
	var spent time.Duration // preparing
	for b.Loop() {
		begun := cpuTime()
		next := &batch{}
		for range mails {
			n++
			next.add(s.benchMail(b, fmt.Sprint("bench", n*7%64), content))
		}
		spent += cpuTime() - begun
		if err := s.store(next.mails); err != nil || next.mails[0].err != nil {
			b.Fatalf("store = %v, the first mail has %v, want no error of either", err, next.mails[0].err)
		}
		for _, m := range next.mails {
			m.release()
		}
	}
	b.ReportMetric(float64((cpuTime()-before-spent).Microseconds())/float64(n), "µs-store/mail")
	b.ReportMetric(float64(spent.Microseconds())/float64(n), "µs-prepare/mail")
	b.ReportMetric(float64((database()-databaseBefore).Microseconds())/float64(n), "µs-server/mail")
}

// benchServer starts a PostgreSQL that syncs its commits, and creates a database.
func benchServer(b *testing.B) (*dbtest.Server, *db.DB) {
	server := dbtest.StartServer(b, dbtest.Seasoned()...)
	if err := server.Season(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := server.Create(b.Context(), "bench"); err != nil {
		b.Fatal(err)
	}
	d, err := db.Open(b.Context(), server.URL("bench"), db.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	if _, _, err := d.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	return server, d
}

// tabled stores raw messages in PostgreSQL.
type tabled struct{ *raw.Table }

func (t tabled) Append(at time.Time, records []raw.Record) ([]raw.Ref, func() error, error) {
	refs, err := t.Table.Append(context.Background(), at, records)
	return refs, noWait, err
}

func (s *Service) benchMail(b testing.TB, local string, content []byte) *mail {
	m, err := s.prepare(b.Context(), &Envelope{
		From: "a@sender.example", Helo: "sender.example", RemoteIP: netip.MustParseAddr("192.0.2.1"), Protocol: "ESMTP",
		ReceivedAt: s.Clock.Now(), To: []Recipient{{Address: local + "@box.example", Local: local, Domain: "box.example", rawFor: 15 * time.Minute}},
	}, content)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// newBare returns a service with 64 mailboxes.
func newBare(b testing.TB, d *db.DB, rawMessages RawMessages) *Service {
	c, hub := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)), wake.New()
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		b.Fatal(err)
	}
	boxes := mailbox.New(mailbox.Parts{
		DB: d, Clock: c, Keys: keys, Wake: hub, Plans: bare{}, Domains: bare{}, Policy: mailbox.Policy{MaxMessages: 1 << 30}, HoldSecret: []byte("hold"),
	})
	for i := range 64 {
		if _, err := boxes.Create(b.Context(), mailbox.CreateParams{LocalPart: fmt.Sprint("bench", i)}, mailbox.Owner{}); err != nil {
			b.Fatal(err)
		}
	}
	return New(Parts{
		DB: d, Clock: c, Wake: hub, Mailboxes: boxes, RawMessages: rawMessages, Authenticator: bare{}, AttachmentMax: 5 << 20, Hostname: "mx.box.example",
		Messages: message.New(message.Parts{DB: d, Clock: c, Wake: hub, Mailboxes: boxes, Policy: message.Policy{PreviewLength: 200}}), Logger: slog.New(slog.DiscardHandler),
	})
}

// bare implements the dependencies that the benchmarks do not measure.
type bare struct{}

func (bare) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour, LiveMax: 100, DailyMail: 1 << 30, RawFor: 15 * time.Minute}, nil
}

func (b bare) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, account := range accounts {
		limits, _ := b.MailboxLimits(ctx, account)
		found(account, limits)
	}
	return nil
}

func (bare) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return "box.example", "", nil
}

func (bare) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}

func (bare) Append(_ time.Time, records []raw.Record) ([]raw.Ref, func() error, error) {
	return slices.Repeat([]raw.Ref{"p0.2ajk5.1z141z3.8.16o"}, len(records)), noWait, nil
}

func (bare) InsertTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error { return nil }

func (bare) Check(context.Context, mailauth.Input) mailauth.Result { return mailauth.Result{} }

func (bare) Header(mailauth.Result) string { return "mx.box.example; none" }

func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // only a bad address makes it fail
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// noWait is the wait function of storage without a sync of its own.
func noWait() error { return nil }

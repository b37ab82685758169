package outbound_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/mail"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/outbound"
)

var authority *apptest.Authority

func TestMain(m *testing.M) {
	apptest.Child()
	os.Exit(apptest.WithAuthority(&authority, m.Run))
}

// fixture is a service of outgoing mail that sends until the end of the test.
type fixture struct {
	*outbound.Service
	t   *testing.T
	db  *db.DB
	log *apptest.Buffer

	deliveries *deliverylog.Service // of the process that was started last

	stop func() // ends sending

	mu       sync.Mutex
	outcomes []outbound.Outcome // of tries, in their order
}

// start starts a service for a relay on an engine's database.
func start(t *testing.T, d *db.DB, r outbound.Relay, processes int) *fixture {
	t.Helper()
	f := &fixture{t: t, db: d, log: &apptest.Buffer{}}
	logger := slog.New(slog.NewTextHandler(f.log, nil))
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	f.stop = func() { stop(); all.Wait() }
	t.Cleanup(f.stop)
	for range processes {
		f.deliveries = deliverylog.New(deliverylog.Parts{DB: d, Clock: clock.System(), Logger: logger, Secret: []byte("secret")})
		s, err := outbound.New(outbound.Parts{
			DB: d, Clock: clock.System(), Logger: logger, Relay: r, From: &mail.Address{Address: "no-reply@box.example"}, Hostname: "box.example",
			Deliveries:    f.deliveries,
			Policy:        outbound.Policy{Retries: []time.Duration{20 * time.Millisecond}, KeepFor: time.Hour, InFlight: 4, Timeout: time.Minute},
			SingleProcess: processes == 1, Grace: time.Second, Address: addressOf,
			Observe: func(o outbound.Outcome) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.outcomes = append(f.outcomes, o)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Service = s
		all.Go(func() { s.Run(ctx) })
	}
	return f
}

// addressOf returns the addresses of the mailboxes in these tests, of which mbx_erased was erased.
func addressOf(_ context.Context, box id.Mailbox) (string, error) {
	if box == "mbx_erased" {
		return "", nil
	}
	return "ada@box.example", nil
}

// relayAt returns a relay that is not known to be on this machine.
func relayAt(addr string) outbound.Relay {
	host, port, _ := net.SplitHostPort(addr)
	return outbound.Relay{Host: host, Port: port}
}

// store stores a mail with some content.
func (f *fixture) store(to string, parts ...string) {
	f.t.Helper()
	next := func(context.Context) ([]byte, error) {
		if len(parts) == 0 {
			return nil, io.EOF
		}
		part := parts[0]
		parts = parts[1:]
		return []byte(part), nil
	}
	if err := f.Store(f.t.Context(), outbound.Mail{Account: "acc_a", Purpose: outbound.Release, To: to}, []byte("Subject: x\r\n\r\n"), next); err != nil {
		f.t.Fatalf("store a mail to %s: %v", to, err)
	}
}

// eventually waits until something holds.
func (f *fixture) eventually(what string, holds func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited a minute in vain, want %s; the log is\n%s", what, f.log)
		}
	}
}

func TestMailGoesOverTLSWithPassword(t *testing.T) {
	for _, implicit := range []bool{false, true} {
		dbtest.Run(t, func(t *testing.T, d *db.DB) {
			relay := authority.NewTLSRelay(t, implicit)
			r := relayAt(relay.Addr)
			r.ImplicitTLS, r.User, r.Password = implicit, "gonebox", "a secret"
			f := start(t, d, r, 1)
			f.store("ada@example.org", "hello\r\n")
			f.eventually("a mail", func() bool { return len(relay.Mails()) == 1 })
			if m := relay.Mails()[0]; !m.TLS || m.User != "gonebox" || m.To != "ada@example.org" || string(m.Data) != "Subject: x\r\n\r\nhello\r\n" {
				t.Errorf("implicit TLS %v: the relay got %+v, want the mail over TLS from the user gonebox", implicit, m)
			}
			if strings.Contains(f.log.String(), "ada@") || strings.Contains(f.log.String(), "a secret") {
				t.Errorf("the log has the address or the password, want neither:\n%s", f.log)
			}
		})
	}
}

// A relay that offers no STARTTLS gets neither the password nor a mail, unless it is on loopback.
func TestNothingIsSentWithoutTLS(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		relay := apptest.NewRelay(t)
		r := relayAt(relay.Addr)
		r.User, r.Password = "gonebox", "a secret"
		f := start(t, d, r, 1)
		f.store("ada@example.org")
		f.eventually("two tries", func() bool { return strings.Count(f.log.String(), "451 4.4.2") >= 2 })
		if n := relay.Tries(); n != 0 {
			t.Errorf("a relay without STARTTLS got %d mail transactions, want none", n)
		}
		f.stop()
		r.User, r.Password, r.Loopback = "", "", true
		start(t, d, r, 1)
		f.eventually("the mail on loopback", func() bool { return len(relay.Mails()) == 1 })
	})
}

// Several processes send each mail once, large ones as they are.
func TestProcessesSendEachMailOnce(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		relay := apptest.NewRelay(t)
		r := relayAt(relay.Addr)
		r.Loopback = true
		relay.Reply("RCPT", "450 4.2.1 a", "451 4.3.0 b", "450 4.2.1 c")
		relay.Reply("greeting", "421 4.3.2 d", "421 4.3.2 e")
		processes := 3
		if d.Engine() == db.SQLite {
			processes = 1
		}
		f := start(t, d, r, processes)
		const mails = 40
		line := strings.Repeat("x", 70) + "\r\n"
		for i := range mails {
			f.store(fmt.Sprintf("u%d@example.org", i), line, strings.Repeat(line, 8000*(i%3)), "end\r\n")
		}
		f.eventually("an empty queue", func() bool {
			var n int
			if err := d.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM outgoing_mail) + (SELECT count(*) FROM outgoing_chunk) + (SELECT count(*) FROM job)").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n == 0
		})
		got := map[string]int{}
		for _, m := range relay.Mails() {
			got[m.To]++
			var i int
			if _, err := fmt.Sscanf(m.To, "u%d@", &i); err != nil {
				t.Fatal(err)
			}
			if want := "Subject: x\r\n\r\n" + line + strings.Repeat(line, 8000*(i%3)) + "end\r\n"; string(m.Data) != want {
				t.Errorf("the content of the mail to %s has %d octets, want %d as they were stored", m.To, len(m.Data), len(want))
			}
		}
		if len(got) != mails || len(relay.Mails()) != mails {
			t.Errorf("the relay got %d mails to %d recipients, want %d to as many", len(relay.Mails()), len(got), mails)
		}
	})
}

// Each try is observed with its outcome, and what waits is counted.
func TestTriesAndWaitingMailAreCounted(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		relay := apptest.NewRelay(t)
		r := relayAt(relay.Addr)
		r.Loopback = true
		f := start(t, d, r, 1)
		waiting := func() int64 {
			t.Helper()
			n, _, err := outbound.Waiting(t.Context(), d)
			if err != nil {
				t.Fatalf("Waiting(): %v", err)
			}
			return n
		}
		want := []outbound.Outcome{outbound.Deferred, outbound.Deferred, outbound.Sent, outbound.Refused, outbound.Expired}
		relay.Reply("content", "451 4.3.0 later")
		relay.Reply("greeting", "554 5.7.1 not now")
		f.store("ada@example.org", "x\r\n")
		f.eventually("the first mail to be sent", func() bool { return waiting() == 0 })
		relay.Reply("RCPT", "550 5.1.1 unknown")
		f.store("ada@example.org", "x\r\n")
		f.eventually("the second mail to be refused", func() bool { return waiting() == 0 })
		expired := outbound.Mail{Account: "acc_a", Purpose: outbound.Release, To: "ada@example.org", For: time.Nanosecond}
		if err := f.Store(t.Context(), expired, []byte("x\r\n"), func(context.Context) ([]byte, error) { return nil, io.EOF }); err != nil {
			t.Fatal(err)
		}
		f.eventually("the third mail to be given up", func() bool { return waiting() == 0 })
		f.stop()
		if !slices.Equal(f.outcomes, want) {
			t.Errorf("the tries have the outcomes %q, want %q", f.outcomes, want)
		}

		before := clock.System().Now().Truncate(time.Microsecond)
		f.store("ada@example.org", "x\r\n")
		f.store("bob@example.org", "x\r\n")
		n, oldest, err := outbound.Waiting(t.Context(), d)
		if n != 2 || oldest.Before(before) || oldest.After(clock.System().Now()) || err != nil {
			t.Errorf("Waiting() after two mails = %d, %v, %v, want 2 since %v or later", n, oldest, err, before)
		}
	})
}

func TestContentWithoutMailIsSwept(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		f := start(t, d, outbound.Relay{Host: "127.0.0.1", Port: "1", Loopback: true}, 1)
		f.store("ada@example.org", strings.Repeat("y", 1000))
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO outgoing_chunk (mail_id, number, data) VALUES ('out_00000000000000000000000000', 0, $1)", []byte("x"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := outbound.Sweep(t.Context(), d, time.Now()); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := d.QueryRow(t.Context(), "SELECT count(*) FROM outgoing_chunk").Scan(&n); err != nil || n != 1 {
			t.Errorf("after Sweep %d rows of content are left (%v), want that of the mail that waits", n, err)
		}
	})
}

// A try may take longer than its mailbox exists. Nothing is kept then of where its owner sent mail.
func TestReleaseIsLoggedWhileItsMailboxExists(t *testing.T) {
	for box, want := range map[id.Mailbox]int{"mbx_a": 1, "mbx_erased": 0} {
		dbtest.Run(t, func(t *testing.T, d *db.DB) {
			r := relayAt(authority.NewTLSRelay(t, true).Addr)
			r.ImplicitTLS = true
			f := start(t, d, r, 1)
			m := outbound.Mail{Account: "acc_a", Purpose: outbound.Release, To: "ops@company.example", Mailbox: box, Message: "msg_1"}
			none := func(context.Context) ([]byte, error) { return nil, io.EOF }
			if err := f.Store(t.Context(), m, []byte("Subject: x\r\n\r\n"), none); err != nil {
				t.Fatalf("store a release: %v", err)
			}
			f.eventually("the end of the job", func() (ended bool) {
				if err := d.QueryRow(t.Context(), "SELECT count(*) = 0 FROM outgoing_mail").Scan(&ended); err != nil {
					t.Fatal(err)
				}
				return ended
			})
			all, err := f.deliveries.List(t.Context(), "ada@box.example", time.Time{})
			if err != nil || len(all) != want {
				t.Errorf("the delivery log has %+v of a release from %s (%v), want %d entries", all, box, err, want)
			}
		})
	}
}

package inbound_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/mailauth"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/raw"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// fixture is a Service with real dependencies, except for the storage of raw messages, domains, plans and the authentication of senders.
type fixture struct {
	t     testing.TB
	db    *db.DB
	clock *clock.Fake
	disk  *disk
	boxes *mailbox.Service
	mail  *message.Service
	in    *inbound.Service
	stop  func()
}

// run runs a test on both engines. A mailbox holds at most max messages.
func run(t *testing.T, max int, test func(t *testing.T, f *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) { test(t, newFixture(t, d, max)) })
}

const served = "box.example"

func newFixture(t testing.TB, d *db.DB, maxMessages int) *fixture {
	f := &fixture{t: t, db: d, clock: clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)), disk: &disk{kept: map[raw.Ref]raw.Record{}}}
	keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	hub := wake.New()
	f.boxes = mailbox.New(mailbox.Parts{
		DB: d, Clock: f.clock, Keys: keys, Wake: hub, Plans: plans{}, Domains: domains{}, Policy: mailbox.Policy{MaxMessages: maxMessages}, HoldSecret: []byte("hold"),
	})
	f.mail = message.New(message.Parts{
		DB: d, Clock: f.clock, Wake: hub, Mailboxes: f.boxes, RawMessages: f.disk,
		Policy: message.Policy{PreviewLength: 200, InlineImageMax: 512 << 10},
	})
	f.in = inbound.New(inbound.Parts{
		DB: d, Clock: f.clock, Wake: hub, Domains: domains{}, Mailboxes: f.boxes, Messages: f.mail, RawMessages: f.disk,
		Once: once.New(d, f.clock), Authenticator: trusting{}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Hostname: "mx.box.example", AttachmentMax: 100,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f.in.Run(ctx) })
	f.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) box(local string) *mailbox.Mailbox {
	f.t.Helper()
	m, err := f.boxes.Create(f.t.Context(), mailbox.CreateParams{LocalPart: local}, mailbox.Owner{})
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

func (f *fixture) deliver(content string, to ...string) error {
	env := &inbound.Envelope{From: "a@sender.example", Helo: "sender.example", RemoteIP: netip.MustParseAddr("192.0.2.1"), Protocol: "ESMTP", ReceivedAt: f.clock.Now()}
	for _, address := range to {
		r, err := f.in.Accept(f.t.Context(), address)
		if err != nil {
			return err
		}
		env.To = append(env.To, r)
	}
	_, err := f.in.Deliver(f.t.Context(), env, []byte(content))
	return err
}

// raw returns the raw message of a message.
func (f *fixture) raw(box id.Mailbox, m id.Message) ([]byte, error) {
	r, err := f.mail.Raw(f.t.Context(), box, m)
	if err != nil {
		return nil, err
	}
	var all []byte
	for {
		octets, err := r.Next(f.t.Context())
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, octets...)
	}
}

// newestRaw returns the raw message of the newest message of a mailbox.
func (f *fixture) newestRaw(box *mailbox.Mailbox) []byte {
	f.t.Helper()
	page, err := f.mail.List(f.t.Context(), box.ID, message.Query{Limit: 1})
	if err != nil {
		f.t.Fatalf("List of the mailbox %s: %v", box.Address, err)
	}
	raw, err := f.raw(box.ID, page.Messages[0].ID())
	if err != nil {
		f.t.Fatalf("Raw of the newest message of %s: %v", box.Address, err)
	}
	return raw
}

func (f *fixture) subjects(m *mailbox.Mailbox) string {
	f.t.Helper()
	page, err := f.mail.List(f.t.Context(), m.ID, message.Query{Limit: 100})
	if err != nil {
		f.t.Fatal(err)
	}
	var all []string
	for _, m := range page.Messages {
		s, err := m.Decode()
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, s.Subject)
	}
	return strings.Join(all, " ")
}

// dailyMail is a cap that the tests reach and the benchmark does not.
var dailyMail = 10

type plans struct{}

func (plans) MailboxLimits(context.Context, id.Account) (mailbox.Limits, error) {
	return mailbox.Limits{TTLDefault: time.Hour, TTLMax: 24 * time.Hour, LiveMax: 50, DailyMail: dailyMail, RawFor: 15 * time.Minute}, nil
}

func (p plans) MailboxLimitsOf(ctx context.Context, accounts []id.Account, found func(id.Account, mailbox.Limits)) error {
	for _, account := range accounts {
		limits, _ := p.MailboxLimits(ctx, account)
		found(account, limits)
	}
	return nil
}

type domains struct{}

func (domains) Choose(context.Context, string, id.Account) (string, id.Domain, error) {
	return served, "", nil
}

func (domains) Served(_ context.Context, name string) (id.Account, id.Domain, error) {
	if name != served {
		return "", "", problem.New(problem.MailDomainNotServed)
	}
	return "", "", nil
}

func (domains) HoldersTx(context.Context, *db.Tx, []string, func(string, id.Account, id.Domain)) error {
	return nil
}

type trusting struct{}

func (trusting) Check(context.Context, mailauth.Input) mailauth.Result {
	return mailauth.Result{SPF: mailauth.Pass, DKIM: mailauth.None, DMARC: mailauth.None}
}
func (trusting) Header(mailauth.Result) string { return "mx.box.example; spf=pass" }

// disk keeps raw messages in memory. Its methods fail with the errors that a test sets.
type disk struct {
	mu        sync.Mutex
	kept      map[raw.Ref]raw.Record
	writeErr  error
	syncErr   error
	hold      chan struct{} // if set, a sync waits for it
	inserting chan struct{} // if set, InsertTx sends to it, so that a test can wait until a transaction runs
}

func (d *disk) Append(_ time.Time, records []raw.Record) ([]raw.Ref, func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writeErr != nil {
		return nil, nil, d.writeErr
	}
	var refs []raw.Ref
	for _, r := range records {
		ref := raw.Ref(fmt.Sprint(len(d.kept)))
		r.Data = bytes.Clone(r.Data) // the caller reuses its memory
		d.kept[ref] = r
		refs = append(refs, ref)
	}
	hold, err := d.hold, d.syncErr
	return refs, func() error {
		if hold != nil {
			<-hold
		}
		return err
	}, nil
}

func (d *disk) InsertTx(context.Context, *db.Tx, []raw.Ref, []raw.Record) error {
	if d.inserting != nil {
		d.inserting <- struct{}{}
	}
	return nil
}

// appended waits until want raw messages have been appended.
func (d *disk) appended(t *testing.T, want int) {
	t.Helper()
	for range 10_000 {
		d.mu.Lock()
		n := len(d.kept)
		d.mu.Unlock()
		if n >= want {
			return
		}
		runtime.Gosched()
		<-clock.System().NewTimer(time.Millisecond).C
	}
	t.Fatalf("fewer than %d raw messages were appended in time, want that many", want)
}

func (d *disk) NewReader(ctx context.Context, ref raw.Ref) (*raw.Reader, error) {
	content, err := d.kept[ref].Read()
	if err != nil {
		return nil, err
	}
	return raw.NewReader(ctx, ref, raw.CompressChunks(nil, content))
}

func mail(subject string) string {
	return "From: Bank <bank@sender.example>\r\nSubject: " + subject + "\r\n\r\nHello.\r\n"
}

func TestAcceptFindsTheMailboxOfEverySpelling(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		f.box("quiet.otter-1")
		for address, want := range map[string]problem.Code{
			"quiet.otter-1@box.example":         "",
			"Quiet.OTTER-1@Box.Example":         "",
			"quiet.otter-1+shop@box.example":    "",
			"quiet.otter-1+a+b@box.example.":    "",
			`"quiet.otter-1"@box.example`:       "",
			`"quiet\.otter-1"@box.example`:      "",
			"quiet.otter-2@box.example":         problem.MailMailboxUnknown,
			"+shop@box.example":                 problem.MailMailboxUnknown,
			"postmaster":                        "",
			"Postmaster@BOX.example":            "",
			"ABUSE+spam@box.example":            "",
			"abuse@elsewhere.example":           problem.MailDomainNotServed,
			"hostmaster@box.example":            problem.MailMailboxUnknown,
			"quiet.otter-1@elsewhere.example":   problem.MailDomainNotServed,
			"quiet.otter-1@sub.box.example":     problem.MailDomainNotServed,
			"quiet.otter-1@[192.0.2.1]":         problem.MailDomainNotServed,
			"quiet.otter-1@":                    problem.MailDomainNotServed,
			"quiet.otter-1@box.example\x00":     problem.MailAddressSyntax,
			"quiet.otter-1@a b":                 problem.MailAddressSyntax,
			"quiet.otter-1@ｂｏｘ.example":         "",
			"quiet.otter-1@xn--box-.example":    problem.MailDomainNotServed,
			"quiet.otter-1@_dmarc.box.example":  problem.MailDomainNotServed,
			"a@b@quiet.otter-1@box.example":     problem.MailMailboxUnknown,
			"quiet.otter-1 @box.example":        problem.MailMailboxUnknown,
			"quiet.otter-1@box.example@foo.bar": problem.MailDomainNotServed,
		} {
			_, err := f.in.Accept(t.Context(), address)
			if p, _ := problem.From(err); err == nil && want != "" || err != nil && p.Code != want {
				t.Errorf("Accept(%q) = %v, want %q", address, err, want)
			}
		}
	})
}

func TestMailToSeveralRecipientsIsStoredForAllOrNone(t *testing.T) {
	run(t, 1, func(t *testing.T, f *fixture) {
		a, b := f.box("anna"), f.box("bert")
		if err := f.deliver(mail("one"), "anna@box.example", "bert@box.example", "anna+tag@box.example"); err != nil {
			t.Fatal(err)
		}
		if got := f.subjects(a) + "|" + f.subjects(b); got != "one|one" {
			t.Errorf(`stored %q, want "one|one"`, got)
		}
		c := f.box("cora")
		env := &inbound.Envelope{ReceivedAt: f.clock.Now(), To: []inbound.Recipient{
			{Address: "cora@box.example", Local: "cora", Domain: served}, {Address: "anna@box.example", Local: "anna", Domain: served},
		}}
		if _, err := f.in.Deliver(t.Context(), env, []byte(mail("two"))); !problem.Has(err, problem.MailMailboxFull) {
			t.Errorf("into a full mailbox: %v, want the problem %v", err, problem.MailMailboxFull)
		}
		if got := f.subjects(c); got != "" {
			t.Errorf("the other recipient got %q, want nothing", got)
		}
	})
}

func TestOtherRecipientsAreNotDisclosed(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a, b := f.box("anna"), f.box("bert")
		if err := f.deliver(mail("secret"), "anna+x@box.example", "bert@box.example"); err != nil {
			t.Fatal(err)
		}
		for box, want := range map[*mailbox.Mailbox]string{a: "anna+x@box.example", b: "bert@box.example"} {
			page, err := f.mail.List(t.Context(), box.ID, message.Query{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			full, err := f.mail.Get(t.Context(), box.ID, page.Messages[0].ID())
			if err != nil {
				t.Fatal(err)
			}
			content, err := f.raw(box.ID, page.Messages[0].ID())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(full.Envelope.To, ","); got != want || len(full.To) != 1 || full.To[0].Address != want {
				t.Errorf("envelope.to %s, to %v; want %s", got, full.To, want)
			}
			if strings.Contains(string(content), "@box.example") {
				t.Errorf("the raw message names a recipient, want neither in it:\n%s", content)
			}
		}
	})
}

func TestTheDailyCapDefersUntilTheNextUTCDay(t *testing.T) {
	run(t, 100, func(t *testing.T, f *fixture) {
		f.clock.Advance(11*time.Hour + 45*time.Minute) // a quarter to midnight
		f.box("anna")
		for i := range 10 {
			if err := f.deliver(mail(fmt.Sprint(i)), "anna@box.example"); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.deliver(mail("late"), "anna@box.example"); !problem.Has(err, problem.MailDailyCap) {
			t.Errorf("over the cap: %v, want the problem %v", err, problem.MailDailyCap)
		}
		f.box("bert")
		if err := f.deliver(mail("other"), "bert@box.example"); err != nil {
			t.Errorf("another mailbox: %v", err)
		}
		f.clock.Advance(20 * time.Minute)
		if err := f.deliver(mail("tomorrow"), "anna@box.example"); err != nil {
			t.Errorf("the next day: %v", err)
		}
	})
}

func TestFailedWriteOfRawMessagesStoresNothing(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		f.disk.writeErr = errors.New("no space left on device")
		if err := f.deliver(mail("lost"), "anna@box.example"); !problem.Has(err, problem.ServerUnavailable) {
			t.Errorf("Deliver = %v, want the problem %v", err, problem.ServerUnavailable)
		}
		f.disk.writeErr = nil
		if err := f.deliver(mail("again"), "anna@box.example"); err != nil || f.subjects(a) != "again" {
			t.Errorf("Deliver = %v, and %q is stored, want no error and only the mail that was sent again", err, f.subjects(a))
		}
	})
}

func TestFailedSyncOfRawMessagesStoresNothing(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		f.disk.syncErr = errors.New("input/output error")
		for range 10 { // as many as the daily cap: a rejected mail does not count
			if err := f.deliver(mail("lost"), "anna@box.example"); !problem.Has(err, problem.ServerUnavailable) {
				t.Errorf("Deliver = %v, want the problem %v", err, problem.ServerUnavailable)
			}
		}
		if got := f.subjects(a); got != "" {
			t.Errorf("%q is stored after a failed sync, want nothing, since the sender will send it again", got)
		}
		f.disk.syncErr = nil
		if err := f.deliver(mail("again"), "anna@box.example"); err != nil || f.subjects(a) != "again" {
			t.Errorf("Deliver = %v, and %q is stored, want no error and only the mail that was sent again", err, f.subjects(a))
		}
	})
}

func TestNothingIsVisibleOrAcknowledgedBeforeRawMessagesAreSynced(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		f.disk.hold = make(chan struct{})
		done := make(chan error, 1)
		env := &inbound.Envelope{ReceivedAt: f.clock.Now(), To: []inbound.Recipient{{Address: "anna@box.example", Local: "anna", Domain: served}}}
		go func() {
			_, err := f.in.Deliver(context.Background(), env, []byte(mail("held")))
			done <- err
		}()
		f.disk.appended(t, 1)
		if got := f.subjects(a); got != "" {
			t.Errorf("%q is visible before the sync, want nothing", got)
		}
		select {
		case err := <-done:
			t.Errorf("Deliver returned %v before the sync, want it to wait", err)
		default:
		}
		close(f.disk.hold)
		if err := <-done; err != nil || f.subjects(a) != "held" {
			t.Errorf("Deliver = %v, and %q is stored, want no error and the mail that was held", err, f.subjects(a))
		}
	})
}

// The next batch grows while a batch is being stored, but not beyond its bound in octets.
func TestBatchStaysWithinItsOctets(t *testing.T) {
	run(t, 1000, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		var largest atomic.Int64
		f.in.ObserveBatch = func(mails int) { largest.Store(max(largest.Load(), int64(mails))) }
		f.disk.hold = make(chan struct{})
		noise := make([]byte, 900<<10) // stored as raw message and as text, so that five of them exceed the bound of a batch
		for i := range noise {
			noise[i] = ' ' + byte(rand.Uint32N('~'-' '))
		}
		var senders sync.WaitGroup
		send := func(content string) {
			env := &inbound.Envelope{ReceivedAt: f.clock.Now(), To: []inbound.Recipient{{Address: "anna@box.example", Local: "anna", Domain: served}}}
			senders.Go(func() {
				if _, err := f.in.Deliver(context.Background(), env, []byte(content)); err != nil {
					t.Error(err)
				}
			})
		}
		send(mail("first"))
		f.disk.appended(t, 1)
		for range 9 {
			send(mail("large") + string(noise))
		}
		close(f.disk.hold)
		senders.Wait()
		if got := largest.Load(); got > 5 {
			t.Errorf("%d mails in a batch, want at most 5", got)
		}
		if got := len(strings.Fields(f.subjects(a))); got != 10 {
			t.Errorf("%d mails stored, want 10", got)
		}
	})
}

func TestRowsAreInsertedWhileRawMessagesSync(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		f.disk.hold, f.disk.inserting = make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() { done <- f.deliver(mail("held"), "anna@box.example") }()
		<-f.disk.inserting // the transaction inserts rows, and the raw messages are not synced
		close(f.disk.hold)
		if err := <-done; err != nil || f.subjects(a) != "held" {
			t.Errorf("Deliver = %v, and %q is stored, want no error and the mail that was held", err, f.subjects(a))
		}
	})
}

// An error that is caused by one mail must not prevent the others of its batch from being stored.
func TestFailedBatchIsStoredOneByOne(t *testing.T) {
	run(t, 1000, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		poison := db.Per{
			SQLite: `CREATE TRIGGER poison BEFORE INSERT ON message WHEN new.summary LIKE '%poison%'
				BEGIN SELECT raise(ABORT, 'this row cannot be stored'); END`,
			Postgres: "ALTER TABLE message ADD CONSTRAINT poison CHECK (summary NOT LIKE '%poison%')",
		}
		err := f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, poison.On(tx.Engine()))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f.disk.hold = make(chan struct{}) // the first mail keeps the worker busy, so that the others form a batch
		results := make(map[string]chan error)
		send := func(subject string) {
			result := make(chan error, 1)
			results[subject] = result
			env := &inbound.Envelope{ReceivedAt: f.clock.Now(), To: []inbound.Recipient{{Address: "anna@box.example", Local: "anna", Domain: served}}}
			go func() {
				_, err := f.in.Deliver(context.Background(), env, []byte(mail(subject)))
				result <- err
			}()
		}
		for _, s := range []string{"first", "second", "poison", "third"} {
			send(s)
		}
		close(f.disk.hold)
		for subject, result := range results {
			if err := <-result; (err != nil) != (subject == "poison") {
				t.Errorf("Deliver of the mail %s = %v, want an error of the one that is named poison alone", subject, err)
			}
		}
		if got := len(strings.Fields(f.subjects(a))); got != 3 {
			t.Errorf("stored %q, want 3", f.subjects(a))
		}
	})
}

func TestMessagesOfAMailboxSortInTheOrderOfTheirCommit(t *testing.T) {
	run(t, 1000, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		var last id.Message
		for i := range 8 { // the clock stands still, and once it goes back
			if i == 4 {
				f.clock.Advance(-time.Hour)
			}
			if err := f.deliver(mail(fmt.Sprint(i)), "anna@box.example"); err != nil {
				t.Fatal(err)
			}
			page, err := f.mail.List(t.Context(), a.ID, message.Query{Limit: 100, After: last})
			if err != nil || len(page.Messages) != 1 {
				t.Fatalf("after mail %d: %d new messages, %v, want 1", i, len(page.Messages), err)
			}
			last = page.Messages[0].ID()
		}
	})
}

func TestClientCannotForgeTraceFields(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		env := &inbound.Envelope{
			From: "x@sender.example", Helo: "evil (192.0.2.9) by mx.box.example; \u00e9", RemoteIP: netip.MustParseAddr("2001:db8::1"), Protocol: "ESMTPS",
			TLS: "TLS 1.3", ReceivedAt: f.clock.Now(), To: []inbound.Recipient{{Address: "anna@box.example", Local: "anna", Domain: served}},
		}
		content := "Authentication-Results: mx.box.example; spf=pass\r\n" + mail("x")
		if _, err := f.in.Deliver(t.Context(), env, []byte(content)); err != nil {
			t.Fatal(err)
		}
		stored := f.newestRaw(a)
		head := strings.Split(string(stored), "From: Bank")[0]
		for _, want := range []string{
			"Return-Path: <x@sender.example>\r\n", "from evil??192.0.2.9??by?mx.box.example??? ([IPv6:2001:db8::1])\r\n\tby mx.box.example with ESMTPS (TLS 1.3)",
			" for <anna@box.example>;\r\n\tSat, 14 Mar 2026 12:00:00 +0000\r\n",
		} {
			if !strings.Contains(head, want) {
				t.Errorf("the trace lacks %q:\n%s\nwant %v in it", want, head, want)
			}
		}
		if n := strings.Count(string(stored), "Authentication-Results:"); n != 1 {
			t.Errorf("%d Authentication-Results fields, want 1, without the forged one:\n%s", n, stored)
		}
	})
}

// Some readers end a line at characters that SMTPUTF8 permits in a quoted local part. They must see no field of the sender's.
func TestPathsInTraceFieldsHaveNoLineEnds(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		a := f.box("anna")
		for _, end := range []string{"\u2028", "\u2029", "\u0085", "\v", "\f"} {
			forged := end + "Authentication-Results: mx.box.example; dmarc=pass"
			env := &inbound.Envelope{
				From: `"` + forged + `"@sender.example`, RemoteIP: netip.MustParseAddr("192.0.2.1"), Protocol: "UTF8SMTP", ReceivedAt: f.clock.Now(),
				To: []inbound.Recipient{{Address: `"anna+` + forged + `"@box.example`, Local: "anna", Domain: served}},
			}
			if _, err := f.in.Deliver(t.Context(), env, []byte(mail("x"))); err != nil {
				t.Fatal(err)
			}
			stored := f.newestRaw(a)
			trace, _, _ := strings.Cut(string(stored), "From: Bank")
			if strings.Contains(trace, end) {
				t.Errorf("Deliver of a mail with %q in its paths: the trace fields are %q, want them without it", end, trace)
			}
		}
	})
}

func TestDeliverAfterRunHasEndedIsRejected(t *testing.T) {
	run(t, 10, func(t *testing.T, f *fixture) {
		f.box("anna")
		f.stop()
		if err := f.deliver(mail("late"), "anna@box.example"); !problem.Has(err, problem.ServerUnavailable) {
			t.Errorf("Deliver = %v, want the problem %v", err, problem.ServerUnavailable)
		}
	})
}

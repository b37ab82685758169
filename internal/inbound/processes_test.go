package inbound_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// processes returns n worlds on one PostgreSQL, each with its own connections, as n processes would have.
func processes(t *testing.T, n, max int) []*fixture {
	t.Helper()
	url := dbtest.PostgresURL(t)
	var all []*fixture
	for range n {
		d, err := db.Open(t.Context(), url, db.Options{Logger: slog.New(slog.DiscardHandler), Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		all = append(all, newFixture(t, d, max))
	}
	return all
}

// Three processes receive mail for the same three mailboxes, with recipients in different orders. Every accepted mail must be stored once in
// each mailbox, the counts must be right, and no mailbox may get more than its daily cap.
func TestProcessesThatShareMailboxesCountTogether(t *testing.T) {
	const mails = 30
	all := processes(t, 3, 1000)
	locals := []string{"anna", "bert", "cora"}
	for _, local := range locals {
		all[0].box(local)
	}
	var accepted, capped atomic.Int32
	var wg sync.WaitGroup
	for p, w := range all {
		for i := range mails {
			wg.Go(func() {
				env := &inbound.Envelope{ReceivedAt: w.clock.Now()}
				for k := range locals {
					local := locals[(k*(1+p%2)+i)%len(locals)]
					env.To = append(env.To, inbound.Recipient{Address: local + "@" + served, Local: local, Domain: served})
				}
				switch _, err := w.in.Deliver(context.Background(), env, []byte(mail(fmt.Sprintf("p%d-%d", p, i)))); {
				case err == nil:
					accepted.Add(1)
				case problem.Has(err, problem.MailDailyCap):
					capped.Add(1)
				default:
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if accepted.Load() != int32(dailyMail) || accepted.Load()+capped.Load() != 3*mails {
		t.Errorf("%d mails were accepted and %d refused by the daily cap, want %d accepted of %d", accepted.Load(), capped.Load(), dailyMail, 3*mails)
	}
	all[1].clock.Advance(time.Minute) // its cache of mailboxes may lack what the other processes stored last
	for _, local := range locals {
		m, _, err := all[1].boxes.Find(t.Context(), local+"@"+served)
		if err != nil {
			t.Fatal(err)
		}
		subjects := strings.Fields(all[2].subjects(m))
		distinct := make(map[string]bool)
		for _, s := range subjects {
			distinct[s] = true
		}
		if len(subjects) != dailyMail || len(distinct) != dailyMail || m.MessageCount != dailyMail {
			t.Errorf("%s has %d mails, %d different ones, and counts %d, want %d of each", local, len(subjects), len(distinct), m.MessageCount, dailyMail)
		}
	}
}

// New messages sort behind those that a client has already seen, whichever process receives them.
func TestMessagesSortInTheOrderOfTheirCommitAcrossProcesses(t *testing.T) {
	all := processes(t, 2, 1000)
	a := all[0].box("anna")
	all[1].clock.Advance(-3600e9) // clocks differ
	var seen []string
	for i := range dailyMail {
		if err := all[i%2].deliver(mail(fmt.Sprint(i)), "anna@box.example"); err != nil {
			t.Fatal(err)
		}
		page, err := all[(i+1)%2].mail.List(t.Context(), a.ID, message.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var now []string
		for _, m := range page.Messages {
			s, err := m.Decode()
			if err != nil {
				t.Fatal(err)
			}
			now = append([]string{s.Subject}, now...)
		}
		if len(now) != i+1 || strings.Join(now[:i], " ") != strings.Join(seen, " ") {
			t.Fatalf("after mail %d the mailbox has %v, want a new mail in front of %v", i, now, seen)
		}
		seen = now
	}
}

// A mailbox may be in the cache of a process when another process destroys it. The batch detects that, and removes it from the cache.
func TestMailboxDestroyedByAnotherProcessIsNotFound(t *testing.T) {
	all := processes(t, 2, 1000)
	box := all[0].box("anna")
	if err := all[1].deliver(mail("first"), "anna@box.example"); err != nil {
		t.Fatal(err)
	}
	if err := all[0].boxes.Destroy(t.Context(), box.ID); err != nil {
		t.Fatal(err)
	}
	if err := all[1].deliver(mail("second"), "anna@box.example"); !problem.Has(err, problem.MailMailboxUnknown) {
		t.Errorf("mail for a mailbox that has ended: %v, want the problem %v", err, problem.MailMailboxUnknown)
	}
	if m, _, err := all[1].boxes.Find(t.Context(), "anna@box.example"); m != nil || err != nil {
		t.Errorf("Find of an ended mailbox in another process = %v, %v, want none", m, err)
	}
}

// Another process may delete a project and make another one of the same name, while this one has the mailbox of the first in its cache.
func TestMailForAProjectMadeAnewByAnotherProcessIsAccepted(t *testing.T) {
	all := processes(t, 2, 1000)
	create := func() *mailbox.Mailbox {
		var m *mailbox.Mailbox
		if err := all[0].db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			m, err = all[0].boxes.CreateProjectTx(ctx, tx, "suite", "")
			return err
		}); err != nil {
			t.Fatalf("CreateProjectTx of suite: got the error %v, want none", err)
		}
		return m
	}
	accept := func(m *mailbox.Mailbox) error {
		p := &inbound.Project{Name: "suite", Mailbox: m.ID, Address: m.Address, Retention: time.Hour}
		_, err := all[1].in.Accept(inbound.WithProject(t.Context(), p), "ada@app.test")
		return err
	}
	before := create()
	if err := accept(before); err != nil {
		t.Fatalf("Accept for the first project: got the error %v, want none", err)
	}
	if err := all[0].db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return all[0].boxes.EndProjectTx(ctx, tx, before.ID)
	}); err != nil {
		t.Fatalf("EndProjectTx: got the error %v, want none", err)
	}
	if err := accept(create()); err != nil {
		t.Errorf("Accept for the project that was made anew: got the error %v, want none", err)
	}
	if err := accept(before); !problem.Has(err, problem.MailMailboxUnknown) {
		t.Errorf("Accept for the project that was deleted: got the error %v, want %v", err, problem.MailMailboxUnknown)
	}
}

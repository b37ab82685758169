// Package retention_test lets hours of mail pass in a minute by moving the clock of every process, and checks what
// PostgreSQL still holds: expired data must be gone, and the tables must stop growing.
package retention_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

var (
	mails = flag.Int("mails", 12, "mails that come in every minute of the service's time")
	hours = flag.Int("hours", 3, "hours of the service's time that pass")
)

func TestMain(m *testing.M) {
	apptest.Child()
	os.Exit(apptest.RunLong("PostgreSQL, and half a minute", m.Run))
}

func TestExpiredMailIsDeletedForHours(t *testing.T) {
	s := apptest.Start(t, apptest.Options{Processes: []string{"smtp, api", "smtp, api", "jobs"}})
	d := s.Database()
	t.Logf("%8s %9s %9s %9s %10s %10s %10s %6s", "minute", "messages", "dead", "mailboxes", "message", "mailbox", "raw messages", "parts")
	var late []string // identifiers of mailboxes that must be gone at the end
	for minute := range *hours * 60 {
		boxes := takeMinute(t, s)
		if minute < (*hours-1)*60-2 {
			late = append(late, boxes...)
		}
		s.Clock.Advance(time.Minute)
		if minute%15 == 14 {
			t.Log(sample(t, d, minute+1))
		}
	}
	settle(t, s, d)
	t.Log(sample(t, d, *hours*60+1))

	for _, box := range late {
		if n := count(t, d, "SELECT count(*) FROM mailbox WHERE id = $1", box) + count(t, d, "SELECT count(*) FROM message WHERE mailbox_id = $1", box); n > 0 {
			t.Errorf("%d rows of mailbox %s are left, want 0", n, box)
		}
	}
	if n := count(t, d, "SELECT count(*) FROM message"); n == 0 || n > *mails*61 {
		t.Errorf("%d messages are stored, want some, and at most the %d of an hour and a minute", n, *mails*61)
	}
	if n := count(t, d, partitions); n == 0 || n > 3*31+3 { // of each minute, for a quarter of an hour and until they are dropped, and three ahead
		t.Errorf("%d partitions of raw messages exist, want 1 to %d", n, 3*31+3)
	}
}

const partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'raw_message'::regclass"

// takeMinute sends a minute's mails, each to a mailbox of its own, and returns the mailboxes.
func takeMinute(t *testing.T, s *apptest.Service) []string {
	t.Helper()
	ids := make([]string, *mails)
	var crowd sync.WaitGroup
	for i := range ids {
		box := s.NewMailbox()
		ids[i] = box.ID
		crowd.Go(func() {
			err := s.TrySend(apptest.Mail{To: []string{box.Address}, Subject: "Your code", Text: "Your code is 482913." + strings.Repeat("\nWords that make it an ordinary mail.", 80)})
			if err != nil {
				t.Errorf("mail %d: %v", i, err)
			}
		})
	}
	crowd.Wait()
	return ids
}

// settle waits until what has expired is erased; the clock goes on meanwhile.
func settle(t *testing.T, s *apptest.Service, d *sql.DB) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for count(t, d, "SELECT count(*) FROM mailbox WHERE expires_at < $1", s.Clock.Now().Add(-2*time.Minute).UnixMicro()) > 0 {
		if time.Now().After(deadline) {
			t.Fatal("expired mailboxes were not erased within 30 s")
		}
		s.Clock.Advance(time.Second)
		time.Sleep(10 * time.Millisecond) // leaves the processor to what is waited for; it decides nothing
	}
}

// sample is a line of the table of what PostgreSQL holds: rows, and sizes in KiB.
func sample(t *testing.T, d *sql.DB, minute int) string {
	t.Helper()
	size := func(condition string) int {
		return count(t, d, "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint / 1024 FROM pg_class WHERE relkind = 'r' AND "+condition)
	}
	return fmt.Sprintf("%8d %9d %9d %9d %10d %10d %10d %6d", minute, count(t, d, "SELECT count(*) FROM message"),
		count(t, d, "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'message'"), count(t, d, "SELECT count(*) FROM mailbox"),
		size("relname = 'message'"), size("relname = 'mailbox'"), size("relname LIKE 'raw_message%'"), count(t, d, partitions))
}

func count(t *testing.T, d *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := d.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("count by %s: %v", query, err)
	}
	return n
}

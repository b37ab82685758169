package mailbox_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

const (
	maxLive = 6
	maxMail = 25
)

// Batches of mail that open mailboxes of a catch-all, mailboxes that are made by hand and others that are destroyed meet in
// the same account at the same time. The plan's bounds hold to the last, and every count is what can be counted.
func TestConcurrentWritesAreCountedExactly(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		keys, err := token.NewKeyring(token.Key{ID: 1, Secret: [32]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		c := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
		limits := mailbox.Limits{TTLDefault: time.Hour, TTLMax: time.Hour, LiveMax: maxLive, DailyMail: maxMail}
		s := mailbox.New(mailbox.Parts{
			DB: d, Clock: c, Keys: keys, Wake: wake.New(), Plans: &plan{limits}, Domains: &privateDomain{held: true}, Policy: mailbox.Policy{MaxMessages: 100}, HoldSecret: []byte("hold"),
		})
		var taken atomic.Int32
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() {
				switch i % 4 {
				case 0:
					m, err := s.Create(t.Context(), mailbox.CreateParams{}, mailbox.Owner{Account: owner})
					if err == nil && i%8 == 0 {
						err = s.DestroyOwned(t.Context(), owner, m.ID)
					}
					refusedFor(t, err, problem.MailboxLimitReached)
				default:
					to := []string{fmt.Sprintf("a%d@%s", i%7, privateName), fmt.Sprintf("a%d@%s", (i+3)%7, privateName)}
					err := book(t, d, s, to...)
					refusedFor(t, err, problem.MailMailboxFull, problem.MailDailyCap)
					if err == nil {
						taken.Add(2)
					}
				}
			})
		}
		wg.Wait()
		boxes, err := s.OfAccount(t.Context(), owner, "", 100)
		if err != nil || len(boxes) > maxLive {
			t.Errorf("%d mailboxes, %v, want at most %v", len(boxes), err, maxLive)
		}
		messages := 0
		for _, m := range boxes {
			messages += m.MessageCount
		}
		var live, today int
		err = d.QueryRow(t.Context(), "SELECT live, (SELECT count FROM mail_day WHERE account_id = $1) FROM mailbox_owner WHERE account_id = $1", owner).Scan(&live, &today)
		if err != nil || live != len(boxes) || today != int(taken.Load()) || messages != today || today > maxMail {
			t.Errorf("%d mailboxes live and are counted as %d; %d messages were taken, %d are there and counted as %d, %v; want equal counts, at most %d messages and no error", len(boxes), live, taken.Load(), messages, today, err, maxMail)
		}
	})
}

// refusedFor fails the test unless err is nil or has one of the codes.
func refusedFor(t *testing.T, err error, codes ...problem.Code) {
	t.Helper()
	for _, code := range codes {
		if err == nil || problem.Has(err, code) {
			return
		}
	}
	t.Error(err)
}

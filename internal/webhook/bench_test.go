package webhook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/id"
)

// BenchmarkDelivery measures a delivery without the network: an event is enqueued, claimed, signed, sent and settled.
func BenchmarkDelivery(b *testing.B) {
	for _, accounts := range []int{1, 50} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			f := newFixture(b, dbtest.Open(b, db.Options{}))
			for i := range accounts {
				f.create(account(i), event.MailboxExpiredName)
			}
			defer f.run()()
			f.waitDrained(b) // sends the pings
			start, n := time.Now(), 0
			var events []event.Event
			for i := 0; b.Loop(); i++ {
				if events = append(events, expired(account(i%accounts), "")); len(events) < 64 { // as in a batch of mails
					continue
				}
				if err := f.publish(events...); err != nil {
					b.Fatal(err)
				}
				n, events = n+len(events), events[:0]
			}
			f.waitDrained(b)
			b.ReportMetric(float64(n)/time.Since(start).Seconds(), "deliveries/s")
		})
	}
}

// BenchmarkPublish measures what publishing an event costs without an endpoint and with one.
func BenchmarkPublish(b *testing.B) {
	for _, endpoints := range []int{0, 1} {
		b.Run(fmt.Sprintf("endpoints=%d", endpoints), func(b *testing.B) {
			f := newFixture(b, dbtest.Open(b, db.Options{}))
			for range endpoints {
				f.create(ada, event.MailboxExpiredName)
			}
			err := f.db.Update(b.Context(), func(ctx context.Context, tx *db.Tx) error {
				for b.Loop() {
					if err := f.outbox.PublishTx(ctx, tx, expired(ada, "")); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

func account(i int) id.Account { return id.Account(fmt.Sprintf("acc_%d", i)) }

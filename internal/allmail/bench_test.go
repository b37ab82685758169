package allmail_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

const benchEach = 500 // messages a mailbox

// BenchmarkSearch searches 100,000 messages in 200 mailboxes. The first search, which reads them all, is reported apart. With -bench
// List and Delete it measures pages, and the deletion of 10,000 messages.
func BenchmarkSearch(b *testing.B) {
	w := newFixture(b, dbtest.Open(b, db.Options{}))
	var boxes []*mailbox.Mailbox
	for range 200 {
		boxes = append(boxes, w.create())
	}
	for i := range benchEach {
		w.deliver(i*len(boxes), boxes...)
	}
	begun := time.Now()
	w.list(allmail.Query{Search: w.parse("zzz")})
	b.Logf("the first search took %v", time.Since(begun))
	for _, text := range []string{"zzz", "e", "to:example.org subject:9999", "is:unread", "-ten from:app7", "98765"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				w.list(allmail.Query{Query: message.Query{Limit: 50}, Search: w.parse(text)})
			}
		})
	}
	for name, q := range map[string]allmail.Query{"page": {}, "to": {Query: message.Query{Match: message.Match{To: "zzz"}}}, "mailbox": {Mailbox: boxes[7].Address}} {
		b.Run("list/"+name, func(b *testing.B) {
			for q.Limit = 50; b.Loop(); {
				w.list(q)
			}
		})
	}
	begun = time.Now()
	n, err := w.Delete(b.Context(), w.account, allmail.Selection{Search: w.parse("subject:1")})
	b.Logf("deleting %d messages took %v: %v", n, time.Since(begun), err)
	begun = time.Now()
	n, err = w.Delete(b.Context(), w.account, allmail.Selection{})
	b.Logf("deleting %d messages took %v: %v", n, time.Since(begun), err)
}

package allmail_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

// Between the reads of the mailboxes and of their messages, a message is committed in a mailbox that had none, and a later one in a mailbox
// that is read. If the later one were listed, a client would go on after it, and never see the earlier one.
func TestMessagesCommittedBetweenTheReadsAreNotPassedOver(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		a, b := w.create(), w.create()
		w.deliver(1, a)
		for _, c := range []struct {
			name string
			q    allmail.Query
		}{
			{"a list", allmail.Query{}},
			{"a search", allmail.Query{Search: w.parse("hello")}},
			{"a filter", allmail.Query{Query: message.Query{Match: message.Match{From: "app"}}}},
			{"a filter with a wait", allmail.Query{Query: message.Query{Wait: time.Nanosecond, Match: message.Match{Unseen: true}}}},
		} {
			_, before := w.list(c.q)
			q, n := c.q, 1
			if subjects, _ := w.list(allmail.Query{}); subjects != "" {
				n, _ = strconv.Atoi(strings.Fields(subjects)[0])
			}
			w.afterHolders = func() { w.deliver(n+1, b); w.deliver(n+2, a) }
			all, newest := w.list(q)
			if w.afterHolders != nil {
				t.Fatalf("%s: listing did not read the mailboxes, want them read between its two reads", c.name)
			}
			if newest != before {
				t.Errorf("%s while mail arrives: %s, want nothing later than %s", c.name, all, before)
			}
			q.After = newest
			if got, _ := w.list(q); got != fmt.Sprint(n+2, " ", n+1) {
				t.Errorf("%s after the newest message of the page: %s, want %d %d", c.name, got, n+2, n+1)
			}
		}
	})
}

// Messages that arrive while an index is loaded for the first time are found.
func TestSearchFindsWhatArrivesWhileTheIndexIsLoaded(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		a, b := w.create(), w.create()
		w.deliver(1, a)
		w.afterHolders = func() { w.deliver(2, b, a) } // the first read of the mailboxes is that of the load
		if got, _ := w.list(allmail.Query{Search: w.parse("hello")}); got != "3 2 1" {
			t.Errorf("List of a search while mail arrives: %s, want 3 2 1", got)
		}
	})
}

// The list is that of one mailbox after the other, merged, whatever the page size and however many mailboxes there are.
func TestPagesMergeManyMailboxes(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		var boxes []*mailbox.Mailbox
		for range 150 { // more than a statement reads
			boxes = append(boxes, w.create())
		}
		var want []string
		for i := range 300 {
			w.deliver(i, boxes[i*i%len(boxes)])
			want = append(want, fmt.Sprint(i))
		}
		slices.Reverse(want)
		for name, q := range map[string]allmail.Query{
			"pages": {}, "searched pages": {Search: w.parse("hello")}, "filtered pages": {Query: message.Query{Match: message.Match{From: "APP"}}},
		} {
			for _, limit := range []int{7, 100} {
				var got []string
				for q.Limit, q.Cursor = limit, ""; ; {
					page, err := w.List(t.Context(), w.account, q)
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range page.Messages {
						summary, err := m.Decode()
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, summary.Subject)
					}
					if q.Cursor = page.Next; q.Cursor == "" {
						break
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s of %d: %v, want %v", name, limit, got, want)
				}
			}
		}
	})
}

// A process that has not looked for longer than changes are recorded reads everything again.
func TestIndexOfAnIdleProcessIsReadAgain(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		a := w.create()
		w.deliver(1, a, a, a)
		q := allmail.Query{Search: w.parse("is:unread")}
		if got, _ := w.list(q); got != "3 2 1" {
			t.Errorf("List of is:unread: %s, want 3 2 1", got)
		}
		seen := true
		if n, err := w.Update(t.Context(), w.account, allmail.Selection{Search: w.parse("subject:2")}, allmail.Change{Seen: &seen}); n != 1 || err != nil {
			t.Fatalf("Update(subject:2, seen) = %d, %v, want 1", n, err)
		}
		w.clock.Advance(10 * time.Minute)
		if err := w.mailboxes.SweepChanges(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, _ := w.list(q); got != "3 1" {
			t.Errorf("List of is:unread after the changes were erased: %s, want 3 1", got)
		}
	})
}

// A client that leaves does not spoil the index for the next one.
func TestSearchAfterACancelledOne(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		a := w.create()
		w.deliver(1, a, a)
		ctx, cancel := context.WithCancel(t.Context())
		w.afterHolders = cancel
		if _, err := w.List(ctx, w.account, allmail.Query{Query: message.Query{Limit: 10}, Search: w.parse("hello")}); !errors.Is(err, context.Canceled) {
			t.Errorf("List with a context that ends: %v, want %v", err, context.Canceled)
		}
		if got, _ := w.list(allmail.Query{Search: w.parse("hello")}); got != "2 1" {
			t.Errorf("List after a cancelled one: %s, want 2 1", got)
		}
	})
}

// The index of a search that goes on is evicted for that of another account. The search does not keep it, since the memory of many
// searches would not be bounded then, and begins again.
func TestSearchesWhoseIndexIsEvicted(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		const messages = 1100 // more than a change reads at once
		w.parts.IndexMax = 1_000_000
		w.Service = allmail.New(w.parts)
		ada, bob := w.account, id.New[id.Account](noon().Add(time.Second))
		for _, w.account = range []id.Account{bob, ada} {
			w.deliver(0, slices.Repeat([]*mailbox.Mailbox{w.create()}, messages)...)
		}
		hello := w.parse("hello")
		evict := func() {
			reads := w.holderReads
			if _, err := w.List(t.Context(), bob, allmail.Query{Query: message.Query{Limit: 1}, Search: hello}); err != nil {
				t.Fatal(err)
			}
			w.holderReads = reads
		}
		evict()
		w.holderReads = 0
		w.afterHolders = func() { w.afterHolders = evict } // when the index is loaded, and before it is searched
		if got, _ := w.list(allmail.Query{Query: message.Query{Limit: 3}, Search: hello}); got != "1099 1098 1097" {
			t.Errorf("List of hello whose index was evicted: %s, want 1099 1098 1097", got)
		}
		if w.holderReads != 4 {
			t.Errorf("List of hello whose index was evicted: read the mailboxes %d times, want 4: twice for each index", w.holderReads)
		}
		w.afterUpdate = evict
		if n, err := w.Delete(t.Context(), ada, allmail.Selection{Search: hello}); n != messages || err != nil {
			t.Errorf("Delete of hello whose index was evicted: %d, %v, want %d", n, err, messages)
		}
		if got, _ := w.list(allmail.Query{}); got != "" {
			t.Errorf("List after Delete: %s, want none", got)
		}
	})
}

// An identifier is found whatever mailbox it is in, also where there are too many mailboxes to ask each for it.
func TestManyIdentifiersAreFound(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		var boxes []*mailbox.Mailbox
		for range 260 {
			boxes = append(boxes, w.create())
		}
		w.deliver(0, boxes...)
		w.deliver(1000, boxes...) // so that each mailbox may have each message of the first ones
		page, err := w.List(t.Context(), w.account, allmail.Query{Query: message.Query{Limit: 520}})
		if err != nil {
			t.Fatal(err)
		}
		var sel allmail.Selection
		for _, m := range page.Messages {
			sel.IDs = append(sel.IDs, m.ID())
		}
		if n, err := w.Delete(t.Context(), w.account, sel); n != 520 || err != nil {
			t.Errorf("Delete of %d identifiers: %d, %v, want 520", len(sel.IDs), n, err)
		}
		if got, _ := w.list(allmail.Query{}); got != "" {
			t.Errorf("List after deleting all: %s, want none", got)
		}
	})
}

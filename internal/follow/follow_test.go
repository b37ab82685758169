package follow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/follow"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

// Between the two reads of a follower, a message is committed in a mailbox that the first read has not found, and a later one in a mailbox that
// it has found. If the later one were reported at once, the earlier one would never be reported.
func TestMessagesCommittedBetweenTheReadsAreNotMissed(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		a, b := w.create(account), w.create(account)
		f := w.ofAccount(account, "", message.CredentialCheck{})
		first := w.deliver(a)[0]
		var second, third id.Message
		w.beforeRead = func() {
			w.beforeRead = nil
			second, third = w.deliver(b)[0], w.deliver(a)[0]
		}
		w.wantMessages(w.now(f), first)
		w.wantMessages(w.now(f), second, third)
		w.wantMessages(w.now(f))
	})
}

// The times of messages in one transaction increase across all mailboxes of their account.
func TestMessagesOfOneTransactionAreReportedInOrder(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		boxes := []*mailbox.Mailbox{w.create(account), w.create(account), w.create(account)}
		f := w.ofAccount(account, "", message.CredentialCheck{})
		all := w.deliver(boxes[2], boxes[0], boxes[1], boxes[0])
		w.wantMessages(w.now(f), all...)
		all = w.deliver(boxes[1], boxes[2])
		w.wantMessages(w.now(f), all...)
	})
}

func TestFollowersBeginAfterAMessage(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		box, other := w.create(account), w.create(account)
		fresh, freshAccount := w.ofMailbox(box, "", message.CredentialCheck{}), w.ofAccount(account, "", message.CredentialCheck{})
		one, elsewhere, two := w.deliver(box)[0], w.deliver(other)[0], w.deliver(box)[0]
		w.wantMessages(w.now(fresh), one, two)
		w.wantMessages(w.now(freshAccount), one, elsewhere, two)
		for _, c := range []struct {
			after        id.Message
			box, account []id.Message
		}{
			{"", nil, nil}, // earlier messages are not reported
			{id.FromBytes[id.Message]([16]byte{}), []id.Message{one, two}, []id.Message{one, elsewhere, two}},
			{one, []id.Message{two}, []id.Message{elsewhere, two}},
			{elsewhere, []id.Message{two}, []id.Message{two}},
			{two, nil, nil},
		} {
			w.wantMessages(w.now(w.ofMailbox(box, c.after, message.CredentialCheck{})), c.box...)
			w.wantMessages(w.now(w.ofAccount(account, c.after, message.CredentialCheck{})), c.account...)
		}
	})
}

func TestManyMessagesAreReportedFiftyAtATime(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		a, b := w.create(account), w.create(account)
		f := w.ofAccount(account, "", message.CredentialCheck{})
		var all []id.Message
		for range 60 {
			all = append(all, w.deliver(a, b)...)
		}
		for page := range slices.Chunk(all, 50) {
			w.wantMessages(w.now(f), page...)
		}
		w.wantMessages(w.now(f))
	})
}

func TestAccountFollowersReportNewMailboxesAndNoOthers(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		f := w.ofAccount(account, "", message.CredentialCheck{})
		guest, stranger, own := w.create(""), w.create(id.New[id.Account](noon())), w.create(account)
		w.deliver(guest, stranger)
		got := w.deliver(own)
		w.wantMessages(w.now(f), got...)
		w.extend(guest, 2*time.Hour)
		w.extend(stranger, 2*time.Hour)
		if events := w.now(f); len(events) != 0 {
			t.Errorf("Next = %+v, want no event", events)
		}
		if err := w.mailboxes.Destroy(t.Context(), own.ID); err != nil {
			t.Fatal(err)
		}
		if events := w.now(f); len(events) != 0 {
			t.Errorf("the follower of an account got %+v after the end of its mailboxes, want no event", events)
		}
	})
}

// wantChanges fails the test unless the events are changes of these kinds in a mailbox.
func (w *fixture) wantChanges(events []follow.Event, box *mailbox.Mailbox, kinds ...follow.Kind) {
	w.t.Helper()
	var got []follow.Kind
	for _, e := range events {
		if got = append(got, e.Kind); e.Mailbox != box.ID {
			w.t.Errorf("the event is %+v, want one of the mailbox %s", e, box.ID)
		}
	}
	if !slices.Equal(got, kinds) {
		w.t.Errorf("events %v, want %v", got, kinds)
	}
}

func TestChangesAreReportedOnceAfterTheirMessage(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		box := w.create(account)
		w.extend(box, 2*time.Hour)
		for _, open := range []func() *follow.Follower{
			func() *follow.Follower { return w.ofMailbox(box, "", message.CredentialCheck{}) },
			func() *follow.Follower { return w.ofAccount(account, "", message.CredentialCheck{}) },
		} {
			f := open()
			m := w.deliver(box)[0]
			w.markSeen(box, m, true)
			w.markSeen(box, m, false)
			w.clock.Advance(time.Minute)
			w.extend(box, 2*time.Hour)
			w.markDeleted(box, m)
			w.wantMessages(w.now(f), m)
			events := w.now(f)
			w.wantChanges(events, box, follow.Seen, follow.Seen, follow.Mailbox, follow.Deleted)
			if !events[0].Seen || events[1].Seen || events[0].Message != m || events[3].Message != m || !events[3].Seen {
				t.Errorf("Next = %+v, want the message %s seen, unseen, and in the end deleted, as seen", events, m)
			}
			if want := w.clock.Now().Add(2 * time.Hour); !events[2].ExpiresAt.Equal(want) {
				t.Errorf("it expires at %s, want %s", events[2].ExpiresAt, want)
			}
			for range 4 { // both within the overlap and after it
				w.wantChanges(w.now(f), box)
				w.clock.Advance(mailbox.ChangesOverlap / 2)
			}
			w.markDeleted(box, m)
			w.wantChanges(w.now(f), box, follow.Deleted)
		}
	})
}

func TestManyChangesAreReportedFiftyAtATime(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		box := w.create("")
		f := w.ofMailbox(box, "", message.CredentialCheck{})
		m := w.deliver(box)[0]
		w.wantMessages(w.now(f), m)
		for i := range 70 {
			w.markSeen(box, m, i%2 == 0)
		}
		w.clock.Advance(mailbox.ChangesOverlap - time.Second) // the second page must be reported, too, although the first one ends the overlap
		seen := append(w.now(f), w.now(f)...)
		w.wantChanges(w.now(f), box)
		if len(seen) != 70 {
			t.Fatalf("%d changes, want 70", len(seen))
		}
		for i, e := range seen {
			if e.Seen != (i%2 == 0) {
				t.Errorf("change %d: %+v, want Seen %v", i, e, i%2 == 0)
			}
		}
	})
}

// A change of a process whose clock is behind becomes visible after later ones were reported.
func TestChangesOfASlowClockAreReported(t *testing.T) {
	run(t, func(t *testing.T, w *fixture) {
		account := id.New[id.Account](noon())
		box := w.create(account)
		f := w.ofAccount(account, "", message.CredentialCheck{})
		m := w.deliver(box)[0]
		w.wantMessages(w.now(f), m)
		w.markSeen(box, m, true)
		w.wantChanges(w.now(f), box, follow.Seen)
		slow := newFixture(t, w.db)
		slow.clock.Advance(-mailbox.ChangesOverlap + time.Second)
		slow.markDeleted(box, m)
		w.wantChanges(w.now(f), box, follow.Deleted)
		w.wantChanges(w.now(f), box)
	})
}

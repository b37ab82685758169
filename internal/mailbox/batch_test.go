package mailbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
)

// reserve reserves places for mails, each to some addresses, in one batch.
func (f *fixture) reserve(t *testing.T, mails ...[]string) (reservations [][]mailbox.Reservation, errs []error) {
	t.Helper()
	err := f.db.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		reservations, errs = nil, nil
		var all []string
		for _, to := range mails {
			all = append(all, to...)
		}
		b, err := f.BatchTx(ctx, tx, all, nil)
		if err != nil {
			return err
		}
		for _, to := range mails {
			s, err := b.Reserve(to)
			reservations, errs = append(reservations, s), append(errs, err)
		}
		return b.SaveTx(ctx, tx)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reservations, errs
}

const (
	ann = "ann@example.org"
	bob = "bob@example.org"
)

func TestBatchReservesForEachMail(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		a, _ := f.create(t, "ann", mailbox.Owner{})
		b, _ := f.create(t, "bob", mailbox.Owner{})
		reservations, errs := f.reserve(t, []string{ann}, []string{ann, bob, ann}, []string{ann, "unknown@example.org"}, []string{bob})
		for i, code := range []problem.Code{"", "", problem.MailMailboxUnknown, ""} {
			refused(t, "mail", errs[i], code)
		}
		if len(reservations[0]) != 1 || len(reservations[1]) != 2 || len(reservations[2]) != 0 || len(reservations[3]) != 1 {
			t.Fatalf("the mails reserve %+v, want 1, 2, none and 1", reservations)
		}
		if s := reservations[1]; s[0].Box != a.ID || s[0].Address != ann || s[1].Box != b.ID || s[0].RawFor != 15*time.Minute {
			t.Errorf("the second mail reserves %+v, want %s for %s, kept for %s, and then %s", s, a.ID, ann, 15*time.Minute, b.ID)
		}
		// What was left out left no trace in the counts.
		for local, want := range map[string]int{ann: 2, bob: 2} {
			m, _, err := f.Find(t.Context(), local)
			if err != nil || m.MessageCount != want || m.UnreadCount != want {
				t.Errorf("%s is %+v, %v, want %d messages, all unread", local, m, err, want)
			}
		}
	})
}

// The messages of a mailbox have times and identifiers that rise, even when the clock stands still or goes back.
func TestTimesOfAMailboxAlwaysRise(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.create(t, "ann", mailbox.Owner{})
		reservations, _ := f.reserve(t, []string{ann}, []string{ann})
		f.clock.Advance(-time.Minute)
		later, _ := f.reserve(t, []string{ann})
		var last mailbox.Reservation
		for i, s := range append(reservations, later...) {
			if i > 0 && (!s[0].At.After(last.At) || s[0].Message <= last.Message) {
				t.Errorf("the reservation %+v comes after %+v, want a later time and a larger identifier", s[0], last)
			}
			last = s[0]
		}
	})
}

// The cap counts a UTC day; what a full mailbox holds counts until it is deleted.
func TestReserveEnforcesQuotas(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.limits.TTLDefault = 24 * time.Hour
		f.create(t, "ann", mailbox.Owner{})
		set := [][]string{{ann}, {ann}, {ann}, {ann}}
		_, errs := f.reserve(t, set...)
		refused(t, "the last of the day", errs[2], "")
		refused(t, "one more", errs[3], problem.MailDailyCap)
		f.clock.Advance(12*time.Hour - time.Microsecond)
		_, errs = f.reserve(t, []string{ann})
		refused(t, "before midnight", errs[0], problem.MailDailyCap)
		f.clock.Advance(time.Microsecond)
		_, errs = f.reserve(t, set...)
		refused(t, "after midnight", errs[1], "")
		refused(t, "the sixth that it holds", errs[2], problem.MailMailboxFull)
		m, _, _ := f.Find(t.Context(), ann)
		err := f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return f.CountTx(ctx, tx, m.ID, -1, -1) })
		refused(t, "delete one", err, "")
		_, errs = f.reserve(t, []string{ann}, []string{ann})
		refused(t, "with room more", errs[0], "")
		refused(t, "the day's cap more", errs[1], problem.MailMailboxFull)
	})
}

func TestReserveRejectsEndedMailboxes(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		a, _ := f.create(t, "ann", mailbox.Owner{})
		f.create(t, "bob", mailbox.Owner{})
		refused(t, "destroy", f.Destroy(t.Context(), a.ID), "")
		_, errs := f.reserve(t, []string{ann}, []string{bob})
		refused(t, "destroyed", errs[0], problem.MailMailboxUnknown)
		refused(t, "live", errs[1], "")
		f.clock.Advance(time.Hour)
		_, errs = f.reserve(t, []string{bob})
		refused(t, "expired", errs[0], problem.MailMailboxUnknown)
	})
}

// A mail for several mailboxes enters all or none: a full one keeps it out of the others.
func TestReserveIsAllOrNone(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		f.create(t, "ann", mailbox.Owner{})
		f.create(t, "bob", mailbox.Owner{})
		_, errs := f.reserve(t, []string{ann}, []string{ann}, []string{ann}, []string{ann, bob}, []string{bob, ann}, []string{bob})
		for i, code := range []problem.Code{"", "", "", problem.MailDailyCap, problem.MailDailyCap, ""} {
			refused(t, "mail", errs[i], code)
		}
		m, limits, err := f.Find(t.Context(), bob)
		if err != nil || m.MessageCount != 1 {
			t.Fatalf("Find(%s) = %+v, %v, want one message counted", bob, m, err)
		}
		refused(t, "bob takes more", f.CheckQuota(m, limits), "")
		m, limits, _ = f.Find(t.Context(), ann)
		refused(t, "ann takes more", f.CheckQuota(m, limits), problem.MailDailyCap)
	})
}

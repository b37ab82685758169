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
func (w *world) reserve(t *testing.T, mails ...[]string) (reservations [][]mailbox.Reservation, errs []error) {
	t.Helper()
	err := w.db.UpdateLocked(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		reservations, errs = nil, nil
		var all []string
		for _, to := range mails {
			all = append(all, to...)
		}
		b, err := w.BatchTx(ctx, tx, all, nil)
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
	run(t, func(t *testing.T, w *world) {
		a, _ := w.create(t, "ann", mailbox.Owner{})
		b, _ := w.create(t, "bob", mailbox.Owner{})
		reservations, errs := w.reserve(t, []string{ann}, []string{ann, bob, ann}, []string{ann, "unknown@example.org"}, []string{bob})
		for i, code := range []problem.Code{"", "", problem.MailMailboxUnknown, ""} {
			refused(t, "mail", errs[i], code)
		}
		if len(reservations[0]) != 1 || len(reservations[1]) != 2 || len(reservations[2]) != 0 || len(reservations[3]) != 1 {
			t.Fatalf("%+v", reservations)
		}
		if s := reservations[1]; s[0].Box != a.ID || s[0].Address != ann || s[1].Box != b.ID || s[0].RawFor != 15*time.Minute {
			t.Errorf("%+v", s)
		}
		// What was left out left no trace in the counts.
		for local, want := range map[string]int{ann: 2, bob: 2} {
			m, _, err := w.Find(t.Context(), local)
			if err != nil || m.MessageCount != want || m.UnreadCount != want {
				t.Errorf("%s: %+v, %v; want %d", local, m, err, want)
			}
		}
	})
}

// The messages of a mailbox have times and identifiers that rise, even when the clock stands still or goes back.
func TestTimesOfAMailboxAlwaysRise(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.create(t, "ann", mailbox.Owner{})
		reservations, _ := w.reserve(t, []string{ann}, []string{ann})
		w.clock.Advance(-time.Minute)
		later, _ := w.reserve(t, []string{ann})
		var last mailbox.Reservation
		for i, s := range append(reservations, later...) {
			if i > 0 && (!s[0].At.After(last.At) || s[0].Message <= last.Message) {
				t.Errorf("%+v comes after %+v", s[0], last)
			}
			last = s[0]
		}
	})
}

// The cap counts a UTC day; what a full mailbox holds counts until it is deleted.
func TestReserveEnforcesQuotas(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.limits.TTLDefault = 24 * time.Hour
		w.create(t, "ann", mailbox.Owner{})
		set := [][]string{{ann}, {ann}, {ann}, {ann}}
		_, errs := w.reserve(t, set...)
		refused(t, "the last of the day", errs[2], "")
		refused(t, "one more", errs[3], problem.MailDailyCap)
		w.clock.Advance(12*time.Hour - time.Microsecond)
		_, errs = w.reserve(t, []string{ann})
		refused(t, "before midnight", errs[0], problem.MailDailyCap)
		w.clock.Advance(time.Microsecond)
		_, errs = w.reserve(t, set...)
		refused(t, "after midnight", errs[1], "")
		refused(t, "the sixth that it holds", errs[2], problem.MailMailboxFull)
		m, _, _ := w.Find(t.Context(), ann)
		err := w.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return w.CountTx(ctx, tx, m.ID, -1, -1) })
		refused(t, "delete one", err, "")
		_, errs = w.reserve(t, []string{ann}, []string{ann})
		refused(t, "with room more", errs[0], "")
		refused(t, "the day's cap more", errs[1], problem.MailMailboxFull)
	})
}

func TestReserveRejectsEndedMailboxes(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		a, _ := w.create(t, "ann", mailbox.Owner{})
		w.create(t, "bob", mailbox.Owner{})
		refused(t, "destroy", w.Destroy(t.Context(), a.ID), "")
		_, errs := w.reserve(t, []string{ann}, []string{bob})
		refused(t, "destroyed", errs[0], problem.MailMailboxUnknown)
		refused(t, "live", errs[1], "")
		w.clock.Advance(time.Hour)
		_, errs = w.reserve(t, []string{bob})
		refused(t, "expired", errs[0], problem.MailMailboxUnknown)
	})
}

// A mail for several mailboxes enters all or none: a full one keeps it out of the others.
func TestReserveIsAllOrNone(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.create(t, "ann", mailbox.Owner{})
		w.create(t, "bob", mailbox.Owner{})
		_, errs := w.reserve(t, []string{ann}, []string{ann}, []string{ann}, []string{ann, bob}, []string{bob, ann}, []string{bob})
		for i, code := range []problem.Code{"", "", "", problem.MailDailyCap, problem.MailDailyCap, ""} {
			refused(t, "mail", errs[i], code)
		}
		m, limits, err := w.Find(t.Context(), bob)
		if err != nil || m.MessageCount != 1 {
			t.Fatalf("%+v %v", m, err)
		}
		refused(t, "bob takes more", w.CheckQuota(m, limits), "")
		m, limits, _ = w.Find(t.Context(), ann)
		refused(t, "ann takes more", w.CheckQuota(m, limits), problem.MailDailyCap)
	})
}

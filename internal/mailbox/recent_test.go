package mailbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// found reports whether mail would be taken for ann now.
func (w *world) found(t *testing.T) bool {
	t.Helper()
	m, limits, err := w.Find(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	return m != nil && w.CheckQuota(m, limits) == nil
}

func TestEndedMailboxLeavesTheCache(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		m, _ := w.create(t, "ann", mailbox.Owner{})
		w.reserve(t, []string{ann})
		if !w.found(t) {
			t.Fatal("the mailbox is not found")
		}
		if err := w.Destroy(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if w.found(t) {
			t.Error("a destroyed mailbox is found")
		}
	})
}

func TestCachedMailboxExpires(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		m, _ := w.create(t, "ann", mailbox.Owner{})
		w.clock.Advance(m.ExpiresAt.Sub(w.clock.Now()) - time.Second)
		if !w.found(t) {
			t.Fatal("the mailbox is not found")
		}
		w.clock.Advance(time.Second)
		if w.found(t) {
			t.Error("an expired mailbox is found")
		}
	})
}

// What another process does is known after a moment; until then a yes may be wrong, and the intake decides.
func TestChangesOfOtherProcessesAreSeenWithinSeconds(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		m, _ := w.create(t, "ann", mailbox.Owner{})
		if !w.found(t) {
			t.Fatal("the mailbox is not found")
		}
		w.elsewhere(t, "UPDATE mailbox SET address = NULL, ended_at = created_at WHERE id = $1", m.ID)
		if !w.found(t) {
			t.Error("the mailbox was not remembered")
		}
		w.clock.Advance(5 * time.Second)
		if w.found(t) {
			t.Error("the mailbox is remembered for too long")
		}
	})
}

// A no is never said from memory: room that a deletion made is there at once.
func TestFullMailboxIsReadAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		m, _ := w.create(t, "ann", mailbox.Owner{})
		for w.found(t) {
			w.reserve(t, []string{ann})
		}
		w.elsewhere(t, "UPDATE mailbox SET message_count = message_count - 1, day_count = day_count - 1 WHERE id = $1", m.ID)
		if !w.found(t) {
			t.Error("the mailbox has room and takes no mail")
		}
	})
}

// elsewhere writes as another process does.
func (w *world) elsewhere(t *testing.T, query string, args ...any) {
	t.Helper()
	err := w.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

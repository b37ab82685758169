package mailbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// found reports whether mail would be taken for ann now.
func (f *fixture) found(t *testing.T) bool {
	t.Helper()
	m, limits, err := f.Find(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	return m != nil && f.CheckQuota(m, limits) == nil
}

func TestEndedMailboxLeavesTheCache(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		m, _ := f.create(t, "ann", mailbox.Owner{})
		f.reserve(t, []string{ann})
		if !f.found(t) {
			t.Fatal("Find of a new mailbox: not found, want it found")
		}
		if err := f.Destroy(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if f.found(t) {
			t.Error("Find of a destroyed mailbox: found, want it gone")
		}
	})
}

func TestCachedMailboxExpires(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		m, _ := f.create(t, "ann", mailbox.Owner{})
		f.clock.Advance(m.ExpiresAt.Sub(f.clock.Now()) - time.Second)
		if !f.found(t) {
			t.Fatal("Find of a mailbox a second before its expiry: not found, want it found")
		}
		f.clock.Advance(time.Second)
		if f.found(t) {
			t.Error("Find of an expired mailbox: found, want it gone")
		}
	})
}

// What another process does is known after a moment; until then a yes may be wrong, and the intake decides.
func TestChangesOfOtherProcessesAreSeenWithinSeconds(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		m, _ := f.create(t, "ann", mailbox.Owner{})
		if !f.found(t) {
			t.Fatal("Find of a new mailbox: not found, want it found")
		}
		f.execAsOther(t, "UPDATE mailbox SET address = NULL, ended_at = created_at WHERE id = $1", m.ID)
		if !f.found(t) {
			t.Error("Find of a mailbox that another process has just ended: not found, want the cached one")
		}
		f.clock.Advance(5 * time.Second)
		if f.found(t) {
			t.Error("Find of a mailbox that another process ended 5 s ago: found, want it gone")
		}
	})
}

// A no is never said from memory: room that a deletion made is there at once.
func TestFullMailboxIsReadAgain(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		m, _ := f.create(t, "ann", mailbox.Owner{})
		for f.found(t) {
			f.reserve(t, []string{ann})
		}
		f.execAsOther(t, "UPDATE mailbox SET message_count = message_count - 1, day_count = day_count - 1 WHERE id = $1", m.ID)
		if !f.found(t) {
			t.Error("Find of a mailbox that has room again: not found, want it found")
		}
	})
}

// execAsOther writes as another process does.
func (f *fixture) execAsOther(t *testing.T, query string, args ...any) {
	t.Helper()
	err := f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

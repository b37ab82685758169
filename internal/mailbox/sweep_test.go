package mailbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// contents is what is in mailboxes, by their number of messages.
type contents map[id.Mailbox]int

// EraseTx takes messages from the front.
func (c contents) EraseTx(_ context.Context, tx *db.Tx, boxes []id.Mailbox, max int) (bool, error) {
	if tx.Again() {
		return false, nil
	}
	left := 0
	for _, box := range boxes {
		some := min(c[box], max)
		c[box], max = c[box]-some, max-some
		left += c[box]
	}
	return left == 0, nil
}

// A mailbox goes when its mail has, and not before.
func TestMailboxesAreErasedAfterTheirMail(t *testing.T) {
	run(t, func(t *testing.T, f *fixture) {
		full := make(contents)
		for i := range 70 {
			m, _ := f.create(t, "", mailbox.Owner{})
			full[m.ID] = i * 10
		}
		f.clock.Advance(time.Hour)
		f.batches = 0
		if n, err := f.Sweep(t.Context(), full); n != 70 || err != nil {
			t.Fatalf("Sweep = %d, %v, want 70", n, err)
		}
		for box, left := range full {
			if left > 0 {
				t.Errorf("%d messages of %s are left, want 0", left, box)
			}
		}
		if mails := 70 * 69 / 2 * 10; f.batches < mails/100 {
			t.Errorf("%d messages in %d batches, want batches at least %v", mails, f.batches, mails/100)
		}
		var rows int
		if err := f.db.QueryRow(t.Context(), "SELECT count(*) FROM mailbox").Scan(&rows); err != nil || rows > 0 {
			t.Errorf("%d mailboxes are left, %v, want 0", rows, err)
		}
	})
}

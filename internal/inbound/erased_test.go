package inbound_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// A download that takes longer than the message exists ends with an error, though the store could still read the raw message.
func TestDownloadEndsWhenItsMessageIsErased(t *testing.T) {
	run(t, 100, func(t *testing.T, f *fixture) {
		box := f.box("reader")
		random := make([]byte, 150_000)
		rand.Read(random) // never fails, as crypto/rand documents
		body := []byte(hex.EncodeToString(random) + "\r\n")
		if err := f.deliver("Subject: large\r\n\r\n"+string(body), box.Address); err != nil {
			t.Fatal(err)
		}
		page, err := f.mail.List(t.Context(), box.ID, message.Query{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		m := page.Messages[0].ID()
		r, err := f.mail.Raw(t.Context(), box.ID, m)
		if err != nil {
			t.Fatal(err)
		}
		first, err := r.Next(t.Context())
		if err != nil || !bytes.Contains(first, body[:1000]) {
			t.Fatalf("Next gave %d bytes and the error %v, want the beginning of the message", len(first), err)
		}
		f.clock.Advance(10 * time.Second)
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatalf("Next while the message exists: got the error %v, want none", err)
		}
		err = f.db.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM message")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f.clock.Advance(10 * time.Second)
		octets, err := r.Next(t.Context())
		if !problem.Has(err, problem.MessageRawExpired) || len(octets) > 0 {
			t.Errorf("Next after the message was erased gave %d bytes and the error %v, want none and message.raw_expired", len(octets), err)
		}
	})
}

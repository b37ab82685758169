package message_test

import (
	"context"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
)

// One call must not read a mailbox of any size, and the search must go on where it ended.
func TestSearchIsContinuedWithCursor(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s, box := newShelf(t, d), id.New[id.Mailbox](noon())
		const messages = 5200
		err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `WITH RECURSIVE numbers (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM numbers WHERE i < 10000 + CAST($1 AS INTEGER))
				INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc)
				SELECT $2, 'msg_01jzq8w3v5e4t9n2k7m6x' || CAST(i AS TEXT), 0, 0, 0, 0, '', 0,
					CASE i WHEN 10007 THEN '{"subject":"WANTED"}' ELSE '{"subject":"other"}' END, '{}', $3, 0 FROM numbers`, messages, box, []byte{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		q := message.Query{Limit: 10, Match: message.Match{Subject: "wanted"}}
		first, err := s.List(t.Context(), box, q)
		if err != nil || len(first.Messages) != 0 || first.Next == "" {
			t.Fatalf("the first page: %d messages, next %q, %v, want none and another page", len(first.Messages), first.Next, err)
		}
		q.Cursor = first.Next
		second, err := s.List(t.Context(), box, q)
		if err != nil || len(second.Messages) != 1 || second.Next != "" {
			t.Errorf("the second page: %d messages, next %q, %v, want 1 and no next page", len(second.Messages), second.Next, err)
		}
	})
}

// BenchmarkSearch lists a full mailbox in which nothing matches.
func BenchmarkSearch(b *testing.B) {
	d := dbtest.Open(b, db.Options{})
	s, box := &shelf{Service: message.New(message.Parts{DB: d})}, id.New[id.Mailbox](noon())
	err := d.Update(b.Context(), func(ctx context.Context, tx *db.Tx) error {
		for range 1000 {
			if _, err := tx.Exec(ctx, `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc)
				VALUES ($1, $2, 0, 0, 0, 0, '', 0, $3, '{}', $4, 0)`, box, id.New[id.Message](noon()), `{"from":{"name":"Quick Shop","address":"no-reply@shop.example"},`+
				`"to":[{"name":"","address":"quiet-otter-4821@gonebox.localhost"}],"subject":"Grüße: your sign-in code","preview":"Your sign-in code is 246810. It is valid for ten minutes."}`, []byte{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.List(b.Context(), box, message.Query{Limit: 50, Match: message.Match{From: "nobody", Subject: "ß"}}); err != nil {
			b.Fatal(err)
		}
	}
}

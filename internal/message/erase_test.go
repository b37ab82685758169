package message_test

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
)

// shelf is a database with messages of some size in mailboxes, each message with two attachments.
type shelf struct {
	*message.Service
	t  *testing.T
	db *db.DB
}

func newShelf(t *testing.T, d *db.DB) *shelf {
	return &shelf{message.New(message.Parts{DB: d}), t, d}
}

// fill puts messages into a new mailbox.
func (s *shelf) fill(messages int, octets int64) id.Mailbox {
	s.t.Helper()
	box := id.New[id.Mailbox](noon())
	err := s.db.Update(s.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for range messages {
			m := id.New[id.Message](noon())
			if _, err := tx.Exec(ctx, `INSERT INTO message (mailbox_id, id, received_at, size, seen, has_code, raw_ref, raw_until, summary, internal, detail, crc)
				VALUES ($1, $2, 0, $3, 0, 0, '', 0, '{}', '{}', $4, 0)`, box, m, octets, []byte{}); err != nil {
				return err
			}
			for _, attachment := range []string{"1", "2"} {
				if _, err := tx.Exec(ctx, "INSERT INTO attachment (mailbox_id, message_id, id, data, crc) VALUES ($1, $2, $3, $4, 0)", box, m, attachment, []byte{}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return box
}

// erase takes one step, and reports how many messages it erased and whether it was the last.
func (s *shelf) erase(max int, boxes ...id.Mailbox) (empty bool, gone int) {
	s.t.Helper()
	before := s.count("message")
	err := s.db.Update(s.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		empty, err = s.EraseTx(ctx, tx, boxes, max)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	left := s.count("message")
	if s.count("attachment") != 2*left {
		s.t.Errorf("%d messages and %d attachments are left, want two attachments for each message", left, s.count("attachment"))
	}
	return empty, before - left
}

func (s *shelf) count(table string) (n int) {
	s.t.Helper()
	if err := s.db.QueryRow(s.t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestMailboxesAreErasedInBatches(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s := newShelf(t, d)
		kept := s.fill(3, 100)
		boxes := []id.Mailbox{s.fill(2, 100), s.fill(0, 0), s.fill(7, 100), kept, s.fill(1, 100)}
		boxes = append(boxes[:3], boxes[4])
		for i, want := range []struct {
			empty bool
			gone  int
		}{{false, 4}, {false, 4}, {true, 2}, {true, 0}} {
			if empty, gone := s.erase(4, boxes...); empty != want.empty || gone != want.gone {
				t.Errorf("step %d: empty %t, %d gone; want %+v", i, empty, gone, want)
			}
		}
		if n := s.count("message WHERE mailbox_id = '" + string(kept) + "'"); n != 3 {
			t.Errorf("%d messages are left of a mailbox that was not named, want 3", n)
		}
		if empty, gone := s.erase(4); !empty || gone != 0 {
			t.Errorf("erase of no mailbox: empty %t, %d gone, want true and 0", empty, gone)
		}
	})
}

// What is exactly a step leaves it to the next to find nothing.
func TestFullBatchIsNotTheLast(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s := newShelf(t, d)
		box := s.fill(4, 100)
		if empty, gone := s.erase(4, box); empty || gone != 4 {
			t.Errorf("erase of 4 at most, of 4: empty %t, %d gone, want false and 4", empty, gone)
		}
		if empty, gone := s.erase(4, box); !empty || gone != 0 {
			t.Errorf("erase after the last message: empty %t, %d gone, want true and 0", empty, gone)
		}
	})
}

func TestLargeMailIsErasedInSmallerBatches(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		s := newShelf(t, d)
		large, larger := s.fill(5, 3<<20), s.fill(2, 25<<20)
		for box, steps := range map[id.Mailbox][]int{large: {2, 2, 1}, larger: {1, 1}} {
			for step, want := range steps {
				empty, gone := s.erase(100, box)
				if gone != want || empty != (step == len(steps)-1) {
					t.Errorf("step %d: empty %t, %d gone, want %d", step, empty, gone, want)
				}
			}
		}
	})
}

func noon() time.Time { return time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC) }

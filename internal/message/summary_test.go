package message

import (
	"context"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// What is shown of a stored summary is what encoding the summary gives, whatever a sender writes into it.
func TestStoredSummaryIsShownAsItIs(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, database *db.DB) {
		s := New(Parts{DB: database, Mailboxes: live{}})
		d := &Draft{size: 7, body: inline([]byte{}), summary: cut(Summary{
			From: Address{Name: `"seen":` + storedSeen, Address: "ann@example.org"}, Subject: `","seen":` + storedSeen + `false,"otp":{<&>}`, Preview: "\u2028\\", Size: 7,
			OTP: &OTP{Code: "246810", Display: "246 810", Confidence: 0.98, Source: "builtin", Kind: "numeric"}, Source: SourceSMTP,
		})}
		p := Delivery{Box: "mbx_1", Message: "msg_1", ReceivedAt: time.Date(2026, 3, 14, 12, 0, 0, 123_000_000, time.UTC), To: []string{"box@example.org"}}
		m := d.Summary(p)
		update := func(fn func(ctx context.Context, tx *db.Tx) error) {
			t.Helper()
			if err := database.Update(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
		}
		update(func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, []Copy{{d, p}}) })
		s.checkShown(t, m)
		update(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, updateSeen, m.MailboxID, m.ID, 1)
			return err
		})
		m.Seen = true
		s.checkShown(t, m)
		for _, tags := range [][]string{{"a", `b"],"seen":` + storedSeen}, nil} {
			update(func(ctx context.Context, tx *db.Tx) error {
				return s.TagManyTx(ctx, tx, []Ref{{m.MailboxID, m.ID}, {m.MailboxID, "msg_2"}}, tags)
			})
			m.Tags = tags
			s.checkShown(t, m)
		}
	})
}

// checkShown checks that what is listed of the only message of a mailbox is m, and its code is the latest.
func (s *Service) checkShown(t *testing.T, m Summary) {
	t.Helper()
	want, err := encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), m.MailboxID, Query{Limit: 1})
	if err != nil || len(page.Messages) != 1 || string(page.Messages[0].AppendJSON(nil)) != want || page.Messages[0].ID() != m.ID {
		t.Fatalf("List = %+v, %v, want one message:\n%s", page, err, want)
	}
	back, err := page.Messages[0].Decode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := encode(&back); err != nil || again != want {
		t.Errorf("decoded it is %s, %v, want %v", again, err, want)
	}
	for _, match := range []Match{{}, {From: "ann"}} {
		code, err := s.LatestCode(t.Context(), m.MailboxID, CodeQuery{Match: match})
		if want, failed := encode(m.OTP); err != nil || failed != nil || string(code) != want {
			t.Errorf("the code is %s, want %s, %v", code, want, err)
		}
	}
}

package message

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
)

// live is a mailbox that never ends.
type live struct{}

func (live) Live(context.Context, id.Mailbox) (bool, error) { return true, nil }

func (live) CountTx(context.Context, *db.Tx, id.Mailbox, int, int) error { return nil }

func (live) SeenTx(context.Context, *db.Tx, id.Mailbox, bool, ...id.Message) error { return nil }

func (live) TaggedTx(context.Context, *db.Tx, id.Mailbox, ...id.Message) error { return nil }

func (live) DeletedTx(context.Context, *db.Tx, id.Mailbox, bool, ...id.Message) error { return nil }

// What Read returns is the JSON of what Get returns, whether the summary is shown as it is stored or not.
func TestReadIsTheJSONOfGet(t *testing.T) {
	bob := Address{Name: "Bob", Address: "bob@example.org"}
	many := make([]Address, 200)
	for i := range many {
		many[i] = Address{Address: fmt.Sprintf("bob%d@example.org", i)}
	}
	dbtest.Run(t, func(t *testing.T, database *db.DB) {
		s := New(Parts{DB: database, Mailboxes: live{}, Program: func() int64 { return 1 }})
		for i, c := range []Content{
			{To: []Address{bob}, Subject: "whole", Text: "text"},
			{To: []Address{bob}, Subject: `","seen":` + storedSeen, Text: "\x00 \u2028 <b> \\", HTML: "<p>html</p>", OTP: &OTP{Code: "246810", Source: "builtin", Kind: "numeric"}},
			{To: []Address{bob}, Subject: strings.Repeat("long", 1000)},
			{To: many, Subject: "many recipients"},
			{Subject: "no recipient"},
		} {
			c.From = Address{Address: "ann@example.org"}
			draft, _, err := s.NewDraft(nil, c, 1)
			if err != nil {
				t.Fatal(err)
			}
			p := Delivery{
				Box: "mbx_1", Message: id.Message(fmt.Sprint("msg_", i)), ReceivedAt: time.Date(2026, 3, 14, 12, 0, 0, 123_456_000, time.UTC),
				RawUntil: time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC), To: []string{"box@example.org"},
			}
			if err := database.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, []Copy{{draft, p}}) }); err != nil {
				t.Fatal(err)
			}
			got, err := s.Read(t.Context(), p.Box, p.Message, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := s.Read(t.Context(), p.Box, p.Message, nil)
			if err != nil || again != got {
				t.Errorf("Read(%s) again: %v\ngot  %s\nwant %s", p.Message, err, again, got)
			}
			full, err := s.Get(t.Context(), p.Box, p.Message)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := encode(full); err != nil || string(got) != want || !json.Valid([]byte(got)) || !full.Seen || full.Subject != c.Subject {
				t.Errorf("Read, and Get encoded: %v\ngot  %s\nwant %s", err, got, want)
			}
		}
	})
}

package message

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
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
			draft, _ := s.NewDraft(nil, c, 1)
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

// What is stored as JSON is what package encoding/json makes of it, whatever it is.
func TestJSONIsThatOfTheLibrary(t *testing.T) {
	dice := rand.New(rand.NewPCG(4, 4))
	for range 5000 {
		var m Summary
		fill(dice, reflect.ValueOf(&m).Elem())
		plain := jsonWriter{escaped: inJSON}
		plain.summary(&m)
		if want, err := encode(&m); err != nil || string(plain.b) != want {
			t.Fatalf("a summary is written as\n%s, want %v\n%s", plain.b, err, want)
		}
		var i internal
		fill(dice, reflect.ValueOf(&i).Elem())
		plain.b = nil
		plain.internal(&i)
		if want, err := encode(&i); err != nil || string(plain.b) != want {
			t.Fatalf("what is not shown is written as\n%s, want %v\n%s", plain.b, err, want)
		}
		var d detail
		fill(dice, reflect.ValueOf(&d).Elem())
		escaped := jsonWriter{escaped: inHTML}
		escaped.detail(&d)
		if want, err := json.Marshal(&d); err != nil || string(escaped.b) != string(want) {
			t.Fatalf("a detail is written as\n%s, want %v\n%s", escaped.b, err, want)
		}
	}
}

// fill sets all fields of a struct, and all that they consist of, to something.
func fill(dice *rand.Rand, v reflect.Value) {
	if at, ok := v.Addr().Interface().(*clock.Stamp); ok {
		*at = clock.Micro(dice.Int64N(1 << 52))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(dice, field)
		}
	case reflect.Pointer:
		if dice.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(dice, v.Elem())
		}
	case reflect.Slice:
		if n := dice.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range v.Len() {
			fill(dice, v.Index(i))
		}
	case reflect.String:
		pieces := [...]string{"a", "text of words", `"`, `\`, "/", "<b>", "&", "\x00", "\x1f", "\x7f", "\b\f\n\r\t", "ü", "世", "😀", "\u2028", "\u2029", "\u202a", "\ufffd", "\xff", "\xe2\x80", "'"}
		var b strings.Builder
		for range dice.IntN(5) {
			b.WriteString(pieces[dice.IntN(len(pieces))])
		}
		v.SetString(b.String())
	case reflect.Bool:
		v.SetBool(dice.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(dice.Int64() >> dice.IntN(64))
	case reflect.Float64:
		v.SetFloat(float64(dice.IntN(1001)) / 1000)
	default:
		panic(fmt.Sprintf("a field of kind %v", v.Kind()))
	}
}

package message

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/blob"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/raw"
)

// keeper reads messages as the program whose number it has.
type keeper struct {
	*Service
	t       *testing.T
	program int64
}

func newKeeper(t *testing.T, d *db.DB) *keeper {
	k := &keeper{t: t, program: 1}
	k.Service = New(Parts{DB: d, Mailboxes: live{}, Policy: Policy{InlineImageMax: 1 << 10}, Program: func() int64 { return k.program }})
	return k
}

func (k *keeper) deliver(m id.Message, c Content) {
	k.t.Helper()
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	c.To = []Address{{Address: "box@example.org"}}
	draft, _ := k.NewDraft(nil, c, 1)
	p := Delivery{Box: "mbx_1", Message: m, ReceivedAt: at, RawUntil: at, To: []string{"box@example.org"}}
	k.update(func(ctx context.Context, tx *db.Tx) error { return k.InsertTx(ctx, tx, []Copy{{draft, p}}) })
}

func (k *keeper) update(do func(context.Context, *db.Tx) error) {
	k.t.Helper()
	if err := k.db.Update(k.t.Context(), do); err != nil {
		k.t.Fatal(err)
	}
}

// replaceKept writes something else into the column that keeps what was made of a message.
func (k *keeper) replaceKept(m id.Message, kept []byte) {
	k.t.Helper()
	k.update(func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE message SET shown = $2 WHERE id = $1", m, kept)
		return err
	})
}

// check reads a message and checks that the response has want in it.
func (k *keeper) check(m id.Message, want string) {
	k.t.Helper()
	got, err := k.Read(k.t.Context(), "mbx_1", m, nil)
	if err != nil || !strings.Contains(string(got), want) || !strings.Contains(string(got), `"seen":true`) {
		k.t.Errorf("Read(%q) by the program %d = %s, %v, want %s and \"seen\":true in it", m, k.program, got, err, want)
	}
}

// Whatever a program let through when it made HTML safe, no other program shows it, nor does one whose number is not known.
func TestKeptHTMLIsShownByTheProgramThatMadeItOnly(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newKeeper(t, d)
		k.deliver("msg_1", Content{Text: "text", HTML: "<p>hello</p><script>bad()</script>"})
		const safe, loose = `"html":"<p>hello</p>"`, `"html":"<p>loose</p>"`
		k.check("msg_1", safe)
		k.replaceKept("msg_1", keep([]byte(`{"cc":[],`+loose+`}`)))
		k.check("msg_1", loose) // the test would see it
		for _, k.program = range []int64{2, 0} {
			k.check("msg_1", safe)
		}

		k.update(func(ctx context.Context, tx *db.Tx) error { return k.setSeenTx(ctx, tx, "mbx_1", "msg_1", false) })
		k.program = 2
		k.check("msg_1", safe) // and keeps it
		k.program = 1
		k.check("msg_1", safe)
	})
}

// A message that is unread again, and whose tags or limits may have changed, is marked as seen although nothing is made of it.
func TestKeptMessageIsMarkedAsSeenAgain(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newKeeper(t, d)
		k.deliver("msg_1", Content{Text: "text"})
		k.check("msg_1", `"text":"text"`)
		if got, err := k.SetSeen(t.Context(), "mbx_1", "msg_1", false); err != nil || got.Seen {
			t.Fatalf("SetSeen(msg_1, false) = %+v, %v, want a message that is not seen", got, err)
		}
		k.check("msg_1", `"text":"text"`)
		if got, err := k.Get(t.Context(), "mbx_1", "msg_1"); err != nil || !got.Seen {
			t.Errorf("Get(msg_1) = %+v, %v, want a message that is seen", got, err)
		}
	})
}

// HTML with an image of the mail in it depends on a setting, so it is made at each read.
func TestHTMLWithEmbeddedImagesIsNotKept(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newKeeper(t, d)
		cid, png := "logo@example.org", []byte("\x89PNG\r\n\x1a\n")
		k.deliver("msg_1", Content{HTML: `<img src="cid:logo@example.org" alt="logo">`, Files: []File{{
			Attachment: Attachment{ID: "att_1", ContentType: "image/png", ContentID: &cid, Size: int64(len(png)), Available: true}, Data: png,
		}}})
		k.check("msg_1", "data:image/png")
		k.policy.InlineImageMax = 1
		got, err := k.Read(t.Context(), "mbx_1", "msg_1", nil)
		if err != nil || strings.Contains(string(got), "data:image/png") {
			t.Errorf("Read(msg_1) when no image may be embedded = %s, %v, want no data: address in it", got, err)
		}
	})
}

// What is kept is bounded, and memory is reserved for it before it is decompressed.
func TestKeptDetailIsBounded(t *testing.T) {
	detail := bytes.Repeat([]byte("a"), keptMax)
	column := keep(detail)
	if got := keep(append(detail, 'a')); got != nil {
		t.Errorf("keep of %d octets = %d octets, want none", keptMax+1, len(got))
	}
	refused := errors.New("no memory")
	var asked int64
	if _, err := kept(column, func(octets int64) error { asked = octets; return refused }); !errors.Is(err, refused) || asked != keptMax {
		t.Errorf("kept with a reservation that fails: got %v after asking for %d octets, want %v and %d", err, asked, refused, keptMax)
	}
	if got, err := kept(column, nil); err != nil || !bytes.Equal(got, detail) {
		t.Errorf("kept(keep(detail)) = %d octets, %v, want the detail", len(got), err)
	}
}

// Damage on disk is an error, as it is of a detail.
func TestDamagedKeptDetailIsNotShown(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		k := newKeeper(t, d)
		k.deliver("msg_1", Content{Text: "text"})
		k.check("msg_1", `"text":"text"`)
		damaged := keep([]byte(`{"cc":[]}`))
		damaged[len(damaged)-1] ^= 1
		for _, column := range [][]byte{damaged, {1}, raw.Store(nil, []byte("{}"))} {
			k.replaceKept("msg_1", column)
			got, err := k.Read(t.Context(), "mbx_1", "msg_1", nil)
			if !errors.Is(err, blob.ErrDamaged) || problem.Has(err, problem.MessageNotFound) {
				t.Errorf("Read(msg_1) with %x kept = %s, %v, want %v", column, got, err, blob.ErrDamaged)
			}
		}
	})
}

package message

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
)

// BenchmarkRead reads a message for the first time, and again, where what was made of it is kept and where it is not.
func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("Your code is 246810, and it is valid for ten minutes. ", 40)
	page := "<html><body>" + strings.Repeat(`<p style="color:#333333">Your code is <b>246810</b>. <a href="https://shop.example/item">Look</a></p>`, 15) + "</body></html>"
	for name, html := range map[string]string{"text": "", "html": page} {
		for _, program := range []int64{0, 1} {
			s := New(Parts{DB: dbtest.Open(b, db.Options{}), Mailboxes: live{}, Program: func() int64 { return program }})
			deliver := func(n int) id.Message {
				p := Delivery{Box: "mbx_1", Message: id.Message(fmt.Sprintf("msg_%08d", n)), ReceivedAt: time.Unix(1, 0), RawUntil: time.Unix(2, 0), To: []string{"box@example.org"}}
				draft, _, err := s.NewDraft(nil, Content{To: []Address{{Address: "box@example.org"}}, Subject: "hello", Text: text, HTML: html}, 1)
				if err == nil {
					err = s.db.Update(b.Context(), func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, []Copy{{draft, p}}) })
				}
				if err != nil {
					b.Fatal(err)
				}
				return p.Message
			}
			read := func(b *testing.B, m id.Message) {
				if _, err := s.Read(b.Context(), "mbx_1", m, nil); err != nil {
					b.Fatalf("Read(%q): %v, want no error", m, err)
				}
			}
			n := 0
			b.Run(fmt.Sprintf("%s/first/kept=%d", name, program), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					n++
					m := deliver(n)
					b.StartTimer()
					read(b, m)
				}
			})
			m := deliver(0)
			read(b, m)
			b.Run(fmt.Sprintf("%s/again/kept=%d", name, program), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					read(b, m)
				}
			})
		}
	}
}

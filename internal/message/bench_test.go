package message

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/resource"
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
				draft, _ := s.NewDraft(nil, Content{To: []Address{{Address: "box@example.org"}}, Subject: "hello", Text: text, HTML: html}, 1)
				if err := s.db.Update(b.Context(), func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, []Copy{{draft, p}}) }); err != nil {
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

// BenchmarkJSON encodes what is stored of a mail as JSON, and with package encoding/json, which would do the same.
func BenchmarkJSON(b *testing.B) {
	at := clock.Stamp{Time: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)}
	from, to := Address{Name: "Shop Accounts", Address: "no-reply@shop.example"}, []Address{{Address: "box@example.org"}}
	m := Summary{
		ID: "msg_01jzq8w3v5e4t9n2k7m6x0y1dr", MailboxID: "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr", From: from, To: to, Subject: "493021 is your sign-in code",
		Preview: strings.Repeat("Your sign-in code is 493021. ", 7), ReceivedAt: at, SentAt: &at, Size: 4096, Source: SourceSMTP,
	}
	m.OTP = &OTP{Code: "493021", Display: "493021", MessageID: m.ID, From: from, Subject: m.Subject, ReceivedAt: at, Confidence: 0.998, Source: "builtin", Kind: "numeric", Links: []string{}}
	d := detail{Detail: resource.Detail{
		MessageID: "0123456789.2@out.mail.shop.example", Authentication: Authentication{SPF: "pass", DKIM: "none", DMARC: "none"},
		Envelope: Envelope{From: from.Address, Helo: "mail.shop.example", RemoteIP: "192.0.2.25"}, RawExpiresAt: clock.Micro(0),
	}}
	for range 12 {
		d.Headers = append(d.Headers, Header{Name: "Received", Value: "from app-02.internal.shop.example by out.mail.shop.example with ESMTPS id 4WxYz02Qq9"})
	}
	b.Run("written", func(b *testing.B) {
		b.ReportAllocs()
		w := jsonWriter{escaped: inJSON}
		for b.Loop() {
			w.b = w.b[:0]
			w.summary(&m)
			w.detail(&d)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := encode(&m); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(&d); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package inbound_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/inbound"
)

// BenchmarkDeliver measures Deliver with 32 concurrent senders, a real database and raw messages in memory.
func BenchmarkDeliver(b *testing.B) {
	for _, name := range []string{"text4k", "alt4k", "att64k"} {
		content, err := os.ReadFile("testdata/" + name + ".eml")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { benchmarkDeliver(b, dbtest.Open(b, db.Options{}), content) })
		b.Run(name+"/postgres", func(b *testing.B) { benchmarkDeliver(b, dbtest.OpenPostgres(b, db.Options{}), content) })
	}
}

func benchmarkDeliver(b *testing.B, d *db.DB, content []byte) {
	dailyMail = 1 << 30
	f := newFixture(b, d, 1<<30)
	for i := range 64 {
		f.box(fmt.Sprint("bench", i))
	}
	var n atomic.Int64
	b.SetParallelism(16)
	b.SetBytes(int64(len(content)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		local := fmt.Sprint("bench", n.Add(1)%64)
		for pb.Next() {
			env := &inbound.Envelope{
				From: "a@sender.example", Helo: "sender.example", RemoteIP: netip.MustParseAddr("192.0.2.1"), Protocol: "ESMTP",
				ReceivedAt: f.clock.Now(), To: []inbound.Recipient{{Address: local + "@box.example", Local: local, Domain: served}},
			}
			if _, err := f.in.Deliver(context.Background(), env, content); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

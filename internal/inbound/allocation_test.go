//go:build !race

package inbound_test

import (
	"context"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/inbound"
)

// TestDeliverAllocates holds what a mail on its way in may allocate, in all goroutines. Each step of the way costs little, and together
// they once cost a third: a change that needs more has to raise a number here. The numbers leave a little room, since the garbage
// collector may take buffers from their pools. The race detector takes a quarter of them, so that make test-postgres runs this test.
func TestDeliverAllocates(t *testing.T) {
	before := dailyMail
	dailyMail = 1 << 30
	t.Cleanup(func() { dailyMail = before })
	f := newFixture(t, dbtest.Open(t, db.Options{}), 1<<30)
	f.box("ann")
	for _, tt := range []struct {
		name   string
		times  float64
		octets uint64
	}{
		{"text4k", 245, 28_500},
		{"alt4k", 272, 31_000},
		{"att64k", 312, 104_000},
	} {
		content, err := os.ReadFile("testdata/" + tt.name + ".eml")
		if err != nil {
			t.Fatal(err)
		}
		deliver := func() {
			env := &inbound.Envelope{
				From: "a@sender.example", Helo: "sender.example", RemoteIP: netip.MustParseAddr("192.0.2.1"), Protocol: "ESMTP",
				ReceivedAt: f.clock.Now(), To: []inbound.Recipient{{Address: "ann@box.example", Local: "ann", Domain: served}},
			}
			if _, err := f.in.Deliver(context.Background(), env, content); err != nil {
				t.Fatalf("Deliver(%s): %v", tt.name, err)
			}
		}
		for range 20 { // fills pools and caches
			deliver()
		}
		const runs = 100
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		times := testing.AllocsPerRun(runs, deliver)
		runtime.ReadMemStats(&end)
		octets := (end.TotalAlloc - start.TotalAlloc) / (runs + 1) // AllocsPerRun calls it once more
		if times > tt.times || octets > tt.octets {
			t.Errorf("Deliver(%s) allocates %.0f times and %d octets, want at most %.0f times and %d octets", tt.name, times, octets, tt.times, tt.octets)
		}
	}
}

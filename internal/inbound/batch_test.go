package inbound

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/raw"
)

// blockedRaw implements RawMessages. It reports the size of each batch, and does not complete the sync until the test allows it.
type blockedRaw struct {
	bare
	begun chan int
	sync  chan struct{} // closed by the test when raw messages shall be on stable storage
}

func (h blockedRaw) Append(at time.Time, records []raw.Record) ([]raw.Ref, func() error, error) {
	refs, _, err := h.bare.Append(at, records)
	h.begun <- len(records)
	return refs, func() error { <-h.sync; return nil }, err
}

func TestConcurrentBatchNeedsManyQueuedMails(t *testing.T) {
	content, err := os.ReadFile("testdata/text4k.eml")
	if err != nil {
		t.Fatal(err)
	}
	held := blockedRaw{begun: make(chan int, 8), sync: make(chan struct{})}
	s := newBare(t, dbtest.Open(t, db.Options{}), held)
	ctx, cancel := context.WithCancel(t.Context())
	var workers, senders sync.WaitGroup
	for range 2 {
		workers.Go(func() { s.deliverBatches(ctx) })
	}
	send := func(n int) {
		m := s.benchMail(t, fmt.Sprint("bench", n), content)
		senders.Go(func() {
			if err := s.enqueue(t.Context(), m); err != nil || m.err != nil {
				t.Errorf("enqueue = %v, the mail has %v, want no error of either", err, m.err)
			}
		})
	}
	send(0)
	if n := <-held.begun; n != 1 {
		t.Errorf("a lone mail is in a batch of %d, want 1", n)
	}
	for n := range minConcurrent {
		send(1 + n)
	}
	if n := <-held.begun; n != minConcurrent {
		t.Errorf("a batch of %d mails begins beside another, want %d", n, minConcurrent)
	}
	close(held.sync)
	senders.Wait()
	cancel()
	workers.Wait()
}

package message

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// deadline is a context whose deadline passes when ended is closed.
type deadline struct {
	context.Context

	ended chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.ended }

func (d deadline) Err() error {
	select {
	case <-d.ended:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A commit that takes as long as a disk that stalls does not prevent reading.
func TestReadDoesNotWaitForStalledDisk(t *testing.T) {
	var stalls atomic.Bool
	passed, answered := make(chan struct{}), make(chan struct{})
	d := dbtest.Open(t, db.Options{Commit: func(commit func() error) error {
		if stalls.Load() {
			close(passed)
			<-answered
		}
		return commit()
	}})
	s := New(Parts{DB: d, Mailboxes: live{}})
	draft, _ := s.NewDraft(nil, Content{Subject: "hello", Text: "text"}, 1)
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	p := Delivery{Box: "mbx_1", Message: "msg_1", ReceivedAt: at, RawUntil: at, To: []string{"box@example.org"}}
	if err := d.Update(t.Context(), func(ctx context.Context, tx *db.Tx) error { return s.InsertTx(ctx, tx, []Copy{{draft, p}}) }); err != nil {
		t.Fatal(err)
	}

	stalls.Store(true)
	got, err := s.Read(deadline{t.Context(), passed}, p.Box, p.Message, nil)
	stalls.Store(false)
	close(answered)
	if err != nil || !strings.Contains(string(got), `"seen":false`) || !strings.Contains(string(got), "hello") {
		t.Errorf("Read while the disk stalls: %v, %s, want the text hello, and unseen", err, got)
	}

	if got, err := s.Read(t.Context(), p.Box, p.Message, nil); err != nil || !strings.Contains(string(got), `"seen":true`) {
		t.Errorf("Read after the disk has stalled: %v, %s, want it seen", err, got)
	}
	if full, err := s.Get(t.Context(), p.Box, p.Message); err != nil || !full.Seen {
		t.Errorf("Get after the disk has stalled: %+v, %v, want the message marked as seen", full, err)
	}
}

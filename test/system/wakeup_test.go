package system_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

const (
	wakeRate    = 500 // mails a second that come in beside those that are waited for
	wakeSenders = 10
	wakeTries   = 100
)

// TestLongPollsWakeAcrossProcesses has clients of one process wait for mail that another process receives, among many
// others. Each must get it; how soon is printed only.
func TestLongPollsWakeAcrossProcesses(t *testing.T) {
	t.Parallel()
	c := startCluster(t, dbtest.PostgresURL(t), nil, "smtp, api, jobs", "api")
	taking, waiting := c.processes[0], c.processes[1]
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop()
	var sent atomic.Int64
	for range wakeSenders {
		box := c.front.newMailbox()
		busy.Go(func() { sendSteadily(ctx, taking.smtp, box, &sent) })
	}
	box := c.front.newMailbox()
	sender := mustDial(t, taking.smtp)
	await(t, "mail coming in", func() bool { return sent.Load() > wakeRate/2 })

	began, before := clock.System().Now(), sent.Load()
	var delays []time.Duration
	newest := ""
	for i := range wakeTries {
		answer := make(chan time.Time, 1)
		r := &regulars{url: waiting.url}
		go func() {
			var page struct{ Data []message }
			if r.expect(ctx, http.MethodGet, "/mailboxes/me/messages?wait=60&after="+newest, box.Token, http.StatusOK, &page) && len(page.Data) == 1 {
				newest = page.Data[0].ID
				answer <- clock.System().Now()
			}
			close(answer)
		}()
		<-time.After(15 * time.Millisecond) // by now it waits; if not, it finds the mail, and the figure is a little better
		reply, err := sender.send("sender@example.org", []string{box.Address}, sampleMail("waited for", fmt.Sprintf("tkn-%d.", i)))
		told := clock.System().Now()
		if err != nil || !strings.HasPrefix(reply, "250 ") {
			t.Fatalf("sending mail %d to %s: got the reply %q and the error %v, want 250", i, box.Address, reply, err)
		}
		at, ok := <-answer
		if !ok {
			t.Fatalf("GET /mailboxes/me/messages?wait=60, call %d: got the faults %v, want the one new message", i, r.faulty())
		}
		delays = append(delays, at.Sub(told))
	}
	rate := float64(sent.Load()-before) / clock.System().Now().Sub(began).Seconds()
	slices.Sort(delays)
	t.Logf("from 250 to the answer of another process: median %s, 99 of 100 within %s, beside %.0f mails a second",
		delays[len(delays)/2], delays[len(delays)*99/100], rate)
}

// sendSteadily sends its part of the mails until ctx ends, one session after the other.
func sendSteadily(ctx context.Context, addr string, box mailbox, sent *atomic.Int64) {
	beat := time.NewTicker(wakeSenders * time.Second / wakeRate)
	defer beat.Stop()
	for ctx.Err() == nil {
		c, err := dial(ctx, addr)
		if err != nil {
			return
		}
		for range 500 { // a session takes so many commands
			select {
			case <-beat.C:
			case <-ctx.Done():
				c.conn.Close()
				return
			}
			reply, err := c.send("sender@example.org", []string{box.Address}, sampleMail("beside", "no client waits for it"))
			if err != nil || !strings.HasPrefix(reply, "250 ") {
				break
			}
			sent.Add(1)
		}
		c.conn.Close()
	}
}

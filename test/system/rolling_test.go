package system_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/db/dbtest"
)

// TestRollingRestart restarts each process of a service in turn, as an upgrade does, while senders send, clients call
// and others wait for mail. No client notices: every call succeeds, every sender gets 250, or 421 between two mails,
// and each mail reaches the client that waits for it.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	c := startCluster(t, dbtest.PostgresURL(t), map[string]string{"shutdown_delay": "10s"}, "smtp, api", "smtp, api", "jobs")
	l := &load{seed: rand.Uint64(), addr: c.front.smtp}
	for range 4 {
		l.boxes = append(l.boxes, c.front.newMailbox())
	}
	r := &regulars{url: c.front.url}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	closing := make(chan struct{})
	var busy, sending sync.WaitGroup
	for n := range 4 {
		sending.Go(func() { l.run(ctx, n) })
		busy.Go(func() { r.call(ctx, closing) })
	}
	waiters := make([]*waiter, len(l.boxes))
	for i, box := range l.boxes {
		waiters[i] = &waiter{regulars: r, token: box.Token, mails: make(map[string]bool)}
		busy.Go(func() { waiters[i].run(ctx) })
	}
	more := func() {
		t.Helper()
		mails, calls := l.acknowledged()+20, r.answered()+20
		await(t, "mail and calls under way", func() bool { return l.acknowledged() >= mails && r.answered() >= calls })
	}

	for _, p := range c.processes {
		more()
		p.stop()
		more()
		p.restart()
		await(t, "the balancer to notice", func() bool { return c.balancer.allReady() })
	}
	more()

	close(closing)
	l.end()
	sending.Wait()
	await(t, "every mail at who waits for it", func() bool { return seen(waiters) == l.copies() })
	stop()
	busy.Wait()
	for _, f := range append(l.faulty(), r.faulty()...) {
		t.Errorf("a client saw the fault %v, want none during the restarts", f)
	}
	l.verify(t, c.front)
	t.Logf("%d mails, %d calls", l.acknowledged(), r.answered())
}

func (b *balancer) allReady() bool {
	for _, one := range b.backends {
		if !one.ready.Load() {
			return false
		}
	}
	return true
}

// regulars are clients of the API that expect every call to succeed.
type regulars struct {
	url string

	mu     sync.Mutex
	done   int
	faults []string
}

func (r *regulars) answered() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

func (r *regulars) faulty() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults
}

// call makes mailboxes, reads them and deletes them, until closing.
func (r *regulars) call(ctx context.Context, closing <-chan struct{}) {
	for {
		select {
		case <-closing:
			return
		default:
		}
		var box struct{ Data mailbox }
		r.expect(ctx, http.MethodPost, "/mailboxes", "", http.StatusCreated, &box)
		r.expect(ctx, http.MethodGet, "/mailboxes/me", box.Data.Token, http.StatusOK, nil)
		r.expect(ctx, http.MethodGet, "/mailboxes/me/messages?limit=1", box.Data.Token, http.StatusOK, nil)
		r.expect(ctx, http.MethodDelete, "/mailboxes/me", box.Data.Token, http.StatusNoContent, nil)
		if len(r.faulty()) > 20 {
			return
		}
	}
}

// expect makes a call and records an unexpected answer.
func (r *regulars) expect(ctx context.Context, method, path, token string, status int, answer any) bool {
	got, text, err := r.try(ctx, method, path, token)
	if err == nil && got == status && answer != nil {
		err = json.Unmarshal(text, answer)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil || got != status:
		r.faults = append(r.faults, fmt.Sprintf("%s %s: %d %s, %v", method, path, got, text, err))
		return false
	}
	r.done++
	return true
}

func (r *regulars) try(ctx context.Context, method, path, token string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, text, err
}

// waiter waits for the mail of a mailbox, in one call after the other.
type waiter struct {
	*regulars
	token string
	mails map[string]bool // by identifier
}

func (w *waiter) run(ctx context.Context) {
	for after := ""; ctx.Err() == nil && len(w.faulty()) < 20; {
		newest, next := after, ""
		for first := true; first || next != ""; first = false {
			var page struct {
				Data       []message
				NextCursor *string
			}
			query := url.Values{"limit": {"100"}, "wait": {"30"}, "after": {after}, "cursor": {next}}
			if !w.expect(ctx, http.MethodGet, "/mailboxes/me/messages?"+query.Encode(), w.token, http.StatusOK, &page) {
				break
			}
			w.note(page.Data)
			if first && len(page.Data) > 0 {
				newest = page.Data[0].ID
			}
			if next = ""; page.NextCursor != nil {
				next = *page.NextCursor
			}
		}
		after = newest
	}
}

func (w *waiter) note(page []message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range page {
		w.mails[m.ID] = true
	}
}

func seen(waiters []*waiter) (n int) {
	for _, w := range waiters {
		w.mu.Lock()
		n += len(w.mails)
		w.mu.Unlock()
	}
	return n
}

// isPolite reports whether a sender may get this reply during a graceful restart.
func isPolite(reply string) bool {
	return strings.HasPrefix(reply, "250 ") || strings.HasPrefix(reply, "421 4.3.2 ")
}

package inbox_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/inbox"
)

// faulty is a service whose calls fail in the given ways, one after the other, before the rest succeeds.
type faulty struct {
	*httptest.Server
	calls atomic.Int64
}

func newFaulty(t *testing.T, faults ...http.HandlerFunc) *faulty {
	t.Helper()
	f := new(faulty)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(f.calls.Add(1))
		switch {
		case n <= len(faults):
			faults[n-1](w, r)
		case strings.HasPrefix(r.URL.Path, "/api/v1/messages/"):
			_, _ = io.WriteString(w, `{"data":{"id":"msg_1","subject":"Hello","text":"whole"}}`)
		default:
			_, _ = io.WriteString(w, `{"data":[{"id":"msg_1","subject":"Hello"}]}`)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// abort ends the connection, in order or with a reset, after the given beginning of a response.
func abort(beginning string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buffer.WriteString(beginning)
		_ = buffer.Flush()
		if reset {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		_ = c.Close()
	}
}

// answer responds with a status, a Retry-After unless it is "", and a body.
func answer(status int, retryAfter, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const unavailable = `{"code":"server.unavailable","title":"The service is not available right now"}`

// A wait outlives every fault of a restart, and so does reading the message.
func TestWaitOutlivesRestart(t *testing.T) {
	faults := map[string]http.HandlerFunc{
		"reset":             abort("", true),
		"closed":            abort("", false),
		"broken off":        abort("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", false),
		"503":               answer(503, "", unavailable),
		"503 of a proxy":    answer(503, "2", "<h1>Unavailable</h1>"),
		"502":               answer(502, "", "<h1>Bad Gateway</h1>"),
		"504":               answer(504, "", ""),
		"429":               answer(429, "3", `{"code":"rate.limited","title":"Too many"}`),
		"Retry-After: date": answer(503, "Fri, 31 Dec 1999 23:59:59 GMT", unavailable),
	}
	success := answer(200, "", `{"data":[{"id":"msg_1"}]}`)
	for name, fault := range faults {
		f := newFaulty(t, fault, fault, success, fault)
		c := &inbox.Client{URL: f.URL, Clock: clock.NewJumping(time.Unix(1, 0))}
		m, err := c.WaitAndRead(t.Context(), &inbox.Mailbox{Token: "xm_1"}, apiclient.Filter{}, time.Minute)
		if err != nil || m.Text != "whole" || f.calls.Load() != 5 {
			t.Errorf("WaitAndRead where calls fail (%s): %+v, %v after %d calls; want the message after 5", name, m, err, f.calls.Load())
		}
	}
}

// Retry-After is respected: nothing is called before, and a wait whose time is over first fails at once.
func TestWaitRespectsRetryAfter(t *testing.T) {
	start := time.Unix(1, 0)
	for _, c := range []struct {
		timeout time.Duration
		calls   int64
		took    time.Duration
	}{{time.Minute, 2, 20 * time.Second}, {10 * time.Second, 1, 0}} {
		f := newFaulty(t, answer(503, "20", unavailable))
		now := clock.NewJumping(start)
		_, err := (&inbox.Client{URL: f.URL, Clock: now}).Wait(t.Context(), &inbox.Mailbox{}, apiclient.Filter{}, c.timeout)
		if took := now.Now().Sub(start); (err == nil) != (c.calls == 2) || f.calls.Load() != c.calls || took != c.took {
			t.Errorf("Wait for %v where the service asks for 20 s: %v after %v and %d calls; want %v and %d calls", c.timeout, err, took, f.calls.Load(), c.took, c.calls)
		}
	}
}

// An error that no time mends ends a wait at once; one that it may mend, with its time. Both say how long it took.
func TestWaitFailsAsItMust(t *testing.T) {
	const gone = "http://127.0.0.1:1" // a port that is never given to a program
	f := newFaulty(t, answer(401, "", `{"code":"auth.invalid_token","title":"The credential is not valid"}`))
	for _, c := range []struct {
		url, want string
		took      time.Duration
	}{{f.URL, "failed after 0s: auth.invalid_token", 0}, {gone, "failed after 1m0s: no Gonebox answers at " + gone, time.Minute}} {
		now := clock.NewJumping(time.Unix(1, 0))
		_, err := (&inbox.Client{URL: c.url, Clock: now}).Wait(t.Context(), &inbox.Mailbox{}, apiclient.Filter{}, time.Minute)
		if took := now.Now().Sub(time.Unix(1, 0)); err == nil || !strings.HasPrefix(err.Error(), c.want) || took != c.took {
			t.Errorf("Wait at %s: %v after %v, want %q after %v", c.url, err, took, c.want, c.took)
		}
	}
}

// The end of the caller's context is not reported as a fault of the service.
func TestWaitEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFaulty(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := (&inbox.Client{URL: f.URL, Clock: clock.System()}).Wait(ctx, &inbox.Mailbox{}, apiclient.Filter{}, time.Minute)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "Gonebox") {
		t.Errorf("Wait that is canceled: %v, want context.Canceled", err)
	}
}

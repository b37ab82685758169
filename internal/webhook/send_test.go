package webhook_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/webhook"
)

// receiver is a TCP server that serves each connection with serve, which gets the number of the connection, from 1.
type receiver struct {
	net.Listener
	connections atomic.Int64
	requests    atomic.Int64 // that were read
}

func newReceiver(t *testing.T, serve func(r *receiver, number int64, c *net.TCPConn, in *bufio.Reader)) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{Listener: l}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			number := r.connections.Add(1)
			running.Go(func() {
				defer c.Close()
				serve(r, number, c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
	return r
}

// read reads a request and reports whether there was one.
func (r *receiver) read(in *bufio.Reader) bool {
	request, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	r.requests.Add(1)
	return err == nil
}

// answer accepts a request.
func answer(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n") }

// deliver delivers n events to an endpoint one after the other over kept connections, and returns the attempts, newest
// first. The ping of the new endpoint is one of the attempts.
func deliver(t *testing.T, d *db.DB, url string, n int) []*webhook.Delivery {
	t.Helper()
	f := newFixture(t, d)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	f.Client = &http.Client{Transport: transport}
	defer transport.CloseIdleConnections()
	e, _, err := f.Create(t.Context(), ada, webhook.Params{URL: url, Events: []event.Name{event.MailboxExpiredName}})
	if err != nil {
		t.Fatal(err)
	}
	stop := f.run()
	defer stop()
	f.waitSettled(t)
	for range n {
		if err := f.publish(expired(ada, "")); err != nil {
			t.Fatal(err)
		}
		f.waitSettled(t)
	}
	all, err := f.Deliveries(t.Context(), ada, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Receivers that close a kept connection: none of these is a failed attempt.
func TestClosedKeptConnectionIsNoFailure(t *testing.T) {
	for name, serve := range map[string]func(*receiver, int64, *net.TCPConn, *bufio.Reader){
		"closed after the next request was read": func(r *receiver, _ int64, c *net.TCPConn, in *bufio.Reader) {
			if r.read(in) {
				answer(c)
				r.read(in)
			}
		},
		"reset after the next request was read": func(r *receiver, _ int64, c *net.TCPConn, in *bufio.Reader) {
			if r.read(in) {
				answer(c)
				_, _ = in.ReadByte()
				_ = c.SetLinger(0)
			}
		},
		"closed right after the response": func(r *receiver, _ int64, c *net.TCPConn, in *bufio.Reader) {
			if r.read(in) {
				answer(c)
			}
		},
		"reset right after the response": func(r *receiver, _ int64, c *net.TCPConn, in *bufio.Reader) {
			if r.read(in) {
				answer(c)
				_ = c.CloseWrite() // sends the response first
				_ = c.SetLinger(0)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Run(t, func(t *testing.T, d *db.DB) {
				r := newReceiver(t, serve)
				const events = 40
				attempts := deliver(t, d, "http://"+r.Addr().String()+"/", events)
				if len(attempts) != 1+events {
					t.Errorf("%d events and the ping took %d attempts, want one each", events, len(attempts))
				}
				for _, a := range attempts {
					if !a.Succeeded {
						t.Errorf("attempt %d of %s failed: %q, want success", a.Attempt, a.EventID, a.Error)
					}
				}
			})
		})
	}
}

// A closed connection is no failed delivery over HTTP/2 either.
func TestClosedHTTP2ConnectionIsNoFailure(t *testing.T) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		var server *httptest.Server
		seen := make(map[string]bool) // the connections that had a request
		var mu sync.Mutex
		server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			again := seen[r.RemoteAddr]
			seen[r.RemoteAddr] = true
			mu.Unlock()
			if again {
				server.CloseClientConnections()
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		server.EnableHTTP2 = true
		server.StartTLS()
		defer server.Close()
		for _, a := range deliver(t, d, server.URL, 5) {
			if !a.Succeeded {
				t.Errorf("attempt %d of %s failed: %q, want success", a.Attempt, a.EventID, a.Error)
			}
		}
	})
}

// A receiver that fails on a new connection, or after a response has begun, has failed, and gets the request once.
func TestFailingReceiverIsAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		serve    func(*receiver, int64, *net.TCPConn, *bufio.Reader)
		requests int64 // for the ping and one event
		want     string
	}{
		"a new connection is closed": {func(r *receiver, _ int64, _ *net.TCPConn, in *bufio.Reader) { r.read(in) }, 2, "closed the connection"},
		"a response on a kept connection breaks off": {func(r *receiver, _ int64, c *net.TCPConn, in *bufio.Reader) {
			if r.read(in) {
				answer(c)
				r.read(in)
				_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n")
			}
		}, 2, "closed the connection"},
		"every connection is closed after one response, and the second one at once": {func(r *receiver, number int64, c *net.TCPConn, in *bufio.Reader) {
			if r.read(in) && number == 1 {
				answer(c)
				r.read(in)
			}
		}, 3, "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Run(t, func(t *testing.T, d *db.DB) {
				r := newReceiver(t, c.serve)
				newest := deliver(t, d, "http://"+r.Addr().String()+"/", 1)[0]
				if newest.Succeeded || !strings.Contains(newest.Error, c.want) || r.requests.Load() != c.requests {
					t.Errorf("the attempt succeeded: %t, error %q, %d requests; want a failure with %q and %d requests", newest.Succeeded, newest.Error, r.requests.Load(), c.want, c.requests)
				}
			})
		})
	}
}

// A request whose context ends is not sent again.
func TestCanceledRequestIsNotSentAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newReceiver(t, func(r *receiver, _ int64, c *net.TCPConn, in *bufio.Reader) {
		if r.read(in) {
			answer(c)
			if r.read(in) {
				cancel()
				_, _ = in.ReadByte() // until the client closes the connection
			}
		}
	})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n, want := range []error{nil, context.Canceled} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.Addr().String(), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := webhook.Send(client, request)
		if !errors.Is(err, want) {
			t.Errorf("send of request %d: %v, want %v", n, err, want)
		}
		if err == nil {
			_ = response.Body.Close()
		}
	}
	if n := r.requests.Load(); n != 2 {
		t.Errorf("the receiver read %d requests, want 2: a canceled one is not sent again", n)
	}
}

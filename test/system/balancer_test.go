package system_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// balancer distributes calls and SMTP sessions over the processes in turn, as long as their readiness probes succeed.
// It retries nothing: clients see every failure behind it.
type balancer struct {
	web, mail net.Listener
	backends  []*backend
	turn      atomic.Uint64
	sessions  sync.WaitGroup
}

type backend struct {
	*service
	calls, mail bool // what it takes
	ready       atomic.Bool
}

// probeEvery is the interval of the balancer's probes.
const probeEvery = 10 * time.Millisecond

func newBalancer(t *testing.T, processes []*service) *balancer {
	t.Helper()
	b := &balancer{web: loopback(t), mail: loopback(t)}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, p := range processes {
		roles := p.o.set["roles"]
		one := &backend{service: p, calls: strings.Contains(roles, "api"), mail: strings.Contains(roles, "smtp")}
		one.ready.Store(true) // since it has been started
		b.backends = append(b.backends, one)
		running.Go(func() { one.probe(ctx) })
	}
	server := &http.Server{Handler: b.proxy(), ReadHeaderTimeout: patience, ErrorLog: log.New(io.Discard, "", 0)}
	running.Go(func() { _ = server.Serve(b.web) })
	running.Go(b.acceptMail)
	t.Cleanup(func() {
		stop()
		_ = server.Close()
		_ = b.mail.Close()
		running.Wait()
		b.sessions.Wait()
	})
	return b
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// probe polls the readiness of a process until ctx ends.
func (b *backend) probe(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	timer := time.NewTicker(probeEvery)
	defer timer.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.http+"/readyz", nil)
		if err != nil {
			return
		}
		res, err := client.Do(r)
		if err == nil {
			_ = res.Body.Close()
		}
		b.ready.Store(err == nil && res.StatusCode == http.StatusOK)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// next returns the next process in turn that serves such clients and is ready, nil if there is none.
func (b *balancer) next(takes func(*backend) bool) *backend {
	n := uint64(len(b.backends))
	first := b.turn.Add(1)
	for i := range n {
		if one := b.backends[(first+i)%n]; takes(one) && one.ready.Load() {
			return one
		}
	}
	return nil
}

// proxy forwards calls.
func (b *balancer) proxy() http.Handler {
	return &httputil.ReverseProxy{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "no-process.invalid"
			if one := b.next(func(b *backend) bool { return b.calls }); one != nil {
				r.Out.URL.Host = one.http
			}
			r.Out.Host = r.In.Host
		},
	}
}

// acceptMail forwards SMTP sessions until the listener is closed.
func (b *balancer) acceptMail() {
	for {
		client, err := b.mail.Accept()
		if err != nil {
			return
		}
		b.sessions.Go(func() { b.carry(client) })
	}
}

// carry copies octets in both directions until both sides have ended.
func (b *balancer) carry(client net.Conn) {
	defer client.Close()
	one := b.next(func(b *backend) bool { return b.mail })
	if one == nil {
		return
	}
	server, err := net.DialTimeout("tcp", one.smtp, patience)
	if err != nil {
		return
	}
	defer server.Close()
	end := clock.System().Now().Add(2 * patience)
	_, _ = client.SetDeadline(end), server.SetDeadline(end)
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
	}
	both.Go(func() { pass(server, client) })
	pass(client, server)
	both.Wait()
}

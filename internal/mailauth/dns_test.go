package mailauth_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/gonebox/gonebox/internal/mailauth"
)

// serve starts a DNS server on loopback over the given records, and returns a resolver that asks it. Names that begin
// with servfail fail.
func serve(t testing.TB, lines ...string) mailauth.Resolver {
	t.Helper()
	var rrs []dns.RR
	for _, l := range lines {
		rr, err := dns.NewRR(l)
		if err != nil {
			t.Fatalf("parse the record %q: %v", l, err)
		}
		rrs = append(rrs, rr)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		m := new(dns.Msg).SetReply(query)
		m.RecursionAvailable = true
		q, exists := query.Question[0], false
		for _, rr := range rrs {
			if strings.EqualFold(rr.Header().Name, q.Name) {
				exists = true
				if rr.Header().Rrtype == q.Qtype {
					m.Answer = append(m.Answer, rr)
				}
			}
		}
		switch {
		case strings.Contains(q.Name, "servfail"):
			m.Rcode = dns.RcodeServerFailure
		case !exists:
			m.Rcode = dns.RcodeNameError
		}
		if _, ok := w.RemoteAddr().(*net.UDPAddr); ok {
			m.Truncate(dns.MinMsgSize)
		}
		w.WriteMsg(m)
	})
	return &remembering{Resolver: over(start(t, handler)), texts: make(map[string][]string)}
}

// remembering is a resolver that keeps the texts that it was told. It needs no time for them.
type remembering struct {
	mailauth.Resolver
	mu    sync.Mutex
	texts map[string][]string
}

func (r *remembering) LookupTXT(ctx context.Context, name string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if texts, ok := r.texts[name]; ok {
		return texts, nil
	}
	texts, err := r.Resolver.LookupTXT(ctx, name)
	if err == nil {
		r.texts[name] = texts
	}
	return texts, err
}

// start runs handler over UDP and TCP on one port.
func start(t testing.TB, handler dns.Handler) string {
	t.Helper()
	pc, ln := listen(t)
	for _, s := range []*dns.Server{{PacketConn: pc, Handler: handler}, {Listener: ln, Handler: handler}} {
		started, done := make(chan struct{}), make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() {
			defer close(done)
			s.ActivateAndServe()
		}()
		<-started
		t.Cleanup(func() {
			s.Shutdown()
			<-done
		})
	}
	return pc.LocalAddr().String()
}

// listen finds a port that is free for both transports.
func listen(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if pc, err := net.ListenPacket("udp", ln.Addr().String()); err == nil {
			return pc, ln
		}
		_ = ln.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

// over is the standard library's resolver, asking addr only.
func over(addr string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}}
}

// txt is a TXT record in zone-file form, its text cut into strings of 255.
func txt(name, text string) string {
	var parts []string
	for len(text) > 255 {
		parts, text = append(parts, fmt.Sprintf("%q", text[:255])), text[255:]
	}
	return name + ". 300 IN TXT " + strings.Join(append(parts, fmt.Sprintf("%q", text)), " ")
}

// known is a resolver that remembers: what a cache in front of a real one costs nothing for.
type known map[string][]string

func (k known) LookupTXT(_ context.Context, name string) ([]string, error) {
	if t, ok := k[strings.TrimSuffix(name, ".")]; ok {
		return t, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (k known) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (k known) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (k known) LookupAddr(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// counting is how often texts were asked for: as far as they are known already, and otherwise.
type counting struct{ known, asked int }

// counted counts.
type counted struct {
	mailauth.Resolver
	n *counting
}

func (c counted) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if ctx.Err() != nil {
		c.n.known++
	} else {
		c.n.asked++
	}
	return c.Resolver.LookupTXT(ctx, name)
}

// mute never answers; it waits for the context, or, if deaf to its end, for the end of the test.
type mute struct{ deaf chan struct{} }

func (m mute) wait(ctx context.Context) error {
	if m.deaf != nil && ctx.Err() == nil {
		<-m.deaf
	} else {
		<-ctx.Done()
	}
	return &net.DNSError{Err: "timeout", IsTimeout: true, IsTemporary: true}
}

func (m mute) LookupTXT(ctx context.Context, _ string) ([]string, error) { return nil, m.wait(ctx) }

func (m mute) LookupMX(ctx context.Context, _ string) ([]*net.MX, error) { return nil, m.wait(ctx) }

func (m mute) LookupAddr(ctx context.Context, _ string) ([]string, error) { return nil, m.wait(ctx) }

func (m mute) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	return nil, m.wait(ctx)
}

// budget is long enough never to end where the server answers.
const budget = time.Minute

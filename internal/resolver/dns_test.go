package resolver_test

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// authority is a real DNS server on loopback, UDP and TCP on one port, that answers as a test tells it to.
type authority struct {
	addr      string
	queries   atomic.Int64
	overTCP   atomic.Int64
	mu        sync.Mutex
	answer    func(*dns.Msg, dns.Question)
	silent    bool
	hangsUpOn string // the end of names that it has asked over TCP, where it closes the connection; "": none
}

// serve starts an authority; answer fills in a reply that already echoes the question.
func serve(t *testing.T, answer func(m *dns.Msg, q dns.Question)) *authority {
	t.Helper()
	a := &authority{answer: answer}
	pc, ln := listen(t)
	a.addr = pc.LocalAddr().String()
	for _, s := range []*dns.Server{{PacketConn: pc, Handler: a}, {Listener: ln, Handler: a}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		done := make(chan struct{})
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
	return a
}

// listen finds a port that is free for both transports.
func listen(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if pc, err := net.ListenPacket("udp", ln.Addr().String()); err == nil {
			return pc, ln
		}
		ln.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

func (a *authority) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

func (a *authority) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	a.queries.Add(1)
	_, isTCP := w.RemoteAddr().(*net.TCPAddr)
	if isTCP {
		a.overTCP.Add(1)
	}
	a.mu.Lock()
	answer, silent, hangsUpOn := a.answer, a.silent, a.hangsUpOn
	a.mu.Unlock()
	hangsUp := hangsUpOn != "" && strings.HasSuffix(query.Question[0].Name, hangsUpOn)
	if silent {
		return
	}
	m := new(dns.Msg).SetReply(query)
	m.RecursionAvailable = true
	switch {
	case hangsUp && isTCP:
		w.Close()
		return
	case hangsUp:
		m.Truncated = true
	default:
		answer(m, query.Question[0])
		if opt := query.IsEdns0(); !isTCP {
			size := dns.MinMsgSize
			if opt != nil {
				size = int(opt.UDPSize())
			}
			m.Truncate(size)
		}
	}
	w.WriteMsg(m)
}

// zone answers from records in zone-file form, with NXDOMAIN and NODATA as an authority would.
func zone(t *testing.T, lines ...string) func(*dns.Msg, dns.Question) {
	t.Helper()
	var rrs []dns.RR
	for _, l := range lines {
		rr, err := dns.NewRR(l)
		if err != nil {
			t.Fatalf("parse the record %q: %v", l, err)
		}
		rrs = append(rrs, rr)
	}
	soa, err := dns.NewRR("test. 300 IN SOA ns.test. hostmaster.test. 1 3600 600 86400 30")
	if err != nil {
		t.Fatal(err)
	}
	return func(m *dns.Msg, q dns.Question) {
		name, exists := q.Name, false
		for range rrs { // as many aliases as there are records
			alias := ""
			for _, rr := range rrs {
				if !strings.EqualFold(rr.Header().Name, name) {
					continue
				}
				exists = true
				if c, ok := rr.(*dns.CNAME); ok && q.Qtype != dns.TypeCNAME {
					m.Answer, alias = append(m.Answer, rr), c.Target
				} else if rr.Header().Rrtype == q.Qtype {
					m.Answer = append(m.Answer, rr)
				}
			}
			if alias == "" {
				break
			}
			name, exists = alias, false
		}
		if !exists {
			m.Rcode = dns.RcodeNameError
		}
		if n := len(m.Answer); n == 0 || m.Answer[n-1].Header().Rrtype == dns.TypeCNAME {
			m.Ns = append(m.Ns, soa)
		}
	}
}

func failing(rcode int) func(*dns.Msg, dns.Question) {
	return func(m *dns.Msg, _ dns.Question) { m.Rcode = rcode }
}

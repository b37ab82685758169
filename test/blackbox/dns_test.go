package blackbox_test

import (
	"maps"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// nameServer is a DNS server on loopback whose records the test can change.
type nameServer struct {
	t       testing.TB
	addr    string
	mu      sync.Mutex
	records map[string][]dns.RR // by owner name
	rcode   int                 // of every answer, unless it is success
	silent  bool
	held    []func()       // answer the queries that were left unanswered
	asked   map[string]int // by type and name
}

func startNameServer(t testing.TB) *nameServer {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &nameServer{t: t, addr: socket.LocalAddr().String(), records: make(map[string][]dns.RR), asked: make(map[string]int)}
	started, ended := make(chan struct{}), make(chan struct{})
	server := &dns.Server{PacketConn: socket, Handler: n, NotifyStartedFunc: func() { close(started) }}
	go func() {
		defer close(ended)
		if err := server.ActivateAndServe(); err != nil {
			t.Error(err)
		}
	}()
	<-started
	t.Cleanup(func() {
		if err := server.Shutdown(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return n
}

// put replaces all records of the names in lines, which are in zone-file form.
func (n *nameServer) put(lines ...string) {
	n.t.Helper()
	fresh := make(map[string][]dns.RR)
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			n.t.Fatalf("parse the record %s: %v", line, err)
		}
		fresh[rr.Header().Name] = append(fresh[rr.Header().Name], rr)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.Copy(n.records, fresh)
}

// drop removes all records of a name.
func (n *nameServer) drop(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.records, dns.Fqdn(name))
}

// answer sets how every query is answered: with a response code instead of records, or not at all.
func (n *nameServer) answer(rcode int, silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rcode, n.silent = rcode, silent
}

// speak ends the silence and answers all queries that were left unanswered: the standard library waits for the answer to some queries
// for longer than its caller does.
func (n *nameServer) speak() {
	n.answer(dns.RcodeServerFailure, false)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, late := range n.held {
		late()
	}
	n.held = nil
}

// timesAsked is how often a question was received.
func (n *nameServer) timesAsked(qtype, name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[qtype+" "+dns.Fqdn(name)]
}

// ServeDNS answers a question as a recursive resolver does, following aliases.
func (n *nameServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := query.Question[0]
	n.asked[dns.TypeToString[q.Qtype]+" "+strings.ToLower(q.Name)]++
	if n.silent {
		n.held = append(n.held, func() { _ = w.WriteMsg(new(dns.Msg).SetRcode(query, dns.RcodeServerFailure)) })
		return
	}
	m := new(dns.Msg).SetRcode(query, n.rcode)
	m.RecursionAvailable = true
	if n.rcode == dns.RcodeSuccess {
		n.resolve(m, strings.ToLower(q.Name), q.Qtype)
	}
	if err := w.WriteMsg(m); err != nil {
		n.t.Error(err)
	}
}

func (n *nameServer) resolve(m *dns.Msg, name string, qtype uint16) {
	rrs, exists := n.records[name]
	if !exists {
		m.Rcode = dns.RcodeNameError
	}
	for _, rr := range rrs {
		if alias, ok := rr.(*dns.CNAME); ok {
			m.Answer = append(m.Answer, rr)
			n.resolve(m, alias.Target, qtype)
		} else if rr.Header().Rrtype == qtype {
			m.Answer = append(m.Answer, rr)
		}
	}
}

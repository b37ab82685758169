package main

import (
	"net"
	"strings"

	"github.com/miekg/dns"
)

// nameServer is the resolver that the service asks about senders: on loopback, from memory, at once. A sending domain has an SPF
// record that lets loopback send and a DMARC record; everything else does not exist.
type nameServer struct {
	addr   string
	server *dns.Server
}

func startNames() (*nameServer, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	n := &nameServer{addr: conn.LocalAddr().String()}
	n.server = &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(answer), NotifyStartedFunc: func() { close(ready) }}
	go func() { _ = n.server.ActivateAndServe() }() // ends with stop
	<-ready
	return n, nil
}

func (n *nameServer) stop() { _ = n.server.Shutdown() }

func answer(w dns.ResponseWriter, question *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(question)
	m.RecursionAvailable = true
	if len(question.Question) == 1 {
		records(m, question.Question[0])
	}
	_ = w.WriteMsg(m) // who did not hear it asks again
}

func records(m *dns.Msg, q dns.Question) {
	name := strings.ToLower(q.Name)
	header := func(kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: q.Name, Rrtype: kind, Class: dns.ClassINET, Ttl: 300}
	}
	domain, dmarc := strings.CutPrefix(name, "_dmarc.")
	sender := strings.HasSuffix(domain, "."+senderZone)
	switch {
	case sender && q.Qtype == dns.TypeTXT && dmarc:
		m.Answer = append(m.Answer, &dns.TXT{Hdr: header(dns.TypeTXT), Txt: []string{"v=DMARC1; p=none"}})
	case sender && q.Qtype == dns.TypeTXT:
		m.Answer = append(m.Answer, &dns.TXT{Hdr: header(dns.TypeTXT), Txt: []string{"v=spf1 ip4:127.0.0.0/8 -all"}})
	default:
		if !sender {
			m.Rcode = dns.RcodeNameError
		}
		soa := &dns.SOA{Hdr: header(dns.TypeSOA), Ns: "ns." + senderZone, Mbox: "hostmaster." + senderZone, Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: 300}
		soa.Hdr.Name = "example."
		m.Ns = append(m.Ns, soa)
	}
}

package resolver

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// udpSize is the answer we take over UDP: what passes without fragments nearly everywhere (DNS Flag Day 2020).
const udpSize = 1232

// ask puts q to the servers in turn until one gives an answer that is not a failure.
func (r *Resolver) ask(ctx context.Context, q question) answer {
	last := answer{err: temporary(q, ErrNoServer.Error())}
	last.err.UnwrapErr = ErrNoServer
	for range r.cfg.Attempts {
		failed := false
		for _, s := range r.servers.at(r.cfg.Clock.Now()) {
			a, asked := r.askOne(ctx, s, q)
			if !asked {
				continue
			}
			if a.err == nil || a.err.IsNotFound {
				return a
			}
			last = a
			failed = failed || !a.err.IsTimeout
		}
		if failed { // a server that did answer will not say otherwise a moment later
			break
		}
	}
	return last
}

// askOne puts q to one server. It reports false if the breaker did not let it.
func (r *Resolver) askOne(ctx context.Context, s *server, q question) (answer, bool) {
	if !s.admit(r.cfg.Clock.Now()) {
		return answer{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	m, err := exchange(ctx, s.addr, q)
	s.settle(err == nil, r.cfg.Clock.Now())
	if err != nil {
		e := &net.DNSError{
			Err: err.Error(), Name: q.shown(), Server: s.addr, UnwrapErr: err,
			IsTemporary: true, IsTimeout: ctx.Err() != nil,
		}
		return answer{err: e, ttl: failureTTL}, true
	}
	a := read(q, m)
	if a.err != nil {
		a.err.Server = s.addr
	}
	return a, true
}

// exchange asks over UDP with EDNS(0), without it if the server does not know it (RFC 6891 §7), and over TCP if the
// answer was cut off (RFC 7766 §5).
func exchange(ctx context.Context, addr string, q question) (*dns.Msg, error) {
	query := new(dns.Msg)
	query.SetQuestion(q.name, q.qtype)
	query.SetEdns0(udpSize, false)
	m, err := exchangeOver(ctx, "udp", addr, query)
	if err == nil && m.Rcode == dns.RcodeFormatError {
		query.Extra = nil
		m, err = exchangeOver(ctx, "udp", addr, query)
	}
	if err == nil && m.Truncated {
		m, err = exchangeOver(ctx, "tcp", addr, query)
	}
	return m, err
}

func exchangeOver(ctx context.Context, network, addr string, query *dns.Msg) (*dns.Msg, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("dial %s %s: %w", network, addr, err)
	}
	defer conn.Close()
	// The context's end is made to reach the blocked read through a deadline that has passed long ago.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	c := &dns.Conn{Conn: conn, UDPSize: udpSize}
	if err := c.WriteMsg(query); err != nil {
		return nil, fmt.Errorf("ask %s over %s: %w", addr, network, err)
	}
	for {
		m, err := c.ReadMsg()
		switch {
		case err == nil && answers(query, m):
			return m, nil
		case network == "udp" && ctx.Err() == nil && !isNetError(err):
			continue // not for us or not DNS: anyone can send such a packet; the real answer may still come
		case err == nil:
			return nil, fmt.Errorf("ask %s over %s: the answer is to another question", addr, network)
		default:
			return nil, fmt.Errorf("ask %s over %s: %w", addr, network, err)
		}
	}
}

// isNetError tells a failing socket apart from a message that does not parse.
func isNetError(err error) bool {
	_, ok := err.(net.Error)
	return ok
}

// answers reports whether m is the response to query (RFC 5452 §9.1).
func answers(query, m *dns.Msg) bool {
	if !m.Response || m.Id != query.Id {
		return false
	}
	if len(m.Question) == 0 { // some servers leave it out of failures
		return m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError
	}
	got, want := m.Question[0], query.Question[0]
	return got.Qtype == want.Qtype && got.Qclass == want.Qclass && strings.EqualFold(got.Name, want.Name)
}

package resolver

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// record is one resource record of any type we ask for, decoded.
type record struct {
	text string // TXT: the strings joined; MX, NS, PTR: the host, with a trailing dot
	pref uint16 // MX
	addr netip.Addr
}

// answer is what a question came to: records, or an error, or (while it is being resolved) the alias to go on with.
type answer struct {
	records []record
	err     *net.DNSError
	alias   string
	ttl     time.Duration
}

// result is the answer as the asker of q sees it. The error is a copy, since callers may change what they get, and names
// what was asked even where an alias led elsewhere. Records are copied by the Lookup methods.
func (a answer) result(q question) ([]record, error) {
	if a.err != nil {
		e := *a.err
		e.Name = q.shown()
		return nil, &e
	}
	return a.records, nil
}

// size is the approximate memory a remembered answer takes, in bytes.
func (a answer) size() int {
	n := 256
	for _, r := range a.records {
		n += 64 + len(r.text)
	}
	return n
}

// How long answers are remembered. A minimum keeps one mail's look-ups together even where the TTL is zero.
const (
	minTTL      = 5 * time.Second
	maxTTL      = time.Hour
	maxNegative = time.Minute
	failureTTL  = 5 * time.Second // RFC 9520 §3.2: at least a second, at most five minutes
)

// read turns a server's message into an answer to q.
func read(q question, m *dns.Msg) answer {
	switch m.Rcode {
	case dns.RcodeSuccess, dns.RcodeNameError:
	default:
		why := "server answered " + dns.RcodeToString[m.Rcode]
		return answer{err: temporary(q, why), ttl: failureTTL}
	}
	name, ttl := followAliases(q.name, m.Answer)
	var records []record
	for _, rr := range m.Answer {
		h := rr.Header()
		if h.Class != dns.ClassINET || h.Rrtype != q.qtype || !strings.EqualFold(h.Name, name) {
			continue
		}
		if rec, ok := decode(rr); ok {
			records = append(records, rec)
			ttl = min(ttl, seconds(h.Ttl))
		}
	}
	switch {
	case len(records) > 0:
		return answer{records: records, ttl: max(ttl, minTTL)}
	case m.Rcode == dns.RcodeSuccess && name != q.name && soa(m) == nil:
		return answer{alias: name, ttl: max(ttl, minTTL)}
	case isLame(m):
		return answer{err: temporary(q, "server does not resolve names for us"), ttl: failureTTL}
	}
	return answer{err: notFound(q), ttl: negativeTTL(m)}
}

// followAliases walks the CNAME records of one message from name and returns where they end, with the least TTL on
// the way.
func followAliases(name string, rrs []dns.RR) (string, time.Duration) {
	ttl := maxTTL
	for range maxChain {
		next := ""
		for _, rr := range rrs {
			if c, ok := rr.(*dns.CNAME); ok && strings.EqualFold(c.Hdr.Name, name) {
				next, ttl = canonical(c.Target), min(ttl, seconds(c.Hdr.Ttl))
				break
			}
		}
		if next == "" {
			break
		}
		name = next
	}
	return name, ttl
}

func decode(rr dns.RR) (record, bool) {
	switch rr := rr.(type) {
	case *dns.TXT:
		return record{text: unescape(strings.Join(rr.Txt, ""))}, true
	case *dns.MX:
		return record{text: rr.Mx, pref: rr.Preference}, true
	case *dns.NS:
		return record{text: rr.Ns}, true
	case *dns.PTR:
		return record{text: rr.Ptr}, true
	case *dns.A:
		a, ok := netip.AddrFromSlice(rr.A.To4())
		return record{addr: a}, ok
	case *dns.AAAA:
		a, ok := netip.AddrFromSlice(rr.AAAA.To16())
		return record{addr: a.Unmap()}, ok
	}
	return record{}, false
}

// unescape undoes the presentation format (RFC 1035 §5.1) that the library gives character strings in.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			out = append(out, s[i])
		case i+3 < len(s) && isDigit(s[i+1]) && isDigit(s[i+2]) && isDigit(s[i+3]):
			out = append(out, (s[i+1]-'0')*100+(s[i+2]-'0')*10+(s[i+3]-'0'))
			i += 3
		default:
			out = append(out, s[i+1])
			i++
		}
	}
	return string(out)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func soa(m *dns.Msg) *dns.SOA {
	for _, rr := range m.Ns {
		if s, ok := rr.(*dns.SOA); ok {
			return s
		}
	}
	return nil
}

// isLame recognises a referral: the server is neither the authority nor willing to ask it, so its "nothing" means nothing.
func isLame(m *dns.Msg) bool {
	return m.Rcode == dns.RcodeSuccess && !m.Authoritative && !m.RecursionAvailable && soa(m) == nil
}

// negativeTTL follows RFC 2308 §5: the lesser of the SOA's TTL and its MINIMUM field; without a SOA hardly at all.
func negativeTTL(m *dns.Msg) time.Duration {
	s := soa(m)
	if s == nil {
		return failureTTL
	}
	return min(max(seconds(min(s.Hdr.Ttl, s.Minttl)), minTTL), maxNegative)
}

func seconds(n uint32) time.Duration { return time.Duration(n) * time.Second }

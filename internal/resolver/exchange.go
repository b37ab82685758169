package resolver

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// The standard library does not ask for names that no host can have, "n+1.example" among them, and reports them as not
// found. SPF records can name them, by the local part of a sender (RFC 7208 §7.2), so queries for them are made here.

// isHostname reports whether the standard library asks for a name: labels of letters, digits, underscores and inner
// hyphens, at least one of them not of digits alone.
func isHostname(name string) bool {
	named := false
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '-'
			if !letter && (c < '0' || c > '9') {
				return false
			}
			named = named || letter
		}
	}
	return named
}

// readTXT asks for TXT records.
func (r *Resolver) readTXT(ctx context.Context, name string) (texts []string, err error) {
	if isHostname(name) {
		return r.net.LookupTXT(ctx, name)
	}
	err = r.exchange(ctx, name, dnsmessage.TypeTXT, func(b dnsmessage.ResourceBody) {
		texts = append(texts, strings.Join(b.(*dnsmessage.TXTResource).TXT, ""))
	})
	return texts, err
}

// readMX asks for MX records. Of several, those whose host is no name are left out.
func (r *Resolver) readMX(ctx context.Context, name string) (records []*net.MX, err error) {
	if isHostname(name) {
		if records, err = r.net.LookupMX(ctx, name); len(records) > 0 {
			return records, nil
		}
		return records, err
	}
	err = r.exchange(ctx, name, dnsmessage.TypeMX, func(b dnsmessage.ResourceBody) {
		mx := b.(*dnsmessage.MXResource)
		records = append(records, &net.MX{Host: mx.MX.String(), Pref: mx.Pref})
	})
	return records, err
}

// readNetIP asks for addresses of the family that network names.
func (r *Resolver) readNetIP(ctx context.Context, network, host string) (addrs []netip.Addr, err error) {
	if isHostname(host) {
		addrs, err = r.net.LookupNetIP(ctx, network, host)
		for i, a := range addrs {
			addrs[i] = a.Unmap()
		}
		return addrs, err
	}
	var failed error // temporarily
	for _, kind := range addressTypes(network) {
		err = r.exchange(ctx, host, kind, func(b dnsmessage.ResourceBody) {
			switch b := b.(type) {
			case *dnsmessage.AResource:
				addrs = append(addrs, netip.AddrFrom4(b.A))
			case *dnsmessage.AAAAResource:
				addrs = append(addrs, netip.AddrFrom16(b.AAAA))
			}
		})
		if e, ok := err.(*net.DNSError); err != nil && !(ok && e.IsNotFound) {
			failed = err
		}
	}
	switch {
	case len(addrs) > 0:
		return addrs, nil
	case failed != nil:
		return nil, failed
	}
	return nil, err
}

// addressTypes returns the types of records with addresses of the family that network names.
func addressTypes(network string) []dnsmessage.Type {
	switch network {
	case "ip4":
		return []dnsmessage.Type{dnsmessage.TypeA}
	case "ip6":
		return []dnsmessage.Type{dnsmessage.TypeAAAA}
	}
	return []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}
}

// exchange asks the servers one after the other until one answers, and calls each for every record of a type. Errors
// are those of the standard library.
func (r *Resolver) exchange(ctx context.Context, name string, kind dnsmessage.Type, each func(dnsmessage.ResourceBody)) (err error) {
	q, err := newQuestion(name, kind)
	if err != nil { // no query can have such a name
		return notFound(name)
	}
	servers := r.servers()
	for _, server := range servers {
		var m *dnsmessage.Message
		part, cancel := context.WithTimeout(ctx, r.cfg.Timeout/time.Duration(len(servers)))
		m, err = query(part, server, q)
		timeout := part.Err() != nil
		cancel()
		if err == nil {
			return records(m, name, kind, each)
		}
		err = &net.DNSError{Err: err.Error(), Name: name, IsTimeout: timeout, IsTemporary: true, UnwrapErr: err}
	}
	return err
}

// notFound returns the error for a name that does not exist, or has no such record.
func notFound(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// records calls each for every record of a type in an answer.
func records(m *dnsmessage.Message, name string, kind dnsmessage.Type, each func(dnsmessage.ResourceBody)) error {
	if m.RCode != dnsmessage.RCodeSuccess && m.RCode != dnsmessage.RCodeNameError {
		return &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	found := false
	for _, a := range m.Answers { // with those of the name that an alias leads to
		if a.Header.Type == kind && a.Header.Class == dnsmessage.ClassINET {
			each(a.Body)
			found = true
		}
	}
	switch {
	case found:
		return nil
	case !m.RecursionAvailable && !m.Authoritative:
		return &net.DNSError{Err: "lame referral", Name: name, IsTemporary: true}
	}
	return notFound(name)
}

// isAlive reports whether a server answers a question that every server can answer, be it with a failure.
func (r *Resolver) isAlive() bool {
	root := dnsmessage.Question{Name: dnsmessage.MustNewName("."), Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET}
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Timeout)
	defer cancel()
	for _, server := range r.servers() {
		if _, err := query(ctx, server, root); err == nil {
			return true
		}
	}
	return false
}

// servers returns the recursive resolvers to ask: that of the configuration, else those of the system.
func (r *Resolver) servers() (servers []string) {
	if r.cfg.Addr != "" {
		return []string{withPort(r.cfg.Addr)}
	}
	file, _ := os.ReadFile("/etc/resolv.conf") // without it, the default below, as in the standard library
	for line := range strings.Lines(string(file)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "nameserver" {
			servers = append(servers, net.JoinHostPort(words[1], "53"))
		}
	}
	if len(servers) == 0 {
		servers = []string{"127.0.0.1:53"}
	}
	return servers
}

// newQuestion returns the question for records of a type. name has a trailing dot.
func newQuestion(name string, kind dnsmessage.Type) (q dnsmessage.Question, err error) {
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 {
			return q, errors.New("a label is empty or too long")
		}
		for i := range len(label) {
			if c := label[i]; c < ' ' || c > '~' || c == '\\' { // which programs escape in different ways
				return q, errors.New("a label has a control character, a backslash or no ASCII")
			}
		}
	}
	n, err := dnsmessage.NewName(name)
	return dnsmessage.Question{Name: n, Type: kind, Class: dnsmessage.ClassINET}, err
}

// maxUDP is the largest answer that is asked for over UDP, in octets: one that no path fragments.
const maxUDP = 1232

// query sends a question over UDP and, if the answer does not fit, over TCP. To forge an answer, an attacker would have
// to guess the port and the identifier, which are random.
func query(ctx context.Context, server string, q dnsmessage.Question) (*dnsmessage.Message, error) {
	m, err := queryOver(ctx, "udp", server, q)
	if err == nil && m.Truncated {
		m, err = queryOver(ctx, "tcp", server, q)
	}
	return m, err
}

// queryOver sends a question over a network and returns the answer. Other datagrams are ignored.
func queryOver(ctx context.Context, network, server string, q dnsmessage.Question) (*dnsmessage.Message, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // ends Read and Write
	var id [2]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	request, err := encode(binary.BigEndian.Uint16(id[:]), q)
	if err != nil {
		return nil, err
	}
	if network == "tcp" {
		request = append(binary.BigEndian.AppendUint16(nil, uint16(len(request))), request...)
	}
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	for {
		response, err := readResponse(conn, network == "tcp")
		if err != nil {
			return nil, err
		}
		m := new(dnsmessage.Message)
		if err := m.Unpack(response); err == nil && m.Response && m.ID == binary.BigEndian.Uint16(id[:]) && isAbout(m, q) {
			return m, nil
		} else if network == "tcp" {
			return nil, errors.New("malformed DNS answer")
		}
	}
}

// encode returns a query with an identifier, which accepts answers of maxUDP octets (RFC 6891).
func encode(id uint16, q dnsmessage.Question) ([]byte, error) {
	var opt dnsmessage.ResourceHeader
	if err := opt.SetEDNS0(maxUDP, dnsmessage.RCodeSuccess, false); err != nil {
		return nil, err
	}
	m := dnsmessage.Message{
		Header: dnsmessage.Header{ID: id, RecursionDesired: true}, Questions: []dnsmessage.Question{q},
		Additionals: []dnsmessage.Resource{{Header: opt, Body: &dnsmessage.OPTResource{}}},
	}
	return m.Pack()
}

// readResponse reads one answer.
func readResponse(conn net.Conn, stream bool) ([]byte, error) {
	if !stream {
		b := make([]byte, maxUDP)
		n, err := conn.Read(b)
		return b[:n], err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(conn, b)
	return b, err
}

// isAbout reports whether an answer repeats the question.
func isAbout(m *dnsmessage.Message, q dnsmessage.Question) bool {
	return len(m.Questions) == 1 && m.Questions[0].Type == q.Type && m.Questions[0].Class == q.Class &&
		strings.EqualFold(m.Questions[0].Name.String(), q.Name.String())
}

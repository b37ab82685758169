package resolver

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/miekg/dns"
)

// LookupTXT returns the TXT records of name, the strings of each record joined without a separator (RFC 7208 §3.3,
// RFC 6376 §3.6.2.2).
func (r *Resolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	records, err := r.lookup(ctx, ask(name, dns.TypeTXT))
	if err != nil {
		return nil, err
	}
	return texts(records), nil
}

// LookupMX returns the MX records of name by ascending preference, hosts with a trailing dot. A domain that takes no
// mail at all answers a single record that [IsNullMX] recognises.
func (r *Resolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	records, err := r.lookup(ctx, ask(name, dns.TypeMX))
	if err != nil {
		return nil, err
	}
	mxs := make([]*net.MX, len(records))
	for i, rec := range records {
		mxs[i] = &net.MX{Host: rec.text, Pref: rec.pref}
	}
	slices.SortStableFunc(mxs, func(a, b *net.MX) int { return cmp.Compare(a.Pref, b.Pref) })
	return mxs, nil
}

// IsNullMX reports whether mxs says that the domain takes no mail (RFC 7505 §3).
func IsNullMX(mxs []*net.MX) bool { return len(mxs) == 1 && mxs[0].Host == "." }

// LookupNS returns the NS records of name, hosts with a trailing dot.
func (r *Resolver) LookupNS(ctx context.Context, name string) ([]*net.NS, error) {
	records, err := r.lookup(ctx, ask(name, dns.TypeNS))
	if err != nil {
		return nil, err
	}
	hosts := make([]*net.NS, len(records))
	for i, rec := range records {
		hosts[i] = &net.NS{Host: rec.text}
	}
	return hosts, nil
}

// LookupIPAddr returns the IPv4 and then the IPv6 addresses of host; an address literal is its own answer.
func (r *Resolver) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	addrs, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	ips := make([]net.IPAddr, len(addrs))
	for i, a := range addrs {
		ips[i] = net.IPAddr{IP: a.AsSlice(), Zone: a.Zone()}
	}
	return ips, nil
}

// LookupNetIP returns the addresses of host in the family that network names: ip (both, IPv4 first), ip4 or ip6. If one
// family has addresses, a failure of the other is left out of account, as in the standard library.
func (r *Resolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return literal(a.Unmap(), network, host)
	}
	switch network {
	case "ip4":
		return r.addresses(ctx, host, dns.TypeA)
	case "ip6":
		return r.addresses(ctx, host, dns.TypeAAAA)
	}
	return r.bothFamilies(ctx, host)
}

func literal(a netip.Addr, network, host string) ([]netip.Addr, error) {
	if network == "ip4" && !a.Is4() || network == "ip6" && !a.Is6() {
		return nil, &net.DNSError{Err: noSuchHost, Name: host, IsNotFound: true}
	}
	return []netip.Addr{a}, nil
}

func (r *Resolver) bothFamilies(ctx context.Context, host string) ([]netip.Addr, error) {
	var v4, v6 []netip.Addr
	var err4, err6 error
	if now := r.cfg.Clock.Now(); !isFresh(ctx) && r.cache.has(ask(host, dns.TypeA), now) {
		v4, err4 = r.addresses(ctx, host, dns.TypeA)
		v6, err6 = r.addresses(ctx, host, dns.TypeAAAA)
	} else {
		var wg sync.WaitGroup
		wg.Go(func() { v6, err6 = r.addresses(ctx, host, dns.TypeAAAA) })
		v4, err4 = r.addresses(ctx, host, dns.TypeA)
		wg.Wait()
	}
	if addrs := append(v4, v6...); len(addrs) > 0 {
		return addrs, nil
	}
	if isNotFound(err4) {
		return nil, err6 // not found as well, or the one thing still unknown
	}
	return nil, err4
}

func (r *Resolver) addresses(ctx context.Context, host string, qtype uint16) ([]netip.Addr, error) {
	records, err := r.lookup(ctx, ask(host, qtype))
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, len(records))
	for i, rec := range records {
		addrs[i] = rec.addr
	}
	return addrs, nil
}

// LookupAddr returns the names that the reverse zone gives an address, with a trailing dot.
func (r *Resolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return nil, &net.DNSError{Err: "not an address", Name: addr, IsNotFound: true, UnwrapErr: err}
	}
	name, err := dns.ReverseAddr(ip.Unmap().WithZone("").String())
	if err != nil {
		return nil, &net.DNSError{Err: "not an address", Name: addr, IsNotFound: true, UnwrapErr: err}
	}
	records, err := r.lookup(ctx, ask(name, dns.TypePTR))
	if err != nil {
		return nil, err
	}
	return texts(records), nil
}

func texts(records []record) []string {
	out := make([]string, len(records))
	for i, rec := range records {
		out[i] = rec.text
	}
	return out
}

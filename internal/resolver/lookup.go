package resolver

import (
	"context"
	"net"
	"net/netip"
	"slices"
)

// LookupTXT returns the TXT records of name, the strings of each record joined without a separator (RFC 7208 §3.3,
// RFC 6376 §3.6.2.2).
func (r *Resolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	texts, err := ask(ctx, r, "TXT", name, r.readTXT, sizeOfTexts)
	return slices.Clone(texts), err
}

// sizeOfTexts returns the approximate memory of strings in the cache.
func sizeOfTexts(texts []string) (size int) {
	for _, t := range texts {
		size += 64 + len(t)
	}
	return size
}

// LookupMX returns the MX records of name by ascending preference, hosts with a trailing dot. A domain that takes no mail at all
// has a single record that [IsNullMX] recognises.
func (r *Resolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	records, err := ask(ctx, r, "MX", name, r.readMX, func(records []*net.MX) int { return 320 * len(records) })
	mxs := make([]*net.MX, len(records))
	for i, mx := range records {
		mxs[i] = &net.MX{Host: mx.Host, Pref: mx.Pref}
	}
	return mxs, err
}

// IsNullMX reports whether mxs says that the domain takes no mail (RFC 7505 §3).
func IsNullMX(mxs []*net.MX) bool { return len(mxs) == 1 && mxs[0].Host == "." }

// LookupNetIP returns the addresses of host in the family that network names: ip (both), ip4 or ip6. An address literal is its own
// answer. If one family has addresses, a failure of the other is ignored.
func (r *Resolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return literal(a.Unmap(), network, host)
	}
	addrs, err := ask(ctx, r, network, host, func(ctx context.Context, host string) ([]netip.Addr, error) {
		return r.readNetIP(ctx, network, host)
	}, func(addrs []netip.Addr) int { return 32 * len(addrs) })
	return slices.Clone(addrs), err
}

// literal returns an address that was given instead of a name, if it is of the family that network names.
func literal(a netip.Addr, network, host string) ([]netip.Addr, error) {
	if network == "ip4" && !a.Is4() || network == "ip6" && !a.Is6() {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{a}, nil
}

// LookupAddr returns the names that the reverse zone gives an address, with a trailing dot.
func (r *Resolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return nil, &net.DNSError{Err: "not an address", Name: addr, IsNotFound: true, UnwrapErr: err}
	}
	names, err := ask(ctx, r, "PTR", ip.Unmap().WithZone("").String(), func(ctx context.Context, _ string) ([]string, error) {
		names, err := r.net.LookupAddr(ctx, ip.Unmap().WithZone("").String())
		if len(names) > 0 {
			err = nil // some of the names are malformed
		}
		return names, err
	}, sizeOfTexts)
	return slices.Clone(names), err
}

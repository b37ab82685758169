package netguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// networks distinguishes public addresses from others.
type networks struct {
	allow  []netip.Prefix
	plain  bool
	public *ssrf.Guardian // knows the registries of special-purpose addresses, and takes the exception into account
}

// newNetworks prepares the rules for addresses and ports. Package ssrf has the registries of IANA.
func newNetworks(o Options) networks {
	var v4, v6 []netip.Prefix
	for _, p := range o.Allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	ports := ssrf.WithPorts(o.Ports...)
	if o.Plain {
		ports = ssrf.WithAnyPort()
	}
	return networks{
		allow: o.Allow,
		plain: o.Plain,
		public: ssrf.New(ports, ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
			ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")), // the platform of Azure, seen from its machines
			ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("3ffe::/16"))),       // the former 6bone (RFC 3701), unassigned since
	}
}

// masked returns networks in canonical form: an IPv4-mapped one becomes IPv4, so that an exception covers the
// addresses that it names however they are written. Invalid ones are left out.
func masked(all []netip.Prefix) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(all))
	for _, p := range all {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		if p = p.Masked(); p.IsValid() {
			out = append(out, p)
		}
	}
	return out
}

// check returns an error unless an address may be reached. IPv4-mapped addresses are refused: there is no legitimate use of them in a URL.
func (n networks) check(a netip.Addr) error {
	if a.Zone() != "" || a.Is4In6() || n.plain && isMetadata(a) || n.public.SafeAddr(a) != nil {
		return forbidden(RuleAddress, "the host must be at public addresses alone")
	}
	return nil
}

// excepted reports whether the operator has allowed an address (Options.Allow).
func (n networks) excepted(a netip.Addr) bool {
	return slices.ContainsFunc(n.allow, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isMetadata reports whether cloud providers serve a machine its own credentials at an address. These are refused even
// if the operator has allowed private networks with Options.Plain.
func isMetadata(a netip.Addr) bool {
	return a.IsLinkLocalUnicast() || a == netip.AddrFrom16([16]byte{0xfd, 0x00, 0x0e, 0xc2, 14: 0x02, 15: 0x54}) // fd00:ec2::254
}

// plainForbidden returns the error for http and other ports outside of Options.Allow.
func plainForbidden() error {
	return forbidden(RuleAddress, "http, and ports other than 443 and 8443, are for loopback and private networks alone")
}

// addresses returns the addresses of a host if every one of them may be reached. One forbidden address forbids the
// host: a name with a public and a private address could otherwise be used to reach the private one.
func (g *Guard) addresses(ctx context.Context, h host) ([]netip.Addr, error) {
	if h.addr.IsValid() {
		if h.plain && !g.networks.excepted(h.addr) {
			return nil, plainForbidden()
		}
		return []netip.Addr{h.addr}, g.networks.check(h.addr)
	}
	if h.private && len(g.options.Allow) == 0 {
		return nil, forbidden(RuleHost, "the host must be a name of the internet, with at least one dot")
	}
	all, err := g.lookup(ctx, h)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if err := g.networks.check(a); err != nil {
			return nil, err
		}
		if h.plain && !g.networks.excepted(a) {
			return nil, plainForbidden()
		}
		if h.private && !g.networks.excepted(a) {
			return nil, forbidden(RuleHost, "the host must be a name of the internet, with at least one dot")
		}
	}
	return all, nil
}

// lookup returns the addresses of a name, at least one.
func (g *Guard) lookup(ctx context.Context, h host) ([]netip.Addr, error) {
	name := h.name + "." // absolute: the system's resolver would search
	if g.options.Plain && h.private {
		if name = h.name; name == "localhost" || strings.HasSuffix(name, ".localhost") { // RFC 6761 §6.3
			return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
		}
	}
	all, err := g.options.Resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, lookupFailed(err)
	}
	if len(all) == 0 {
		return nil, forbidden(RuleLookup, "the host has no address")
	}
	return all, nil
}

// lookupFailed converts the error of a resolver. Its text reports whether a retry may help, and nothing else that the
// resolver said.
func lookupFailed(err error) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return forbidden(RuleLookup, "the host has no address")
	}
	return forbidden(RuleLookup, "the addresses of the host cannot be looked up now")
}

// control is the last check of every connection: net.Dialer calls it with the address that the system is about to
// connect to.
func (g *Guard) control(network, address string, c syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || g.options.Plain && isMetadata(to.Addr()) || g.networks.public.Safe(network, address, c) != nil {
		return forbidden(RuleAddress, "the host must be at public addresses alone")
	}
	return nil
}

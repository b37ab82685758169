package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddr is the address that limits count by: the peer's, or what a trusted proxy says it forwarded for: the
// right-most entry that is not a trusted proxy itself (decisions §1).
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	client := bare(peer.Addr())
	if len(trusted) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(hops) {
		if !within(client, trusted) {
			break
		}
		hop, ok := parseHop(strings.TrimSpace(text))
		if !ok {
			break // whoever wrote this is not to be believed, nor what stands before it
		}
		client = hop
	}
	return client
}

// parseHop reads an entry of X-Forwarded-For: an address, to which some proxies add the port.
func parseHop(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return bare(a), true
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		return bare(a.Addr()), true
	}
	return netip.Addr{}, false
}

// bare is an address without a zone and not mapped into IPv6, so that it can be compared with networks.
func bare(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func within(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

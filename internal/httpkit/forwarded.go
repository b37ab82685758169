package httpkit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddr returns the client's address, which limits count by: the peer's, or if the peer is a trusted proxy, the
// right-most entry of X-Forwarded-For that is not a trusted proxy itself.
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
			break // neither this entry nor those to its left can be trusted
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

// bare returns an address without its zone and its mapping into IPv6, so that it can be compared with networks.
func bare(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func within(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// isUnlimited reports whether Unlimited holds for the client of a request, and for every address in X-Forwarded-For, even
// where the peer is not a trusted proxy: behind a tunnel or a proxy on this machine every client would seem to be local.
func (k *Kit) isUnlimited(r *http.Request, client netip.Addr) bool {
	if k.Unlimited == nil || !k.Unlimited(client) || r.Header.Get("Forwarded") != "" {
		return false
	}
	for text := range strings.SplitSeq(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if hop, ok := parseHop(text); !ok || !k.Unlimited(hop) {
			return false
		}
	}
	return true
}

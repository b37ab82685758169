package httpkit

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/local"
)

// clientAddr returns the client's address, which limits count by: the peer's, or if the peer is a trusted proxy, the
// right-most entry of X-Forwarded-For that is not a trusted proxy itself.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	client := peer.Addr().Unmap().WithZone("")
	if len(trusted) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(hops) {
		if !within(client, trusted) {
			break
		}
		hop, ok := local.ParseHop(strings.TrimSpace(text))
		if !ok {
			break // neither this entry nor those to its left can be trusted
		}
		client = hop
	}
	return client
}

func within(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// setLocal sets whether a request is local, by CheckLocal and CheckOwn.
func (k *Kit) setLocal(c *call, r *http.Request) {
	c.notLocal, c.notOwn = errNotLocal, errNotLocal
	if k.CheckLocal != nil {
		c.notLocal = k.CheckLocal(r)
	}
	if k.CheckOwn != nil {
		c.notOwn = k.CheckOwn(r)
	}
}

// errNotLocal says that no request to an API is local.
var errNotLocal = errors.New("no request is local without profile dev")

package smtpd

import (
	"net"
	"net/netip"
	"slices"

	"github.com/pires/go-proxyproto"
)

// proxied returns a listener that reads the PROXY protocol, if proxies are configured. A connection from a trusted proxy must begin with
// the header. From other clients the header is an unknown command, so that they cannot choose their address.
func (s *Server) proxied(l net.Listener) net.Listener {
	if len(s.cfg.TrustedProxies) == 0 {
		return l
	}
	return &proxyproto.Listener{
		Listener: l,
		ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			ip := ipOf(o.Upstream)
			trusted := slices.ContainsFunc(s.cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(ip) })
			if trusted {
				return proxyproto.REQUIRE, nil
			}
			return proxyproto.SKIP, nil
		},
	}
}

package smtpd

import (
	"net"
	"net/netip"
	"slices"

	"github.com/pires/go-proxyproto"
)

// proxied makes l understand the PROXY protocol where proxies are configured. What a trusted proxy sends must begin with the
// header; from anyone else the header is no more than a strange first command, so nobody can choose their own address.
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

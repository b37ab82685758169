package smtpd

import (
	"net"
	"net/netip"
)

// ipOf returns the IP address of a, without zone and never IPv4-mapped, or the zero Addr if a has none.
func ipOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

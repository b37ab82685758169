package smtpd

import (
	"net"
	"net/netip"
	"sync"
)

// addresses counts the open connections of each client address.
type addresses struct {
	limit int
	mu    sync.Mutex
	open  map[bucket]int
}

// bucket is what counts as one client: an IPv4 address or an IPv6 /64, since a /64 is what one subscriber is given.
type bucket netip.Prefix

func bucketOf(a netip.Addr) bucket {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // fails on the zero Addr alone; those without an address share a bucket
	return bucket(p)
}

// enter counts a connection in, unless its client has as many as it may have.
func (as *addresses) enter(a netip.Addr) bool {
	b := bucketOf(a)
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.open[b] >= as.limit {
		return false
	}
	as.open[b]++
	return true
}

func (as *addresses) leave(a netip.Addr) {
	b := bucketOf(a)
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.open[b]--; as.open[b] <= 0 {
		delete(as.open, b)
	}
}

// ipOf is the IP address of a, without zone and never IPv4-mapped; the zero Addr if a has none.
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

package ratelimit

import (
	"net/netip"
	"strings"
	"time"
)

// NetworkShare is how many times what one /64 may do all of a /48 may do together. Providers assign a /48 to a site, which has 65,536
// networks of 64 bits and could otherwise use each as a client of its own. Mobile networks have as many subscribers in a /48, of which far
// fewer than that are busy at the same time.
const NetworkShare = 16

const (
	clientBits, networkBits = 64, 48
	clientSuffix            = "/64"
)

// NetworkOf returns the identity that counts the whole /48 of an identity with the /64 of an IPv6 client: AddrIdentity, maybe behind
// other text and a space. ok is false for any other identity.
func NetworkOf(identity string) (network string, ok bool) {
	if !strings.HasSuffix(identity, clientSuffix) {
		return "", false
	}
	at := strings.LastIndexByte(identity, ' ') + 1
	client, err := netip.ParsePrefix(identity[at:])
	if err != nil || !client.Addr().Is6() || client.Bits() != clientBits {
		return "", false
	}
	whole, err := client.Addr().Prefix(networkBits)
	if err != nil {
		return "", false
	}
	return identity[:at] + whole.String(), true
}

// NetworkIdentity returns the identity of the network that a client address is in: an IPv4 address itself, and the /48 of an IPv6 address.
func NetworkIdentity(a netip.Addr) string {
	identity := AddrIdentity(a)
	if network, ok := NetworkOf(identity); ok {
		return network
	}
	return identity
}

// times returns a limit with n times the counts, as far as a window can have them.
func (l Limit) times(n int) Limit {
	scaled := make(Limit, len(l))
	for i, w := range l {
		scaled[i] = Window{Count: int(min(int64(w.Count)*int64(n), int64(w.Per/time.Microsecond))), Per: w.Per}
	}
	return scaled
}

package apikey

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/gonebox/gonebox/internal/problem"
)

// NetworksMax is the maximum number of networks of a key. Each call with the key compares its address with all of them.
const NetworksMax = 100

// ParseNetworks parses the networks of a new key, in CIDR form; a single address is a network too. It returns them
// masked and without duplicates, IPv4 mapped into IPv6 as IPv4. The pointer of the error is below /allowedCidrs. Error:
// request.invalid.
func ParseNetworks(texts []string) ([]netip.Prefix, error) {
	if len(texts) > NetworksMax {
		return nil, problem.Invalid("/allowedCidrs", "must name at most %d networks", NetworksMax)
	}
	networks := make([]netip.Prefix, 0, len(texts))
	for i, text := range texts {
		n, ok := parseNetwork(text)
		if !ok {
			return nil, problem.Invalid(fmt.Sprintf("/allowedCidrs/%d", i), "must be a network such as 192.0.2.0/24 or 2001:db8::/32")
		}
		if !slices.Contains(networks, n) {
			networks = append(networks, n)
		}
	}
	return networks, nil
}

// parseNetwork parses a network or an address. An IPv6 zone is refused, since it has a meaning only on one machine.
func parseNetwork(text string) (n netip.Prefix, ok bool) {
	n, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		n = netip.PrefixFrom(addr, addr.BitLen())
	}
	if mapped := 128 - 32; n.Addr().Is4In6() && n.Bits() >= mapped {
		n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-mapped)
	}
	return n.Masked(), true
}

// allowed reports whether an address is in one of the networks, or there are none. IPv4 mapped into IPv6 counts as
// IPv4, as it does in ParseNetworks.
func allowed(networks []netip.Prefix, from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return len(networks) == 0 || slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(from) })
}

package config

import (
	"net"
	"net/netip"
	"slices"
)

// Warning is a setting that is valid but opens the service to everyone, which is seldom intended.
type Warning struct {
	Key    string // dotted key
	Value  string
	Advice string // what the value allows, and what to do
}

// String returns one line: key, value, advice.
func (w Warning) String() string { return w.Key + " = " + quote(w.Value) + ": " + w.Advice }

// Warnings returns the settings that open the service to everyone, in the order of docs/config.md: lists of networks that
// contain all addresses, and metrics on a public address. Such settings have the tag open.
func (c *Config) Warnings() []Warning {
	var all []Warning
	for _, s := range newTable(c).settings {
		advice, open := s.tag.Get("open"), false
		if advice == "" {
			continue
		}
		switch v := s.value.Interface().(type) {
		case []netip.Prefix:
			open = slices.ContainsFunc(v, containsAll)
		case string:
			open = isPublicAddr(v)
		}
		if open {
			all = append(all, Warning{Key: s.key, Value: s.text(), Advice: advice})
		}
	}
	return all
}

// containsAll reports whether a network contains all addresses of IPv4 or of IPv6.
func containsAll(n netip.Prefix) bool {
	const mapped = 128 - 32 // the length of ::ffff:0:0/96, which is all of IPv4
	return n.Bits() == 0 || n.Addr().Is4In6() && n.Bits() <= mapped
}

// isPublicAddr reports whether an address to listen on can be reached from other networks, as far as the address shows
// it. For a host name it returns false.
func isPublicAddr(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return false // empty: metrics are off
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host == ""
	}
	return addr.IsUnspecified() || addr.IsGlobalUnicast() && !addr.IsPrivate()
}

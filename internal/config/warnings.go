package config

import (
	"net"
	"net/netip"
	"slices"
)

// Warning is a setting that is valid and opens the service to everyone, which hardly any operator wants.
type Warning struct {
	Key    string // the dotted key
	Value  string
	Advice string // what the value allows, and what to do
}

// String is one line: key, value, advice.
func (w Warning) String() string { return w.Key + " = " + shown(w.Value) + ": " + w.Advice }

// Warnings lists the settings that open the service to everyone, in the order of their keys in the documentation: every list of
// networks that holds all addresses, and metrics on a public address.
func (c *Config) Warnings() []Warning {
	var all []Warning
	for _, s := range newTable(c).settings {
		networks, ok := s.value.Interface().([]netip.Prefix)
		if ok && slices.ContainsFunc(networks, holdsAll) || s.key == "metrics.addr" && isPublicAddr(s.text()) {
			all = append(all, Warning{Key: s.key, Value: s.text(), Advice: openAdvice(s.key)})
		}
	}
	return all
}

// openAdvice says what a setting allows that is open to everyone, and what to do.
func openAdvice(key string) string {
	switch key {
	case "metrics.addr":
		return "metrics and profiles can be asked for from other networks, without a password; bind them to 127.0.0.1 or a private address"
	case "http.trusted_proxies":
		return "every client can choose its own address by X-Forwarded-For, which undoes all limits by address and the networks of developer keys; list the networks of your proxies alone"
	case "smtp.trusted_proxies":
		return "every sender can choose its own address by the PROXY protocol, which undoes all limits by address and SPF; list the networks of your load balancers alone"
	case "webhooks.allow_networks":
		return "every account can have requests sent to your private network and to this machine; list the networks of your own endpoints alone"
	case "billing.bankpay.allow_networks":
		return "the bank callback is protected by its shared secret alone; list the networks that the bank calls from"
	}
	return "it holds all addresses; list those that are meant"
}

// holdsAll reports whether a network holds all addresses of IPv4 or of IPv6.
func holdsAll(n netip.Prefix) bool {
	const mapped = 128 - 32
	return n.Bits() == 0 || n.Addr().Is4In6() && n.Bits() <= mapped
}

// isPublicAddr reports whether an address to listen on can be reached from other networks, as far as that shows.
func isPublicAddr(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return false // off
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host == "" // of a name nothing is known
	}
	return addr.IsUnspecified() || addr.IsGlobalUnicast() && !addr.IsPrivate()
}

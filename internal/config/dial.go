package config

import "net"

// DialAddr returns the address, host:port, at which this machine reaches a service that listens on addr. A service that
// listens on all addresses is reached by way of localhost.
func DialAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}

package config

import (
	"net"
	"net/url"
	"strings"
)

// DialAddr returns the address, host:port, at which this machine reaches a service that listens on addr. A service that
// listens on all addresses is reached by way of localhost.
func DialAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return addr
}

// IsTLS reports whether the service speaks HTTPS on http.addr.
func (h HTTP) IsTLS() bool { return h.TLS.Cert != "" || len(h.TLS.ACME.Hosts) > 0 }

// Scheme returns the scheme of http.addr: https or http.
func (h HTTP) Scheme() string {
	if h.IsTLS() {
		return "https"
	}
	return "http"
}

// hasBaseURL reports whether base_url is set to something else than its default.
func (c *Config) hasBaseURL() bool { return c.BaseURL != Default().BaseURL }

// URL returns the URL at which clients reach a service that listens for HTTP on port: base_url if it is set, and otherwise
// the first of the names in http.tls.acme.hosts, or localhost.
func (c *Config) URL(port string) string {
	if c.hasBaseURL() {
		return c.BaseURL
	}
	if hosts := c.HTTP.TLS.ACME.Hosts; len(hosts) > 0 && port == "443" {
		return "https://" + hosts[0]
	} else if len(hosts) > 0 {
		return "https://" + hosts[0] + ":" + port
	}
	return c.HTTP.Scheme() + "://localhost:" + port
}

// BasePath returns the path in base_url, "" if it has none.
func (c *Config) BasePath() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	return u.Path
}

// WebHost returns the host of base_url, in lower case and without a port.
func (c *Config) WebHost() string {
	_, host := splitURL(c.BaseURL)
	return host
}

// splitURL returns the scheme of a URL, and its host in lower case without the port.
func splitURL(text string) (scheme, host string) {
	u, err := url.Parse(text)
	if err != nil {
		return "", ""
	}
	return u.Scheme, strings.ToLower(u.Hostname())
}

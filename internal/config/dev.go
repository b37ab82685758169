package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/gonebox/gonebox/internal/local"
)

// ProfileDev is the value of the key profile for laptops and CI jobs.
const ProfileDev = "dev"

// DevAccount is the e-mail address of the account that exists under profile: dev.
const DevAccount = "dev@gonebox.localhost"

// DevSMTPSAddr is the value of smtp.tls.addr under profile: dev. Where the port is in use the service starts without it.
const DevSMTPSAddr = ":1465"

// fromProfile is the origin of the defaults that a profile changes.
const fromProfile = "profile dev"

// devDefaults returns the defaults that differ under profile: dev, by key. File, environment and command line override
// them.
func devDefaults() map[string]string {
	return map[string]string{
		"smtp.addr": ":1025", "smtp.auth": "accept_any", "smtp.max_size": "50MiB", "smtp.sink.domains": "*", "smtp.sink.account": DevAccount,
		"smtp.tls.addr": DevSMTPSAddr, "smtp.tls.self_signed": "true",
		"smtp.projects": "on", "plans.pro.projects.max": "1000",
		"compat.mailpit.addr": ":8025", "mailbox.max_messages": "100000", "message.attachment_max": "25MiB",
	}
}

// applyProfile applies the defaults of the profile that the sources name, before the sources themselves.
func (l *loader) applyProfile(root *yaml.Node, environ []string, overrides map[string]string) {
	if profileOf(root, environ, overrides) != ProfileDev {
		return
	}
	for key, value := range devDefaults() {
		s := l.byKey[key]
		l.apply(s, s.split(value), value, fromProfile)
	}
}

// profileOf returns the value of the key profile. A value that is not valid is reported when its source is applied.
func profileOf(root *yaml.Node, environ []string, overrides map[string]string) (profile string) {
	for key, value := range pairs(root) {
		if key.Value == "profile" {
			profile = value.Value
		}
	}
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); name == envPrefix+"PROFILE" {
			profile = value
		}
	}
	if value, ok := overrides["profile"]; ok {
		profile = value
	}
	return profile
}

// IsDev reports whether the profile is dev.
func (c *Config) IsDev() bool { return c.Profile == ProfileDev }

// checkDev refuses profile dev on a service that the internet can reach, since local clients need no credentials
// there.
func (l *loader) checkDev() {
	c := l.config
	if !c.IsDev() {
		return
	}
	l.require(!isPublicURL(c.BaseURL, c.HTTP.IsTLS()), "is a public URL, which profile: dev must not have; write http://localhost:8080 or a private address", "base_url")
	for _, key := range listeners() {
		l.require(!isPublicListener(l.byKey[key].text()), "is a public address, which profile: dev must not listen on; leave out the host, or use 127.0.0.1", key)
	}
}

// listeners returns the keys of the addresses to listen on.
func listeners() []string {
	return []string{"http.addr", "smtp.addr", "metrics.addr", "smtp.tls.addr", "http.redirect_addr", "compat.mailpit.addr", "compat.mailtm.addr"}
}

// isPublicURL reports whether a URL may be reached from the internet: it has the scheme https, as that of a tunnel, although the
// service does not speak TLS itself (servesTLS), a name with a dot outside of localhost, or a public address.
func isPublicURL(text string, servesTLS bool) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "https" && !servesTLS {
		return true
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return !addr.IsUnspecified() && !local.IsAddr(addr)
	}
	return isPublicName(u.Hostname())
}

// isPublicListener reports whether an address to listen on is public. An unspecified one is not.
func isPublicListener(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil || host == "" {
		return false
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return !addr.IsUnspecified() && !local.IsAddr(addr)
	}
	return isPublicName(host)
}

// isPublicName reports whether a host name has a dot and is not below localhost.
func isPublicName(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return strings.Contains(name, ".") && !strings.HasSuffix(name, ".localhost")
}

// Package local decides whether an HTTP request is local: made by a program on this machine or in a private network, or by
// one of their own web pages, and not by a page of another site that uses its visitor's browser
// (docs/spec/dev.md#local-requests). It is the one place that decides it, for every API and listener of the service.
//
// A request is local if three things hold, each of which is also checked on its own where the others do not matter:
//
//   - CheckClient: the peer and every address that it forwards the request for are loopback or private.
//   - CheckHost: the request names the service by a name that cannot be made to point here in public DNS. A page of
//     another site could otherwise make its own name resolve to this machine (DNS rebinding) and would then be of the
//     same origin as the service.
//   - CheckOrigin: the request comes from no page, or from one of this host or of this machine.
//
// The package keeps no state, and does not depend on what is local being good for.
package local

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/gonebox/gonebox/internal/problem"
)

// Rules decides which requests are local. It is immutable and safe for concurrent use. New makes one.
type Rules struct {
	base  host   // of the base URL
	key   string // the configuration key that adds to hosts, for the text of problems
	hosts []host // further hosts by which the service may be called, and whose pages may call it
}

// New returns the Rules of a service with a base URL. hosts are further hosts, from the configuration key named key, by
// which it may be called and whose pages may call it; those that IsHost rejects are ignored.
func New(baseURL, key string, hosts []string) *Rules {
	r := new(Rules)
	if u, err := url.Parse(baseURL); err == nil {
		r.base, _ = parseHost(u.Hostname())
	}
	return r.With(key, hosts)
}

// With returns Rules that allow more hosts, from the configuration key named key, which problems name from then on.
func (r *Rules) With(key string, hosts []string) *Rules {
	more := &Rules{base: r.base, key: key, hosts: slices.Clone(r.hosts)}
	for _, text := range hosts {
		if h, ok := parseHost(text); ok {
			more.hosts = append(more.hosts, h)
		}
	}
	return more
}

// IsHost reports whether a text is the name or the address of a host, without a port: a value of the keys that New and With
// take.
func IsHost(text string) bool {
	_, ok := parseHost(text)
	return ok
}

// IsPrivateName reports whether a host with an optional port, as in the field Host, is an address or a name that public DNS
// does not have.
func IsPrivateName(authority string) bool {
	h, _, ok := parseAuthority(authority)
	return ok && h.isPrivate()
}

// IsAddr reports whether an address is loopback (127.0.0.0/8, ::1) or private (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16,
// fc00::/7).
func IsAddr(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate()
}

// Networks returns the networks of IsAddr, for packages that take networks instead of a function.
func Networks() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// Header fields that say who sent a request, and by which names.
const (
	forwardedFor   = "X-Forwarded-For"
	forwardedHost  = "X-Forwarded-Host"
	forwardedField = "Forwarded" // RFC 7239
	realIP         = "X-Real-Ip"
	origin         = "Origin"
	fetchSite      = "Sec-Fetch-Site"
)

// Fields returns the names of all header fields that Check reads. A handler that carries a request out by other requests
// copies them, beside the peer's address and Host.
func Fields() []string {
	return []string{forwardedFor, forwardedHost, forwardedField, realIP, origin, fetchSite}
}

// Check returns nil if a request is local. Errors: access.client_not_allowed, access.host_not_allowed,
// access.origin_not_allowed.
func (r *Rules) Check(q *http.Request) error {
	if err := r.CheckClient(q); err != nil {
		return err
	}
	if err := r.CheckHost(q); err != nil {
		return err
	}
	return r.CheckOrigin(q)
}

// CheckOwn returns nil if a request is local and comes from no web page but one of its own host and port. It decides where a
// page gets a credential without presenting one: pages of other ports of this machine have to ask for theirs. Errors: those of Check.
func (r *Rules) CheckOwn(q *http.Request) error {
	if err := r.Check(q); err != nil {
		return err
	}
	for _, text := range q.Header.Values(origin) {
		if from, scheme, port, ok := parseOrigin(text); !ok || !isOrigin(from, scheme, port, q.Host) {
			return problem.Detailf(problem.AccessOriginNotAllowed, "a page of the origin %s may not call this; only pages of the same host and port may", quote(text))
		}
	}
	for text := range listed(q.Header, fetchSite) {
		if !strings.EqualFold(text, "same-origin") && !strings.EqualFold(text, "none") {
			return problem.Detailf(problem.AccessOriginNotAllowed, "a page of another origin (Sec-Fetch-Site: %s) may not call this; only pages of the same host and port may", quote(text))
		}
	}
	return nil
}

// CheckClient returns nil if the peer of a request is loopback or private, and so is every address in X-Forwarded-For,
// X-Real-Ip and Forwarded, whether the peer is a trusted proxy or not: behind a tunnel or a proxy on this machine every client
// would seem to be local. A forwarded client without an address is not local. Error: access.client_not_allowed.
func (r *Rules) CheckClient(q *http.Request) error {
	peer, err := netip.ParseAddrPort(q.RemoteAddr)
	if err != nil || !IsAddr(peer.Addr()) {
		return problem.New(problem.AccessClientNotAllowed)
	}
	for _, name := range []string{forwardedFor, realIP} {
		for text := range listed(q.Header, name) {
			if a, ok := ParseHop(text); !ok || !IsAddr(a) {
				return refuseHop(name, text)
			}
		}
	}
	hops, ok := parseForwarded(q.Header)
	if !ok {
		return problem.Detailf(problem.AccessClientNotAllowed, "the request was forwarded, and its field Forwarded is malformed")
	}
	for _, hop := range hops {
		if a, ok := ParseHop(hop.client); !ok || !IsAddr(a) {
			return refuseHop(forwardedField, hop.client)
		}
	}
	return nil
}

// refuseHop returns the problem of a forwarded client that is not local.
func refuseHop(field, text string) error {
	return problem.Detailf(problem.AccessClientNotAllowed,
		"the request was forwarded for %s (%s), which is not a loopback or private address", quote(text), field)
}

// CheckHost returns nil if a request names the service by an address, by a name that public DNS does not have, by the host of
// the base URL, or by a host of the configuration. A name in X-Forwarded-Host or Forwarded must be one of these too. A
// request of HTTP/1.0 may leave out Host: no browser sends one. Error: access.host_not_allowed.
func (r *Rules) CheckHost(q *http.Request) error {
	if q.Host != "" || q.ProtoAtLeast(1, 1) {
		if err := r.checkName("Host", q.Host); err != nil {
			return err
		}
	}
	for text := range listed(q.Header, forwardedHost) {
		if err := r.checkName(forwardedHost, text); err != nil {
			return err
		}
	}
	hops, _ := parseForwarded(q.Header)
	for _, hop := range hops {
		if hop.host == "" {
			continue
		}
		if err := r.checkName(forwardedField, hop.host); err != nil {
			return err
		}
	}
	return nil
}

// checkName checks a host with an optional port, which the header field named field contains.
func (r *Rules) checkName(field, text string) error {
	h, _, ok := parseAuthority(text)
	if ok && (h.isPrivate() || h == r.base || slices.Contains(r.hosts, h)) {
		return nil
	}
	return problem.Detailf(problem.AccessHostNotAllowed,
		"%s in %s is not a name by which this may be called; use localhost or an address, or add the name to %s", quote(text), field, r.key)
}

// CheckOrigin returns nil if a request does not come from a web page, or comes from one that may call the service: of the
// same host and port, of a loopback host, or of a host of the configuration. Browsers send Origin with every request
// of another site that can change something or opens a WebSocket, and to this machine they send Sec-Fetch-Site with all
// requests. Error: access.origin_not_allowed.
func (r *Rules) CheckOrigin(q *http.Request) error {
	const rule = "; only pages of the same host and port, of localhost, or of a host in %s may"
	values := q.Header.Values(origin)
	if len(values) > 0 && (len(values) > 1 || !r.allowsOrigin(values[0], q.Host)) {
		return problem.Detailf(problem.AccessOriginNotAllowed, "a page of the origin %s may not call this"+rule, quote(strings.Join(values, ", ")), r.key)
	}
	for text := range listed(q.Header, fetchSite) {
		switch {
		case !strings.EqualFold(text, "cross-site"):
		case len(values) > 0: // of a page of localhost that calls 127.0.0.1, for example
			return problem.Detailf(problem.AccessOriginNotAllowed, "a page of %s may call this only by its own host, not by %s (Sec-Fetch-Site: cross-site)", quote(values[0]), quote(q.Host))
		default:
			return problem.Detailf(problem.AccessOriginNotAllowed, "a page of another site (Sec-Fetch-Site: cross-site) may not call this"+rule, r.key)
		}
	}
	return nil
}

// allowsOrigin reports whether pages of an origin may call the service, which Host names.
func (r *Rules) allowsOrigin(text, called string) bool {
	from, scheme, fromPort, ok := parseOrigin(text)
	if !ok {
		return false
	}
	if from.isLoopback() || slices.Contains(r.hosts, from) {
		return true
	}
	return isOrigin(from, scheme, fromPort, called)
}

// isOrigin reports whether an origin has the host and the port of called, a Host field.
func isOrigin(from host, scheme string, fromPort int, called string) bool {
	to, port, ok := parseAuthority(called)
	return ok && to == from && cmp.Or(port, defaultPort[scheme]) == fromPort
}

// IsNavigation reports whether a request may be a browser's that opens a page because its user has followed a link or has
// entered an address. It changes nothing and its response is for the user alone, so any site may link to a page. A frame
// is none.
func IsNavigation(q *http.Request) bool {
	mode, dest := q.Header.Get("Sec-Fetch-Mode"), q.Header.Get("Sec-Fetch-Dest")
	return (q.Method == http.MethodGet || q.Method == http.MethodHead) && len(q.Header.Values(origin)) == 0 && q.Header.Get("Upgrade") == "" &&
		(mode == "" || mode == "navigate") && (dest == "" || dest == "document")
}

// isPrivate reports whether a host is an address, or a name that public DNS does not have: localhost, a name below a
// top-level domain for private networks (RFC 6761, RFC 6762, RFC 8375, and internal, which ICANN reserves), or a single label, as
// containers have, that is not a top-level domain.
func (h host) isPrivate() bool {
	if h.addr.IsValid() || h.name == "localhost" {
		return true
	}
	if !strings.Contains(h.name, ".") {
		_, isTopLevel := publicsuffix.PublicSuffix("x." + h.name)
		return !isTopLevel
	}
	return slices.ContainsFunc([]string{".localhost", ".test", ".internal", ".local", ".home.arpa"}, func(suffix string) bool {
		return strings.HasSuffix(h.name, suffix)
	})
}

// isLoopback reports whether a host is localhost or a loopback address.
func (h host) isLoopback() bool { return h.name == "localhost" || h.addr.IsLoopback() }

// Package netguard is an HTTP client for URLs chosen by untrusted parties, such as webhook endpoints
// (docs/spec/webhooks.md#outgoing-http). It connects only to public addresses over verified TLS, however a URL spells
// its host and whatever DNS answers later (protection from server-side request forgery).
//
// A Guard has the rules. CheckURL applies them to a URL when a user gives it, and Client applies them again to every
// request and every connection: the dialer looks the host up itself and checks the address that it connects to, so a
// DNS answer that changes after the check has no effect. Time, header fields and body of a response are bounded. The
// client does not use proxies, follow redirects or keep cookies, and speaks plain HTTP only with Options.Plain.
package netguard

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// The defaults of Options (docs/spec/webhooks.md#outgoing-http).
const (
	TimeoutDefault     = 15 * time.Second
	ResponseMaxDefault = 64 << 10 // octets
)

// Resolver looks up the addresses of a host. *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of host; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are the rules and timeouts of a Guard. The zero value is that of the specification: public addresses, ports 443 and 8443.
type Options struct {
	Resolver    Resolver       // nil: the system's
	Clock       clock.Clock    // for the age of kept connections; nil: the system's
	Allow       []netip.Prefix // networks that may be reached although they are not public
	Ports       []uint16       // empty: 443 and 8443
	Plain       bool           // the networks of Allow may also be reached by the scheme http and on any port
	Timeout     time.Duration  // of a whole exchange, from the look-up to the end of the response; 0: TimeoutDefault
	ResponseMax int64          // octets of a response body that are read; 0: ResponseMaxDefault
	RootCAs     *x509.CertPool // nil: the system's
}

// withDefaults returns the options with defaults for zero fields, and copies of the slices.
func (o Options) withDefaults() Options {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if len(o.Ports) == 0 {
		o.Ports = []uint16{443, 8443}
	}
	o.Allow, o.Ports = masked(o.Allow), slices.Clone(o.Ports)
	o.Timeout = cmp.Or(o.Timeout, TimeoutDefault)
	o.ResponseMax = cmp.Or(o.ResponseMax, ResponseMaxDefault)
	return o
}

// Guard checks URLs and makes the connections to them. It is safe for concurrent use.
type Guard struct {
	options   Options
	networks  networks
	dialer    net.Dialer
	transport *transport
}

// New returns a Guard. It opens no connection and starts no goroutine.
func New(o Options) *Guard {
	o = o.withDefaults()
	g := &Guard{options: o, networks: newNetworks(o)}
	g.dialer = net.Dialer{Timeout: connectTimeout, Control: g.control}
	g.transport = &transport{guard: g}
	return g
}

// Client returns an HTTP client that applies the rules of CheckURL to every request and every connection. All clients
// of a Guard share its connections. It returns redirects like other responses. Its errors wrap a *ForbiddenError if a
// rule forbids the request; a retry may still succeed, since DNS may change.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Transport:     g.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       g.options.Timeout,
	}
}

// Close closes idle connections. Requests in progress end by themselves, within Timeout.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

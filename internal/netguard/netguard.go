// Package netguard is outgoing HTTP for addresses that strangers choose, such as those of webhook endpoints: it reaches
// public servers over verified TLS and nothing else, however a URL spells its host and whatever DNS says later. It
// refuses proxies, redirects, cookies and plain HTTP, and knows nothing of what is sent.
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

// The defaults of Options (decisions §2, Webhook endpoint).
const (
	TimeoutDefault   = 15 * time.Second
	AnswerMaxDefault = 64 << 10
)

// Resolver looks up the addresses of a host. *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of host in the families that network ("ip") names.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options say what may be reached and how patiently. The zero value is the rule of the specification: public addresses,
// ports 443 and 8443.
type Options struct {
	Resolver  Resolver       // nil: the system's
	Clock     clock.Clock    // for the age of kept connections; nil: the system's
	Allow     []netip.Prefix // networks that may be reached although they are not public: the operator's exception
	Ports     []uint16       // empty: 443 and 8443
	Timeout   time.Duration  // for an exchange whole, from the look-up to the last octet of the answer; 0: TimeoutDefault
	AnswerMax int64          // octets of an answer's body that are read; 0: AnswerMaxDefault
	RootCAs   *x509.CertPool // whom certificates are verified against; nil: the system's
}

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
	o.AnswerMax = cmp.Or(o.AnswerMax, AnswerMaxDefault)
	return o
}

// Guard checks URLs and makes the connections to them. It is safe for concurrent use.
type Guard struct {
	options   Options
	networks  networks
	dialer    net.Dialer
	transport *transport
}

// New makes a Guard. It opens nothing and starts nothing.
func New(o Options) *Guard {
	o = o.withDefaults()
	g := &Guard{options: o, networks: newNetworks(o)}
	g.dialer = net.Dialer{Timeout: connectTimeout, Control: g.control}
	g.transport = &transport{guard: g}
	return g
}

// Client returns a client that sends where CheckURL would let it, and checks again with every request and every
// connection. Redirects are answers like any other. Its errors wrap a *ForbiddenError where a rule stands against the
// request; trying again later may help all the same, since DNS may then say otherwise.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Transport:     g.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       g.options.Timeout,
	}
}

// Close closes the connections that are kept and not in use. What is under way ends by itself, within Timeout.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

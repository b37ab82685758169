package netguard

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// connectTimeout is for one address of a host, so that an address that does not respond leaves time for the next one.
const connectTimeout = 4 * time.Second

// dial connects to host:port after checking everything anew, since DNS may answer differently than when the URL was
// checked. It tries the addresses in order.
func (g *Guard) dial(ctx context.Context, _, hostport string) (net.Conn, error) {
	text, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, fmt.Errorf("split host and port: %w", err)
	}
	h, err := readHost(text, strings.Contains(text, ":"))
	if err != nil {
		return nil, err
	}
	h.plain = g.port(port) != nil // RoundTrip has checked the scheme
	all, err := g.addresses(ctx, h)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		var conn net.Conn
		if conn, err = g.dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

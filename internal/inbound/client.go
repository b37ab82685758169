package inbound

import (
	"context"
	"net/netip"
)

type clientKey struct{}

// WithClient returns a context for Accept that carries the address of the SMTP client. A Sink can be limited to some clients by it.
func WithClient(ctx context.Context, client netip.Addr) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// clientOf returns the address that WithClient stored, or the zero Addr.
func clientOf(ctx context.Context) netip.Addr {
	client, _ := ctx.Value(clientKey{}).(netip.Addr)
	return client
}

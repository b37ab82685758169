package inbound

import (
	"context"
	"net/netip"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
)

// Inject stores a mail that a client puts into the mailbox at address without SMTP, as Deliver does, and returns its identifier
// (docs/spec/messages.md#injecting-a-message). The lease is that of an Envelope. No server has sent the mail, so the sender is not checked.
// Errors: those of Accept and Deliver.
func (s *Service) Inject(ctx context.Context, address string, client netip.Addr, data []byte, lease *budget.Lease) (id.Message, error) {
	to, err := s.Accept(ctx, address)
	if err != nil {
		return "", s.problemOf(ctx, err)
	}
	m, err := s.deliver(ctx, &Envelope{
		To: []Recipient{to}, Helo: addressLiteral(client), RemoteIP: client, Protocol: "HTTP", ReceivedAt: s.Clock.Now(),
		Memory: lease, injected: true,
	}, data)
	if err != nil {
		return "", err
	}
	return m.deliveries[0].Message, nil
}

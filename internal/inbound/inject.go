package inbound

import (
	"context"
	"net/netip"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
)

// Inject stores a mail that an API client puts into the mailbox at address without SMTP, and returns the identifier of the message
// (docs/spec/messages.md#injecting-a-message). client is the client's address, and lease has the meaning of Envelope.Memory. SPF, DKIM and
// DMARC are not checked, since no server has sent the mail. Like Deliver, it returns when the mail is on stable storage.
//
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

package inbound

import (
	"context"
	"net/netip"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
)

// Check returns the error with which Inject would refuse a mail for an address, whatever the mail. It reserves nothing: Inject
// checks again. Errors: those of Accept.
func (s *Service) Check(ctx context.Context, address string) error {
	_, err := s.acceptInjected(ctx, address)
	return err
}

// acceptInjected is Accept for mail that an API client puts into a mailbox.
func (s *Service) acceptInjected(ctx context.Context, address string) (Recipient, error) {
	ctx, err := s.injectable(ctx, address)
	if err != nil {
		return Recipient{}, s.problemOf(ctx, err)
	}
	to, err := s.Accept(ctx, address)
	if err != nil {
		err = s.problemOf(ctx, err)
	}
	return to, err
}

// Inject stores a mail that an API client puts into the mailbox at address without SMTP, and returns the identifier of the message
// (docs/spec/messages.md#injecting-a-message). client is the client's address, and lease has the meaning of Envelope.Memory. SPF, DKIM and
// DMARC are not checked, since no server has sent the mail. Like Deliver, it returns when the mail is on stable storage.
//
// Errors: those of Accept and Deliver.
func (s *Service) Inject(ctx context.Context, address string, client netip.Addr, data []byte, lease *budget.Lease) (id.Message, error) {
	to, err := s.acceptInjected(ctx, address)
	if err != nil {
		return "", err
	}
	receipt, err := s.Deliver(ctx, &Envelope{
		To: []Recipient{to}, Helo: addressLiteral(client), RemoteIP: client, Protocol: "HTTP", ReceivedAt: s.Clock.Now(),
		Memory: lease, Source: message.SourceInjected,
	}, data)
	if err != nil {
		return "", err
	}
	return receipt.Stored[0].Message, nil
}

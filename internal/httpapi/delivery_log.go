package httpapi

import (
	"context"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// deliveryLogText describes the two operations that read the delivery log.
const deliveryLogText = "Newest first, at most 200 entries of the last 24 hours: one for each mail that was stored or refused over SMTP, with the reply that its sender got. " +
	"Answers \"where is my mail?\": without an entry, no server has tried to deliver it here."

// MailDelivery is an attempt to deliver a mail to an address, and its reply (docs/spec/messages.md#delivery-log).
type MailDelivery struct {
	At        clock.Stamp `json:"at" doc:"When the sender got the reply."`
	From      string      `json:"from" doc:"The sender's address in the envelope; empty for a bounce." example:"bounce@shop.example"`
	RemoteIP  string      `json:"remoteIp" doc:"The address of the sending server." example:"198.51.100.7"`
	Helo      string      `json:"helo" doc:"The name by which the sending server introduced itself." example:"mail.shop.example"`
	TLS       bool        `json:"tls" doc:"Whether the connection was encrypted."`
	Reply     int         `json:"reply" doc:"The SMTP reply code: 250 if the mail was stored, 4yz if the sender should try again, 5yz if it was refused for good." example:"250"`
	Code      string      `json:"code" doc:"The enhanced status code of the reply." example:"2.0.0"`
	Reason    string      `json:"reason" doc:"The text of the reply." example:"Message taken"`
	MessageID *id.Message `json:"messageId" nullable:"true" doc:"The message, or null if none was stored. It may have been deleted since." example:"msg_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	To        *string     `json:"to" nullable:"true" doc:"To whom the message was to be released through the relay, whose reply this is; null for a mail that came for the address." example:"you@example.org"`
}

func shownMailDelivery(e *deliverylog.Entry) MailDelivery {
	shown := MailDelivery{
		At: clock.Stamp{Time: e.At}, From: e.From, RemoteIP: e.RemoteIP.String(), Helo: e.Helo, TLS: e.TLS, Reply: e.Reply, Code: e.Code, Reason: e.Reason,
	}
	if e.Message != "" {
		shown.MessageID = &e.Message
	}
	if e.Recipient != "" {
		shown.To = &e.Recipient
	}
	return shown
}

func (a *API) listMailDeliveries(ctx context.Context, _ *struct{}) (*httpkit.Many[MailDelivery], error) {
	return a.deliveriesOf(ctx, from(ctx).mailbox)
}

func (a *API) listKeyMailDeliveries(ctx context.Context, in *MailboxPath) (*httpkit.Many[MailDelivery], error) {
	m, err := a.owned(ctx, *in)
	if err != nil {
		return nil, err
	}
	return a.deliveriesOf(ctx, m)
}

// deliveriesOf lists the attempts to deliver mail to a mailbox's address.
func (a *API) deliveriesOf(ctx context.Context, m *mailbox.Mailbox) (*httpkit.Many[MailDelivery], error) {
	all, err := a.Deliveries.List(ctx, m.Address, m.CreatedAt)
	if err != nil {
		return nil, err
	}
	shown := make([]MailDelivery, len(all))
	for i := range all {
		shown[i] = shownMailDelivery(&all[i])
	}
	return httpkit.Page(shown, ""), nil
}

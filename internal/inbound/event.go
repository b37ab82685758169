package inbound

import (
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

// appendEvents appends message.received, and otp.extracted where a code was found, for each recipient whose mailbox belongs to an
// account. The mail's deliveries must have been assigned.
func (m *mail) appendEvents(events []event.Event, reservations []mailbox.Reservation) []event.Event {
	for i, r := range reservations {
		if r.Account == "" {
			continue
		}
		e := event.Event{Account: r.Account, Domain: r.Domain, At: r.At}
		received := messageReceived(m.draft.Summary(m.deliveries[i]), r.Address)
		e.Data = received
		events = append(events, e)
		if received.OTP != nil {
			e.Data = event.OTPExtracted{OTP: *received.OTP, MailboxID: r.Box, Address: r.Address}
			events = append(events, e)
		}
	}
	return events
}

// messageReceived returns the data of the event for a message of the mailbox with that address.
func messageReceived(m message.Summary, address string) event.MessageReceived {
	data := event.MessageReceived{
		ID: m.ID, MailboxID: m.MailboxID, Address: address, From: event.Address(m.From), To: make([]event.Address, len(m.To)), Subject: m.Subject,
		Preview: m.Preview, ReceivedAt: m.ReceivedAt, SentAt: m.SentAt, Size: m.Size, Seen: m.Seen, HasAttachments: m.HasAttachments,
		Source: m.Source,
	}
	for i, to := range m.To {
		data.To[i] = event.Address(to)
	}
	if o := m.OTP; o != nil {
		data.OTP = &event.OTP{
			Code: o.Code, Display: o.Display, MessageID: o.MessageID, From: data.From, Subject: o.Subject, ReceivedAt: o.ReceivedAt,
			Confidence: o.Confidence, Source: o.Source, FilterID: o.FilterID, Kind: o.Kind, Links: o.Links,
		}
	}
	return data
}

package inbound

import (
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
)

// tell adds the events of a mail that was put into its slots, as far as they are of accounts: of the message, and of the
// code in it.
func (m *mail) tell(events []event.Event, slots []mailbox.Slot) []event.Event {
	for i, slot := range slots {
		if slot.Account == "" {
			continue
		}
		e := event.Event{Account: slot.Account, Domain: slot.Domain, At: slot.At}
		received := toldMessage(m.draft.Summary(m.places[i]), slot.Address)
		e.Data = received
		events = append(events, e)
		if received.OTP != nil {
			e.Data = event.OTPExtracted{OTP: *received.OTP, MailboxID: slot.Box, Address: slot.Address}
			events = append(events, e)
		}
	}
	return events
}

// toldMessage is a message as an event shows it.
func toldMessage(m message.Summary, address string) event.MessageReceived {
	told := event.MessageReceived{
		ID: m.ID, MailboxID: m.MailboxID, Address: address, From: event.Address(m.From), To: make([]event.Address, len(m.To)), Subject: m.Subject,
		Preview: m.Preview, ReceivedAt: m.ReceivedAt, SentAt: m.SentAt, Size: m.Size, Seen: m.Seen, HasAttachments: m.HasAttachments,
	}
	for i, to := range m.To {
		told.To[i] = event.Address(to)
	}
	if o := m.OTP; o != nil {
		told.OTP = &event.OTP{
			Code: o.Code, Display: o.Display, MessageID: o.MessageID, From: told.From, Subject: o.Subject, ReceivedAt: o.ReceivedAt,
			Confidence: o.Confidence, Source: o.Source, FilterID: o.FilterID, Kind: o.Kind, Links: o.Links,
		}
	}
	return told
}

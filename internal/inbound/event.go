package inbound

import (
	"github.com/gonebox/gonebox/internal/event"
	"github.com/gonebox/gonebox/internal/mailbox"
)

// appendEvents appends message.received, and otp.extracted where a code was found, for each recipient whose mailbox belongs to an
// account. The mail's deliveries must have been assigned.
func (m *mail) appendEvents(events []event.Event, reservations []mailbox.Reservation) []event.Event {
	for i, r := range reservations {
		if r.Account == "" {
			continue
		}
		e := event.Event{Account: r.Account, Domain: r.Domain, At: r.At}
		received := event.MessageReceived{Summary: m.draft.Summary(m.deliveries[i]), Address: r.Address}
		e.Data = received
		events = append(events, e)
		if received.OTP != nil {
			e.Data = event.OTPExtracted{OTP: *received.OTP, MailboxID: r.Box, Address: r.Address}
			events = append(events, e)
		}
	}
	return events
}

package message

import (
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Summary returns the summary of the message that a delivery stores.
func (d *Draft) Summary(p Delivery) Summary {
	m := Summary{ID: p.Message, MailboxID: p.Box, ReceivedAt: clock.Stamp{Time: p.ReceivedAt}, Size: d.size}
	kept := d.in(p)
	kept = kept.cut()
	kept.show(&m)
	return m
}

// in returns the stored summary for a delivery.
func (d *Draft) in(p Delivery) stored {
	kept := d.summary
	kept.EnvelopeTo = p.To
	if p.OTP != nil {
		kept.OTP = storedCode(p.OTP)
	}
	return kept
}

// show sets the fields of a summary that are stored as JSON.
func (s *stored) show(m *Summary) {
	m.From, m.To, m.Subject, m.Preview, m.HasAttachments = s.From, list(s.To), s.Subject, s.Preview, s.HasAttachments
	if len(m.To) == 0 { // a header without To: what the envelope said of this mailbox
		for _, a := range s.EnvelopeTo {
			m.To = append(m.To, Address{Address: a})
		}
	}
	m.Source, m.HeaderID = SourceSMTP, s.MessageID
	if s.Injected {
		m.Source = SourceInjected
	}
	if s.SentAt != 0 {
		m.SentAt = clock.Optional(time.UnixMicro(s.SentAt))
	}
	if o := s.OTP; o != nil {
		m.OTP = &OTP{
			Code: o.Code, Display: o.Display, MessageID: m.ID, From: m.From, Subject: m.Subject, ReceivedAt: m.ReceivedAt,
			Confidence: o.Confidence, Source: o.Source, FilterID: o.FilterID, Kind: o.Kind, Links: list(o.Links),
		}
	}
}

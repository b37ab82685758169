package inbound

import (
	"context"
	"net/netip"
	"slices"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/sink"
)

// EveryDomain in Sink.Domains stands for every domain that is not served otherwise.
const EveryDomain = "*"

// Sink accepts mail to every address of domains that are not served, for one account (docs/spec/dev.md#the-sink).
type Sink struct {
	Domains []string // lower-case A-labels, or EveryDomain
	// Account returns the account that gets the mail. Error: server.unavailable while there is no such account.
	Account func(ctx context.Context) (id.Account, error)
	// Mails lists the mail for test tools.
	Mails *sink.Service
	// From reports whether a client's mail is accepted; nil: that of every client is.
	From func(client netip.Addr) bool
}

// serves reports whether the sink accepts mail for a domain from the client of ctx.
func (s *Sink) serves(ctx context.Context, domain string) bool {
	if !slices.Contains(s.Domains, EveryDomain) && !slices.Contains(s.Domains, domain) {
		return false
	}
	return s.From == nil || s.From(clientOf(ctx))
}

// addSinkAccount records the account for which the sink accepted a recipient, if it did.
func (m *mail) addSinkAccount(r Recipient) {
	if r.sink == "" {
		return
	}
	if m.sinkAccounts == nil {
		m.sinkAccounts = make(map[string]id.Account)
	}
	m.sinkAccounts[r.key()] = r.sink
}

// draftForSink encodes the sink's list entry of a mail, if the sink accepted one of the recipients.
func (m *mail) draftForSink(c *message.Content, to []Recipient) (err error) {
	if m.sinkAccounts == nil {
		return nil
	}
	var paths []string
	for _, r := range to {
		if r.sink != "" {
			paths = append(paths, r.Address)
		}
	}
	m.sinkDraft, err = sink.NewDraft(c, paths)
	return err
}

// arrival returns what the sink stores of a mail, given the reservations of its mailboxes; ok is false where the sink accepted no
// recipient. It assigns the identifier that the mail has in the sink.
func (m *mail) arrival(reservations []mailbox.Reservation) (a sink.Arrival, ok bool) {
	if m.sinkDraft == nil {
		return a, false
	}
	a = sink.Arrival{Draft: m.sinkDraft, At: reservations[0].At}
	for _, r := range reservations {
		if m.sinkAccounts[r.Address] != "" {
			a.Copies = append(a.Copies, message.Ref{Box: r.Box, Message: r.Message})
		}
	}
	m.sinkMail = id.New[id.SinkMail](a.At)
	a.ID = m.sinkMail
	return a, len(a.Copies) > 0
}

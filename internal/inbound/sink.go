package inbound

import (
	"context"
	"net/netip"
	"slices"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// EveryDomain in Sink.Domains stands for every domain that is not served otherwise.
const EveryDomain = "*"

// Sink accepts mail to every address of domains that are not served, for one account (docs/spec/dev.md#the-sink).
type Sink struct {
	Domains []string // lower-case A-labels, or EveryDomain
	// Account returns the account that gets the mail. Error: server.unavailable while there is no such account.
	Account func(ctx context.Context) (id.Account, error)
	// From reports whether a client's mail is accepted; nil: that of every client is.
	From func(client netip.Addr) bool
}

// SinkAccount returns the account of the sink if it takes the mail of a domain (lower-case A-labels), "" if it does not.
func (s *Service) SinkAccount(ctx context.Context, domain string) (id.Account, error) {
	if s.Sink == nil || !s.Sink.has(domain) {
		return "", nil
	}
	if _, _, err := s.Domains.Served(ctx, domain); !problem.Has(err, problem.MailDomainNotServed) {
		if problem.Has(err, problem.MailDomainSuspended) {
			err = nil // it is another account's
		}
		return "", err
	}
	return s.Sink.Account(ctx)
}

// has reports whether a domain that is not served is one of the sink's. That of the addresses of projects never is.
func (s *Sink) has(domain string) bool {
	if domain == mailbox.ProjectDomain {
		return false
	}
	return slices.Contains(s.Domains, EveryDomain) || slices.Contains(s.Domains, domain)
}

// serves reports whether the sink accepts mail for a domain from the client of ctx.
func (s *Sink) serves(ctx context.Context, domain string) bool {
	return s.has(domain) && (s.From == nil || s.From(clientOf(ctx)))
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

// draftForSink encodes the sink's list entry of a mail, if the sink or a project accepted one of the recipients.
func (s *Service) draftForSink(ctx context.Context, m *mail, c *message.Content, env *Envelope) (err error) {
	if m.sinkAccounts == nil && m.project == nil {
		return nil
	}
	var paths []string
	for _, r := range env.To {
		if r.sink != "" || r.project != nil {
			paths = append(paths, r.Address)
		}
	}
	m.sinkDraft, err = sink.NewDraft(c, paths, env.Username)
	if err == nil && m.project == nil { // the spelling of other projects is not this one's
		m.sinkDraft.Tags = s.SinkMails.Spell(ctx, m.sinkDraft.Tags)
	}
	return err
}

// arrival returns what the sink stores of a mail, given the reservations of its mailboxes; ok is false where the sink accepted no
// recipient. It assigns the identifier that the mail has in the sink.
func (m *mail) arrival(reservations []mailbox.Reservation) (a sink.Arrival, ok bool) {
	if m.sinkDraft == nil {
		return a, false
	}
	a = sink.Arrival{Draft: m.sinkDraft, At: reservations[0].At}
	if m.project != nil {
		a.Project = m.project.ID
	}
	for _, r := range reservations {
		if m.sinkAccounts[r.Address] != "" || m.project != nil {
			a.Copies = append(a.Copies, message.Ref{Box: r.Box, Message: r.Message})
		}
	}
	m.sinkMail = id.New[id.SinkMail](a.At)
	a.ID = m.sinkMail
	return a, len(a.Copies) > 0
}

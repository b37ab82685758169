package inbound

import (
	"context"
	"net/netip"
	"slices"

	"github.com/gonebox/gonebox/internal/id"
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

// serves reports whether the sink accepts mail for a domain from the client of ctx.
func (s *Sink) serves(ctx context.Context, domain string) bool {
	if !slices.Contains(s.Domains, EveryDomain) && !slices.Contains(s.Domains, domain) {
		return false
	}
	return s.From == nil || s.From(clientOf(ctx))
}

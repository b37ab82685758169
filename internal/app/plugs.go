package app

import (
	"context"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/original"
	"github.com/gonebox/gonebox/internal/plan"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// entitlements tells mailboxes what their owners may have.
type entitlements struct{ catalogue plan.Catalogue }

// MailboxLimits are those of the guest plan: there are no accounts yet.
func (e entitlements) MailboxLimits(_ context.Context, _ id.Account) (mailbox.Limits, error) {
	return mailboxLimits(e.catalogue.Guest()), nil
}

func mailboxLimits(p plan.Plan) mailbox.Limits {
	e := p.Entitlements
	return mailbox.Limits{
		TTLDefault: e.TTLDefault, TTLMax: e.TTLMax, LifetimeMax: e.LifetimeMax, LiveMax: e.MailboxesMax,
		DailyMail: e.DailyMailMax, RawFor: e.RawRetention, Paid: p.Tier() == plan.TierPaid,
	}
}

// originals lets mail go into segment files.
type originals struct{ *original.Segments }

// Append begins to write records.
func (o originals) Append(at time.Time, records []original.Record) ([]original.Ref, inbound.Synced, error) {
	refs, synced, err := o.Segments.Append(at, records)
	return refs, synced, err
}

// allowMessage holds the messages of a sender's address against the limit (decisions §5).
func allowMessage(l *ratelimit.Limiter, limit ratelimit.Limit) func(netip.Addr) (time.Duration, bool) {
	return func(addr netip.Addr) (time.Duration, bool) {
		d := l.Take(ratelimit.SMTPMessages, ratelimit.AddrIdentity(addr), limit, 1)
		return d.RetryAfter, d.OK
	}
}

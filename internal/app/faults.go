package app

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/gonebox/gonebox/internal/fault"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// faults connects the SMTP server with the rules of package fault (docs/spec/faults.md).
type faults struct {
	*fault.Service
	app *App
}

// useFaults makes the SMTP server fail on purpose and record transcripts, where there is a sink or are projects.
func (a *App) useFaults(c *smtpd.Config) {
	sink := a.inbound.Sink
	if sink == nil && !a.hasProjects() {
		return
	}
	c.Faults, c.Transcribe = &faults{a.faults, a}, a.transcripts.Record
	c.Transcribes = func(client netip.Addr) bool { return sink != nil && (sink.From == nil || sink.From(client)) }
}

// OwnerOf implements smtpd.Faults. Under profile: dev the account of the sink decides on AUTH and MAIL of every local client. Elsewhere
// other mailboxes receive mail of the same clients, so neither is answered before the recipients are known.
func (f *faults) OwnerOf(ctx context.Context, client netip.Addr) (id.Account, error) {
	sink := f.app.inbound.Sink
	if sink == nil || sink.From == nil || !sink.From(client) {
		return "", nil
	}
	return sink.Account(ctx)
}

// Bounce implements smtpd.Faults. It puts a report into the mailbox of the sender, if that is an address that this service receives mail for.
func (f *faults) Bounce(ctx context.Context, b *smtpd.Bounce) error {
	env, now := b.Envelope, f.app.clock.Now()
	report := fault.Report{
		Hostname: f.app.cfg.SMTP.Hostname, ID: string(id.New[id.Event](now)), At: now, To: env.From, EnvelopeID: b.ID, ReceivedAt: env.ReceivedAt,
		Full: b.Full, Mail: b.Data,
	}
	for _, r := range b.Failed {
		report.Recipients = append(report.Recipients, fault.ReportedRecipient{Address: r.Address, Original: r.Original})
	}
	if _, err := f.app.inbound.Inject(ctx, env.From, env.RemoteIP, report.Append(nil), nil); err != nil {
		return fmt.Errorf("deliver a report to the sender: %w", err)
	}
	return nil
}

package app

import (
	"context"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/message"
)

// recordAttempt reports the outcome of a mail for one recipient to the delivery log, the metrics and the log. The
// SMTP server calls it on the goroutine of the session, so it must not wait; the delivery log writes later.
func (a *App) recordAttempt(t inbound.Attempt) {
	a.deliveries.Record(t.Recipient.Key(), t.Client, deliverylog.Entry{
		At: t.At, From: t.From, RemoteIP: t.RemoteIP, Helo: t.Helo, TLS: t.TLS, Reply: t.Reply, Code: t.Code, Reason: t.Reason,
		Message: t.Message, HasMailbox: t.Recipient.Mailbox != "", Mailbox: t.Recipient.Mailbox,
	})
	a.metrics.counts.observeReply(t.Reply, t.Code)
	attrs := []slog.Attr{
		slog.String("client", t.RemoteIP.String()), slog.String("reply", strconv.Itoa(t.Reply)+" "+t.Code), slog.Float64("took", milliseconds(t.Took)),
	}
	if t.Message == "" {
		a.logRecipient("recipient refused", t.Recipient, t.From, attrs...)
		return
	}
	a.logRecipient("message stored", t.Recipient, t.From, append(attrs, slog.String("message", string(t.Message)))...)
}

// recordStored reports a stored message to the metrics, and to the log if it was injected: recordAttempt logs those of
// SMTP, which has the reply. It is called after the commit.
func (a *App) recordStored(env *inbound.Envelope, stored inbound.Stored, source string, code bool) {
	a.stored.Add(1)
	a.metrics.counts.observeStored(source, code)
	if source == message.SourceInjected {
		a.logRecipient("message stored", stored.Recipient, env.From, slog.String("client", env.RemoteIP.String()),
			slog.String("message", string(stored.Message)), slog.String("source", source),
			slog.Float64("took", milliseconds(a.clock.Now().Sub(env.ReceivedAt))))
	}
}

// logRecipient logs a line about a mail for a recipient. It names the mailbox, or if there is none a keyed hash of the
// recipient, with which lines for the same address can be found: addresses are not logged.
func (a *App) logRecipient(text string, to inbound.Recipient, sender string, attrs ...slog.Attr) {
	if !a.log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	who := slog.String("mailbox", string(to.Mailbox))
	if to.Mailbox == "" {
		hash := a.deliveries.Hash(to.Key())
		who = slog.String("recipient", hex.EncodeToString(hash[:8]))
	}
	senderDomain := sender[strings.LastIndexByte(sender, '@')+1:]
	attrs = append([]slog.Attr{who, slog.String("domain", to.Domain), slog.String("senderDomain", senderDomain)}, attrs...)
	a.log.LogAttrs(context.Background(), slog.LevelInfo, text, attrs...)
}

// milliseconds returns a duration in milliseconds with three decimals, the unit of took in the log.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

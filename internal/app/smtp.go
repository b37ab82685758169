package app

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// assembleSMTP creates the SMTP server, with a certificate from files, from ACME, or without STARTTLS. It is created
// in every process, also without the role smtp, where nothing listens.
func (a *App) assembleSMTP(o Options) error {
	cfg := a.cfg
	c := smtpd.Config{
		Hostname: cfg.SMTP.Hostname, MaxSize: int64(cfg.SMTP.MaxSize), MaxRecipients: cfg.SMTP.MaxRecipients,
		MaxConnections: cfg.Limits.SMTPConnections, Clock: a.clock, Logger: a.log, Metrics: a.metrics.smtp(), Attempt: a.recordAttempt, Blocks: a.blocks,
		AllowMessage: allowMessage(a.limiter, cfg.Limits.SMTPMessages), RefusedRecipients: cfg.Limits.SMTPRefused, TrustedProxies: cfg.SMTP.TrustedProxies,
		Relays:      cfg.SMTP.XClient,
		MaxCommands: cfg.SMTP.MaxCommands, MaxErrors: cfg.SMTP.MaxErrors, Memory: a.memory,
		Timeouts: smtpd.Timeouts{
			Command: cfg.SMTP.CommandTimeout, Data: cfg.SMTP.DataTimeout, Write: cfg.SMTP.WriteTimeout, Session: cfg.SMTP.SessionTimeout,
			Memory: cfg.SMTP.MemoryTimeout,
		},
	}
	if len(cfg.SMTP.DNSBL) > 0 {
		c.Listed = a.newBlocklists(o).Start
	}
	if cfg.SMTP.Auth == "accept_any" {
		c.AcceptAuth = isLocal
	}
	if c.Unlimited = a.unlimited(); c.Unlimited != nil {
		c.AllowMessage = unlessUnlimited(c.Unlimited, c.AllowMessage)
	}
	if cfg.SMTP.TLS.ACME {
		a.acme = smtpd.NewACME(cfg.SMTP.Hostname, filepath.Join(cfg.DataDir, "acme"), cfg.SMTP.TLS.ACMEDirectory)
		c.TLS = a.acme.Config()
	}
	if cfg.SMTP.TLS.Cert != "" {
		tls, err := smtpd.CertificateFiles(cfg.SMTP.TLS.Cert, cfg.SMTP.TLS.Key, a.clock, a.log)
		if err != nil {
			return fmt.Errorf("smtp.tls: %w", err)
		}
		c.TLS = tls
	}
	a.smtp = smtpd.New(c, a.inbound)
	return nil
}

// allowMessage returns a function that counts a message from an address against limit
// (docs/spec/limits.md#rate-limits). If the limit is exceeded it returns false and how long to wait.
func allowMessage(l *ratelimit.Limiter, limit ratelimit.Limit) func(netip.Addr) (time.Duration, bool) {
	return func(addr netip.Addr) (time.Duration, bool) {
		d := l.Take(ratelimit.SMTPMessages, ratelimit.AddrIdentity(addr), limit, 1)
		return d.RetryAfter, d.OK
	}
}

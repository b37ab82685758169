package app

import (
	"net/netip"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/certificate"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// assembleSMTP creates the SMTP server, with STARTTLS if there is a certificate. It is created in every process, also without
// the role smtp, where nothing listens.
func (a *App) assembleSMTP(o Options) {
	cfg := a.cfg
	c := smtpd.Config{
		Hostname: cfg.SMTP.Hostname, MaxSize: int64(cfg.SMTP.MaxSize), MaxRecipients: cfg.SMTP.MaxRecipients,
		MaxConnections: cfg.Limits.SMTPConnections, Clock: a.clock, Logger: a.log, Metrics: a.metrics.smtp(), Attempt: a.recordAttempt, Blocks: a.blocks,
		AllowMessage: allowMessage(a.limiter, cfg.Limits.SMTPMessages), RefusedRecipients: cfg.Limits.SMTPRefused, TrustedProxies: cfg.SMTP.TrustedProxies,
		Relays: cfg.SMTP.XClient, DSN: len(cfg.SMTP.Sink.Domains) > 0,
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
		c.AcceptAuth = local.IsAddr
	}
	c.BareLF = a.unlimited()
	if a.hasProjects() {
		c.SignIn = projects{a}
	}
	if c.Unlimited = a.unlimited(); c.Unlimited != nil {
		c.AllowMessage = unlessUnlimited(c.Unlimited, c.AllowMessage)
	}
	if a.secure.mail != nil {
		c.TLS = certificate.Config(a.secure.mail)
	}
	if a.secure.selfSigned {
		c.HandshakeRejected = sync.OnceFunc(func() {
			a.log.Warn("an SMTP client does not trust the certificate that was made at the start; " +
				"make it accept any certificate, set smtp.tls.cert to one that it trusts, or set smtp.tls.self_signed to false, so that STARTTLS is not offered")
		})
	}
	a.useFaults(&c)
	a.smtp = smtpd.New(c, a.inbound)
	if a.lmtpListener != nil {
		c.LMTP, c.TLS, c.AcceptAuth, c.TrustedProxies = true, nil, nil, nil
		a.lmtp = smtpd.New(c, a.inbound)
	}
}

// allowMessage returns a function that counts a message from an address against limit
// (docs/spec/limits.md#rate-limits). If the limit is exceeded it returns false and how long to wait.
func allowMessage(l *ratelimit.Limiter, limit ratelimit.Limit) func(netip.Addr) (time.Duration, bool) {
	return func(addr netip.Addr) (time.Duration, bool) {
		d := l.Take(ratelimit.SMTPMessages, ratelimit.AddrIdentity(addr), limit, 1)
		return d.RetryAfter, d.OK
	}
}

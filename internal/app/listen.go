package app

import (
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/gonebox/gonebox/internal/config"
	"github.com/gonebox/gonebox/internal/connlimit"
)

// The roles of a process (configuration key roles). With any of them it serves health checks.
const (
	roleSMTP = "smtp" // receives mail
	roleAPI  = "api"  // serves the API and the web pages
	roleJobs = "jobs" // delivers webhooks and runs the shared periodic jobs
)

// runs reports whether this process has a role.
func (a *App) runs(role string) bool { return slices.Contains(a.cfg.Roles, role) }

// listen opens the listeners of all ports, which share one pool of connections: the limit of file descriptors is the
// process's. After an error some may be open; New closes them. The metrics listener, which clients do not reach, is
// not in the pool.
func (a *App) listen(ctx context.Context) (err error) {
	var plain net.ListenConfig
	pool := connlimit.NewPool(maxConnections(connlimit.Descriptors()))
	web := net.ListenConfig{Control: limitUnsent}
	web.SetMultipathTCP(false) // whose listeners do not pass the option on to their connections
	if a.webListener, err = web.Listen(ctx, "tcp", a.cfg.HTTP.Addr); err != nil {
		return fmt.Errorf("http.addr: %w", err)
	}
	a.webListener = pool.Listen(a.webListener, connlimit.Options{
		PerAddress: a.cfg.Limits.HTTPConnections, Exempt: a.cfg.HTTP.TrustedProxies, Reserve: true,
	})
	if a.cfg.HTTP.RedirectAddr != "" {
		if a.redirectListen, err = web.Listen(ctx, "tcp", a.cfg.HTTP.RedirectAddr); err != nil {
			return fmt.Errorf("http.redirect_addr: %w", err)
		}
		a.redirectListen = pool.Listen(a.redirectListen, connlimit.Options{PerAddress: a.cfg.Limits.HTTPConnections, Exempt: a.cfg.HTTP.TrustedProxies})
	}
	if a.runs(roleSMTP) {
		if a.smtpListener, err = plain.Listen(ctx, "tcp", a.cfg.SMTP.Addr); err != nil {
			return fmt.Errorf("smtp.addr: %w", err)
		}
		options := connlimit.Options{Exempt: slices.Concat(a.cfg.SMTP.TrustedProxies, a.cfg.SMTP.XClient)} // package smtpd limits connections by address
		a.smtpListener = pool.Listen(a.smtpListener, options)
		if a.smtpsListener, err = a.listenSMTPS(ctx, plain); err != nil {
			return err
		}
		if a.smtpsListener != nil {
			a.smtpsListener = pool.Listen(a.smtpsListener, options)
		}
	}
	if a.lmtpListener, err = a.listenLMTP(ctx); err != nil {
		return err
	}
	if a.cfg.Metrics.Addr != "" {
		if a.adminListen, err = plain.Listen(ctx, "tcp", a.cfg.Metrics.Addr); err != nil {
			return fmt.Errorf("metrics.addr: %w", err)
		}
	}
	if a.cfg.Compat.Mailpit.Addr != "" && a.runs(roleAPI) {
		if a.mailpitListen, err = web.Listen(ctx, "tcp", a.cfg.Compat.Mailpit.Addr); err != nil {
			return fmt.Errorf("compat.mailpit.addr: %w", err)
		}
		a.mailpitListen = pool.Listen(a.mailpitListen, connlimit.Options{PerAddress: a.cfg.Limits.HTTPConnections, Exempt: a.cfg.HTTP.TrustedProxies})
	}
	if a.cfg.Compat.MailTM.Addr != "" && a.runs(roleAPI) {
		if a.mailtmListen, err = web.Listen(ctx, "tcp", a.cfg.Compat.MailTM.Addr); err != nil {
			return fmt.Errorf("compat.mailtm.addr: %w", err)
		}
		a.mailtmListen = pool.Listen(a.mailtmListen, connlimit.Options{PerAddress: a.cfg.Limits.HTTPConnections, Exempt: a.cfg.HTTP.TrustedProxies})
	}
	return a.checkDevListeners()
}

// listenSMTPS opens the listener of smtp.tls.addr, nil if it is off. Where the port that profile: dev takes is in use, a warning replaces
// it: another service of the profile may run beside, and few applications need the port.
func (a *App) listenSMTPS(ctx context.Context, plain net.ListenConfig) (net.Listener, error) {
	addr := a.cfg.SMTP.TLS.Addr
	if addr == "" || !a.cfg.HasMailCertificate() {
		return nil, nil //nolint:nilnil // it is off
	}
	l, err := plain.Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case a.cfg.IsDev() && addr == config.DevSMTPSAddr:
		a.log.Warn("SMTP over TLS is off: its port is not free; set smtp.tls.addr to another, or to nothing", "smtp.tls.addr", addr, "error", err)
		return nil, nil //nolint:nilnil // it is off
	default:
		return nil, fmt.Errorf("smtp.tls.addr: %w", err)
	}
}

// maxConnections returns how many client connections a process with a limit of file descriptors may have open
// (docs/spec/limits.md#connections). A quarter of the descriptors, within bounds, is left for files, the database and
// webhook deliveries. Both as the argument and as the result, 0 means no limit.
func maxConnections(descriptors int) int {
	const (
		leastOwn, mostOwn = 80, 1024
		least             = 8
	)
	if descriptors == 0 {
		return 0
	}
	return max(descriptors-min(max(descriptors/4, leastOwn), mostOwn), least)
}

// Waiting returns the number of calls that wait for a change, such as long-polls and event streams, and that are not reading.
func (a *App) Waiting() int { return a.wake.Waiting() }

// Working returns the number of goroutines of periodic jobs and of the job queue that are not asleep. While it is not zero, one
// of them may compute the time of its next run from the current time.
func (a *App) Working() int {
	n := a.localSchedule.Working() + a.sharedSchedule.Working()
	if a.outbound != nil && (a.outbound.Working() || a.accounts.ForgottenWorking()) {
		n++
	}
	if a.webhooks.queue.Working() {
		n++
	}
	return n
}

// HTTPAddr returns the address of the public HTTP server, with the port in use if the configured one is 0.
func (a *App) HTTPAddr() net.Addr { return a.webListener.Addr() }

// RedirectAddr returns the address of the server that redirects to HTTPS, or nil.
func (a *App) RedirectAddr() net.Addr { return addressOf(a.redirectListen) }

// SMTPAddr returns the address of the SMTP server, or nil.
func (a *App) SMTPAddr() net.Addr { return addressOf(a.smtpListener) }

// SMTPSAddr returns the address of SMTP over TLS, or nil.
func (a *App) SMTPSAddr() net.Addr { return addressOf(a.smtpsListener) }

// MailpitAddr returns the address of the Mailpit API, or nil.
func (a *App) MailpitAddr() net.Addr { return addressOf(a.mailpitListen) }

// MailTMAddr returns the address of the mail.tm API, or nil.
func (a *App) MailTMAddr() net.Addr { return addressOf(a.mailtmListen) }

// MetricsAddr returns the address of metrics and profiles, or nil.
func (a *App) MetricsAddr() net.Addr { return addressOf(a.adminListen) }

// addressOf returns the address of a listener, nil for nil.
func addressOf(l net.Listener) net.Addr {
	if l == nil {
		return nil
	}
	return l.Addr()
}

package app

import (
	"context"
	"fmt"
	"net"
	"slices"

	"github.com/gonebox/gonebox/internal/connlimit"
)

// The parts that a process may run (key roles). Whatever it runs, it answers probes.
const (
	roleSMTP = "smtp" // takes mail
	roleAPI  = "api"  // answers calls and serves the pages
	roleJobs = "jobs" // delivers webhooks and does what has to be done now and then
)

// runs reports whether a part runs in this process.
func (a *App) runs(role string) bool { return slices.Contains(a.cfg.Roles, role) }

// listen takes the ports.
func (a *App) listen(ctx context.Context) (err error) {
	var plain net.ListenConfig
	pool := connlimit.NewPool(connectionsOf(connlimit.Descriptors()))
	web := net.ListenConfig{Control: boundUnsent}
	if a.webListener, err = web.Listen(ctx, "tcp", a.cfg.HTTP.Addr); err != nil {
		return fmt.Errorf("http.addr: %w", err)
	}
	a.webListener = pool.Listen(a.webListener, connlimit.Options{
		PerAddress: a.cfg.Limits.HTTPConnections, Exempt: a.cfg.HTTP.TrustedProxies, Reserve: true,
	})
	if a.runs(roleSMTP) {
		if a.smtpListener, err = plain.Listen(ctx, "tcp", a.cfg.SMTP.Addr); err != nil {
			return fmt.Errorf("smtp.addr: %w", err)
		}
		a.smtpListener = pool.Listen(a.smtpListener, connlimit.Options{Exempt: a.cfg.SMTP.TrustedProxies}) // it limits addresses itself
	}
	if a.cfg.Metrics.Addr != "" {
		if a.adminListen, err = plain.Listen(ctx, "tcp", a.cfg.Metrics.Addr); err != nil {
			return fmt.Errorf("metrics.addr: %w", err)
		}
	}
	return nil
}

// connectionsOf is how many connections clients may have open together in a process with so many descriptors: the rest is for files, the
// database and deliveries. 0 is any number.
func connectionsOf(descriptors int) int {
	const (
		leastOwn, mostOwn = 80, 1024
		least             = 8
	)
	if descriptors == 0 {
		return 0
	}
	return max(descriptors-min(max(descriptors/4, leastOwn), mostOwn), least)
}

// HTTPAddr is where calls are answered, or probes alone.
func (a *App) HTTPAddr() net.Addr { return a.webListener.Addr() }

// SMTPAddr is where mail comes in, or nil.
func (a *App) SMTPAddr() net.Addr { return addressOf(a.smtpListener) }

// MetricsAddr is where metrics and profiles are served, or nil.
func (a *App) MetricsAddr() net.Addr { return addressOf(a.adminListen) }

func addressOf(l net.Listener) net.Addr {
	if l == nil {
		return nil
	}
	return l.Addr()
}

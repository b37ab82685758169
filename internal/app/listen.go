package app

import (
	"context"
	"fmt"
	"net"
	"slices"
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
	var config net.ListenConfig
	if a.webListener, err = config.Listen(ctx, "tcp", a.cfg.HTTP.Addr); err != nil {
		return fmt.Errorf("http.addr: %w", err)
	}
	if a.runs(roleSMTP) {
		if a.smtpListener, err = config.Listen(ctx, "tcp", a.cfg.SMTP.Addr); err != nil {
			return fmt.Errorf("smtp.addr: %w", err)
		}
	}
	if a.cfg.Metrics.Addr != "" {
		if a.adminListen, err = config.Listen(ctx, "tcp", a.cfg.Metrics.Addr); err != nil {
			return fmt.Errorf("metrics.addr: %w", err)
		}
	}
	return nil
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

// answers looks whether something listens at an address of this process.
func answers(ctx context.Context, addr net.Addr) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		return err
	}
	return conn.Close()
}

package app

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gonebox/gonebox/internal/httpapi"
)

// readyMax bounds a readiness probe: what has not answered by then is not ready.
const readyMax = 3 * time.Second

// ready looks at what calls depend on (spec §4 system). What another process does is not this one's to answer for.
func (a *App) ready(ctx context.Context) []httpapi.Check {
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	smtp := httpapi.Check{Name: "smtp", Elsewhere: a.smtpListener == nil}
	if a.smtpListener != nil {
		smtp.Err = answers(ctx, a.smtpListener.Addr())
	}
	jobs := httpapi.Check{Name: "jobs", Err: a.own.Healthy(), Elsewhere: !a.runs(roleJobs)}
	if a.runs(roleJobs) {
		jobs.Err = errors.Join(jobs.Err, a.common.Healthy(), a.hooks.queue.Healthy())
	}
	return []httpapi.Check{
		{Name: "database", Err: a.db.Ready(ctx)},
		{Name: "migrations", Err: a.db.Migrated(ctx)},
		smtp, jobs,
	}
}

// answers looks whether something listens at an address of this process.
func answers(ctx context.Context, addr net.Addr) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		return err
	}
	return conn.Close()
}

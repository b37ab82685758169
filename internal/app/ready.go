package app

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpapi"
)

// readyMax bounds a readiness check. A part that has not responded by then counts as failing. It is below the 5 seconds
// within which /readyz responds (docs/spec/running.md#readiness).
const readyMax = 3 * time.Second

// ready checks what requests depend on (docs/spec/running.md#readiness). A role that this process does not have is not checked:
// it is reported as running elsewhere.
func (a *App) ready(ctx context.Context) []httpapi.Check {
	ctx, cancel := clock.WithTimeout(ctx, a.clock, readyMax)
	defer cancel()
	smtp := httpapi.Check{Name: "smtp", Elsewhere: a.smtpListener == nil}
	if a.smtpListener != nil {
		smtp.Err = dial(ctx, a.smtpListener.Addr())
	}
	jobs := httpapi.Check{Name: "jobs", Err: a.localSchedule.Healthy(), Elsewhere: !a.runs(roleJobs)}
	if a.runs(roleJobs) {
		jobs.Err = errors.Join(jobs.Err, a.sharedSchedule.Healthy(), a.webhooks.queue.Healthy())
		if a.outbound != nil {
			jobs.Err = errors.Join(jobs.Err, a.outbound.Healthy())
		}
	}
	return []httpapi.Check{
		{Name: "database", Err: a.db.Ready(ctx)},
		{Name: "migrations", Err: a.db.Migrated(ctx)},
		smtp, jobs,
	}
}

// dial reports an error if nothing accepts connections at addr.
func dial(ctx context.Context, addr net.Addr) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		return err
	}
	return conn.Close()
}

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
)

// Run serves until ctx ends, and then shuts down as the package comment describes. It returns an error if a server
// failed, or if work in progress could not be finished within shutdown_grace. It may be called once, and closes the
// App; it returns when its goroutines have ended, unless shutdown_grace was exceeded.
//
// There are three lifetimes: ctx, for what may stop at once; delivery, for storing mail and sharing counts, which end
// after the servers; and edges, the servers themselves.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var inside, edges sync.WaitGroup
	delivery, endDelivery := context.WithCancel(context.WithoutCancel(ctx))
	defer endDelivery()
	inside.Go(func() { a.cluster.run(delivery) })
	inside.Go(func() { a.localSchedule.Run(ctx) })
	if a.runs(roleSMTP) || a.runs(roleAPI) { // the API injects mail
		inside.Go(func() { a.inbound.Run(delivery) })
	}
	if a.runs(roleSMTP) {
		inside.Go(func() { a.deliveries.Run(delivery) })
	}
	if a.mailpit != nil {
		inside.Go(func() { a.sink.KeepUp(ctx) })
	}
	if a.runs(roleJobs) {
		inside.Go(func() { a.sharedSchedule.Run(ctx) })
		inside.Go(func() { a.webhooks.Run(ctx) })
	}
	a.serve(ctx, &edges, stop)
	<-ctx.Done()

	a.stopping.Store(true)
	a.delayShutdown()
	err := a.withinGrace(func(grace context.Context) error {
		a.drain(grace)
		edges.Wait()
		endDelivery() // not before the servers have stopped: until then a session may deliver a mail
		inside.Wait()
		a.eraseAtShutdown(db.Freeing(grace)) // a full disk must not make the shutdown fail
		return errors.Join(a.keys.Flush(db.Freeing(context.WithoutCancel(ctx))), a.Close())
	})
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// serve starts the servers, each on a goroutine of edges. One that fails ends the context of Run by calling stop.
func (a *App) serve(ctx context.Context, edges *sync.WaitGroup, stop context.CancelCauseFunc) {
	serve := func(name string, serve func() error) {
		edges.Go(func() {
			if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
				stop(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	serve("http", func() error { return a.web.Serve(a.webListener) })
	if a.smtpListener != nil {
		serve("smtp", func() error { return a.smtp.Serve(a.smtpListener) })
	}
	if a.admin != nil {
		serve("metrics", func() error { return a.admin.Serve(a.adminListen) })
	}
	if a.mailpit != nil {
		serve("mailpit", func() error { return a.mailpit.Serve(a.mailpitListen) })
	}
	if a.mailtm != nil {
		serve("mailtm", func() error { return a.mailtm.Serve(a.mailtmListen) })
	}
	if a.acme != nil {
		go a.fetchCertificate(ctx) // not in edges: a request to the authority may take longer than a shutdown
	}
}

// fetchCertificate obtains the certificate at start, so that the first client does not wait for it. ctx cancels it.
func (a *App) fetchCertificate(ctx context.Context) {
	if err := a.acme.Fetch(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("no certificate for STARTTLS, retrying when a client needs it", "error", err)
	}
}

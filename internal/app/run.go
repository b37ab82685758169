package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/gonebox/gonebox/internal/db"
)

// Run serves until ctx ends and for shutdown_delay more, then lets the work under way finish, for shutdown_grace at most, and
// closes everything.
// An error means that a part stopped by itself, or that not all of the work could be finished.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var inside, edges sync.WaitGroup
	delivery, endDelivery := context.WithCancel(context.WithoutCancel(ctx))
	defer endDelivery()
	inside.Go(func() { a.cluster.run(delivery) })
	inside.Go(func() { a.own.Run(ctx) })
	if a.runs(roleSMTP) {
		inside.Go(func() { a.inbound.Run(delivery) })
	}
	if a.runs(roleJobs) {
		inside.Go(func() { a.common.Run(ctx) })
		inside.Go(func() { a.hooks.Run(ctx) })
	}
	a.serve(ctx, &edges, stop)
	<-ctx.Done()

	a.stopping.Store(true)
	a.linger()
	err := a.finish(func(grace context.Context) error {
		a.drain(grace)
		edges.Wait()
		endDelivery() // only now: until the edges are quiet, a mail may still want to be delivered
		inside.Wait()
		a.eraseLast(db.Freeing(grace)) // a full disk does not make a stop a failure
		return errors.Join(a.keys.Flush(db.Freeing(context.WithoutCancel(ctx))), a.Close())
	})
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// serve has the edges answer. One that ends by itself stops everything.
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
	if a.acme != nil {
		go a.fetchCertificate(ctx) // it may hang on the authority longer than a stop may take
	}
}

// fetchCertificate has the certificate there before the first client asks; else the first client waits for it.
func (a *App) fetchCertificate(ctx context.Context) {
	if err := a.acme.Fetch(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("no certificate for STARTTLS yet; it is tried again when a client asks", "error", err)
	}
}

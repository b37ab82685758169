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
// The goroutines end at three different times. Periodic jobs and webhook deliveries end with ctx. The servers end
// after shutdown_delay, when their work in progress is done. Storing mail, the delivery log and the exchange with other
// processes end with delivery, after the servers, whose sessions may still bring mail.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var background, servers sync.WaitGroup
	delivery, endDelivery := context.WithCancel(context.WithoutCancel(ctx))
	defer endDelivery()
	background.Go(func() { a.cluster.run(delivery) })
	background.Go(func() { a.localSchedule.Run(ctx) })
	if a.runs(roleSMTP) || a.runs(roleAPI) { // the API injects mail
		background.Go(func() { a.inbound.Run(delivery) })
	}
	background.Go(func() { a.deliveries.Run(delivery) })
	if a.runs(roleSMTP) {
		background.Go(func() { a.transcripts.Run(delivery) })
	}
	if a.runs(roleAPI) {
		background.Go(func() { a.allMail.KeepUp(ctx) })
	}
	if a.mailpit != nil && a.listsSink() {
		background.Go(func() { a.sink.KeepUp(ctx) })
	}
	if a.runs(roleJobs) {
		background.Go(func() { a.sharedSchedule.Run(ctx) })
		background.Go(func() { a.webhooks.Run(ctx) })
		if a.outbound != nil {
			background.Go(func() { a.outbound.Run(ctx) })
			background.Go(func() { a.accounts.RunForgotten(ctx) })
		}
	}
	if a.runs(roleSMTP) {
		for _, reader := range a.catchalls {
			servers.Go(func() { reader.Run(ctx) })
		}
	}
	a.serve(ctx, &servers, stop)
	if a.runs(roleSMTP) || a.runs(roleAPI) {
		background.Go(func() { a.warmUp(stop) })
	}
	<-ctx.Done()

	a.stopping.Store(true)
	a.delayShutdown()
	err := a.withinGrace(func(grace context.Context) error {
		a.drain(grace)
		servers.Wait()
		endDelivery() // not before the servers have stopped: until then a session may deliver a mail
		background.Wait()
		a.eraseAtShutdown(db.Freeing(grace)) // a full disk must not make the shutdown fail
		err := a.keys.Flush(db.Freeing(context.WithoutCancel(ctx)))
		a.leave(grace)
		return errors.Join(err, a.Close())
	})
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// warmUp loads the lexicon of the code extractor, which takes more processor time than everything else at the start. So it
// begins when the servers run, and readiness does not depend on it: a mail that arrives meanwhile is accepted, and waits
// for it in otp.Extract. If the lexicon is damaged it ends the context of Run by calling stop.
func (a *App) warmUp(stop context.CancelCauseFunc) {
	if err := a.warm(); err != nil {
		stop(fmt.Errorf("load the lexicon of the code extractor: %w", err))
	}
}

// serve starts each server on a goroutine of the wait group servers. One that fails ends the context of Run by calling stop.
func (a *App) serve(ctx context.Context, servers *sync.WaitGroup, stop context.CancelCauseFunc) {
	serve := func(name string, serve func() error) {
		servers.Go(func() {
			if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
				stop(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	serve("http", func() error {
		if a.web.TLSConfig != nil {
			return a.web.ServeTLS(a.webListener, "", "")
		}
		return a.web.Serve(a.webListener)
	})
	if a.redirects != nil {
		serve("redirects to https", func() error { return a.redirects.Serve(a.redirectListen) })
	}
	if a.smtpListener != nil {
		serve("smtp", func() error { return a.smtp.Serve(a.smtpListener) })
	}
	if a.smtpsListener != nil {
		serve("smtp over tls", func() error { return a.smtp.ServeTLS(a.smtpsListener) })
	}
	if a.lmtp != nil {
		serve("lmtp", func() error { return a.lmtp.Serve(a.lmtpListener) })
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
	a.secure.obtain(ctx)
}

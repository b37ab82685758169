package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/httpapi"
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

// linger serves on for shutdown_delay, while the readiness probe and every answer tell clients to go elsewhere.
func (a *App) linger() {
	timer := a.clock.NewTimer(a.cfg.ShutdownDelay)
	defer timer.Stop()
	<-timer.C
}

// farewell has each connection closed by its answer once the process is about to end. One that is idle could otherwise be
// closed at the moment when the client sends its next request.
func (a *App) farewell(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// stopMargin is how much longer than shutdown_grace a stop may take: once the grace is over nothing waits for another
// machine any more.
const stopMargin = 2 * time.Second

// finish runs the end of everything. When shutdown_grace is over, calls that wait for PostgreSQL fail; what still has not ended
// stopMargin after that is left to the end of the process.
func (a *App) finish(end func(grace context.Context) error) error {
	grace, cancel := context.WithTimeout(context.Background(), a.cfg.ShutdownGrace)
	defer cancel()
	defer context.AfterFunc(grace, a.db.Abort)()
	ended := make(chan error, 1)
	go func() { ended <- end(grace) }()
	select {
	case err := <-ended:
		return err
	case <-grace.Done():
	}
	margin, cancel := context.WithTimeout(context.Background(), stopMargin)
	defer cancel()
	select {
	case err := <-ended:
		return err
	case <-margin.Done():
		return fmt.Errorf("shutdown_grace: work did not end within %s and was cut off", a.cfg.ShutdownGrace)
	}
}

// drain stops taking work and waits for what is under way until grace ends.
func (a *App) drain(grace context.Context) {
	a.wake.Close() // long-polls answer with what there is
	var edges sync.WaitGroup
	edges.Go(func() {
		if err := a.web.Shutdown(grace); err != nil {
			_ = a.web.Close()
		}
	})
	if a.smtpListener != nil {
		edges.Go(func() { _ = a.smtp.Shutdown(grace) })
	}
	if a.admin != nil {
		edges.Go(func() { _ = a.admin.Close() })
	}
	edges.Wait()
}

// eraseMax bounds the erasing at a stop.
const eraseMax = 3 * time.Second

// eraseLast erases what is over at a stop: else it would stay in the files of data_dir for as long as the service is down.
// Other processes that share a database go on with it.
func (a *App) eraseLast(ctx context.Context) {
	if a.shared() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, eraseMax)
	defer cancel()
	_, err := a.boxes.Sweep(ctx, a.mail)
	if err = errors.Join(err, a.rawStore.sweep(ctx), a.db.Purge(ctx)); err != nil {
		a.log.Warn("not everything that is over was erased before the stop; the next start does it", "error", err)
	}
}

// Close releases the ports and the storage. Run does it by itself.
func (a *App) Close() error {
	var errs []error
	for _, l := range []net.Listener{a.webListener, a.smtpListener, a.adminListen} {
		if l != nil {
			_ = l.Close() // closed already after Run
		}
	}
	if a.hooks != nil {
		a.hooks.guard.Close()
	}
	errs = append(errs, a.cluster.close())
	if a.db != nil {
		errs = append(errs, a.db.Close())
		a.db = nil
	}
	if a.rawStore != nil {
		errs = append(errs, a.rawStore.Close())
		a.rawStore = nil
	}
	return errors.Join(errs...)
}

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

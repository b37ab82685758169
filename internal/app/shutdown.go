package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
)

// delayShutdown waits for shutdown_delay while everything is still served. /readyz returns 503 meanwhile, and
// responses close their connections, so that load balancers and clients move to other processes. It is not cut short:
// a second signal ends the process without it.
func (a *App) delayShutdown() {
	timer := a.clock.NewTimer(a.cfg.ShutdownDelay)
	defer timer.Stop()
	<-timer.C
}

// closeWhenStopping closes each HTTP connection after its next response once the process is stopping. An idle connection would
// otherwise be closed just when the client sends its next request.
func (a *App) closeWhenStopping(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// stopMargin is how much longer than shutdown_grace a shutdown may take. After the grace period nothing waits for another
// machine, so what is left takes a moment.
const stopMargin = 2 * time.Second

// withinGrace calls end, on a goroutine, with a context that ends after shutdown_grace. Then calls that wait for
// PostgreSQL fail; if end has not returned stopMargin later, withinGrace returns an error and leaves the goroutine to
// the end of the process. The grace is measured by the system clock, also in tests.
func (a *App) withinGrace(end func(grace context.Context) error) error {
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

// drain makes the servers stop accepting connections and requests, all at once, and waits for those in progress until
// grace ends. Connections that are left then are closed.
func (a *App) drain(grace context.Context) {
	a.wake.Close() // long-polls return what there is
	var servers sync.WaitGroup
	servers.Go(func() {
		if err := a.web.Shutdown(grace); err != nil {
			_ = a.web.Close()
		}
	})
	if a.smtpListener != nil {
		servers.Go(func() { _ = a.smtp.Shutdown(grace) })
	}
	if a.lmtp != nil {
		servers.Go(func() { _ = a.lmtp.Shutdown(grace) })
	}
	if a.admin != nil {
		servers.Go(func() { _ = a.admin.Close() })
	}
	if a.redirects != nil {
		servers.Go(func() { _ = a.redirects.Close() }) // a redirect is no work in progress
	}
	if a.mailpit != nil {
		servers.Go(func() {
			a.mailpitAPI.Close()
			if err := a.mailpit.Shutdown(grace); err != nil {
				_ = a.mailpit.Close()
			}
		})
	}
	if a.mailtm != nil {
		servers.Go(func() {
			if err := a.mailtm.Shutdown(grace); err != nil {
				_ = a.mailtm.Close()
			}
		})
	}
	servers.Wait()
}

// eraseAtShutdownMax bounds erasing at shutdown, so that much expired mail does not use up shutdown_grace; an eighth of that, if it is
// longer, does as well. It is measured by the clock of the service.
const eraseAtShutdownMax = 3 * time.Second

// eraseAtShutdown erases expired data, which would otherwise stay in the files of data_dir while the service is down. With a
// shared database other processes do it.
func (a *App) eraseAtShutdown(ctx context.Context) {
	if a.sharesDatabase() {
		return
	}
	ctx, cancel := clock.WithTimeout(ctx, a.clock, max(eraseAtShutdownMax, a.cfg.ShutdownGrace/8))
	defer cancel()
	_, err := a.mailboxes.SweepNow(ctx, a.messages)
	if err = errors.Join(err, a.rawStore.sweep(ctx), a.db.Purge(ctx)); err != nil {
		a.log.Warn("expired data was not completely erased at shutdown; the next start erases it", "error", err)
	}
}

// leaveMax bounds reporting that this process ends.
const leaveMax = time.Second

// leave reports to the other processes that this one ends. It matters too little to wait for a database that is slow: a process that
// has not reported for some time is not listed either.
func (a *App) leave(ctx context.Context) {
	ctx, cancel := clock.WithTimeout(db.Abandonable(ctx), a.clock, leaveMax)
	defer cancel()
	if err := a.processes.Leave(ctx); err != nil {
		a.log.Info("the end of this process was not reported to others", "error", err)
	}
}

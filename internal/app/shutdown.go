package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

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

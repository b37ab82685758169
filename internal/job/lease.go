package job

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// lease is the row of a task in the database.
type lease struct {
	next  time.Time // the next run
	until time.Time // end of the lease; zero: no process runs the task
}

// runUnderLease claims a task and runs it, and renews the lease meanwhile. The claim succeeds only if the row is still as it
// was read (seen), so that only one of several processes succeeds. For the others ran is false.
//
// The lease is renewed on a goroutine of its own, which ends before runUnderLease returns. If the lease is lost, the context
// of the task is cancelled. The lease is released at the end even if ctx was cancelled by a shutdown, so that another
// process can run the task at once.
func (s *Schedule) runUnderLease(ctx context.Context, t *scheduled, seen lease) (ran bool, err error) {
	t.ownLease = s.clock.Now().Add(scheduleLease).UnixMicro() // set before the claim, which may be committed although it returns an error
	claimed, err := s.update(ctx, claimSchedule, t.Name, t.ownLease, seen.next.UnixMicro(), db.Micros(seen.until))
	if err != nil {
		return false, err
	}
	if !claimed {
		t.ownLease = 0
		return false, nil
	}
	ctx, lost := context.WithCancel(ctx)
	defer lost()
	var renewing sync.WaitGroup
	stop := make(chan struct{})
	renewing.Go(func() { s.renew(ctx, t, stop, lost) })
	err = t.Do(ctx)
	close(stop)
	renewing.Wait()
	_, ended := s.update(context.WithoutCancel(ctx), endSchedule, t.Name, t.ownLease, s.nextRun(t, err).UnixMicro())
	return true, errors.Join(err, ended)
}

// renew extends the lease until stop is closed. It calls lost when another process has the lease, or may claim it because the
// lease has ended while the database could not be reached. t.ownLease is written here and by runUnderLease, which waits for
// this goroutine to end.
func (s *Schedule) renew(ctx context.Context, t *scheduled, stop <-chan struct{}, lost func()) {
	for {
		timer := s.clock.NewTimer(renewEvery)
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return
		}
		until := s.clock.Now().Add(scheduleLease).UnixMicro()
		switch kept, err := s.update(context.WithoutCancel(ctx), renewSchedule, t.Name, t.ownLease, until); {
		case err != nil && s.clock.Now().UnixMicro() < t.ownLease: // the next attempt may succeed
		case err == nil && kept:
			t.ownLease = until
		default:
			lost()
		}
	}
}

// update runs a statement on a task's row and reports whether it changed the row.
func (s *Schedule) update(ctx context.Context, query string, args ...any) (changed bool, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, query, args...)
		changed = n > 0
		return err
	})
	return changed, err
}

package job

import (
	"context"
	"fmt"
	"time"
)

// The calls below change laneUpdateRows jobs in a transaction, which occupies the writer for a few milliseconds, and at most
// 10,000 jobs each: a lane may have more jobs than a caller, such as an API call, can wait for.
const (
	laneUpdateRows = 500
	laneUpdates    = 20
)

// HoldLane holds the ready and waiting jobs of a lane, each until keep after it was enqueued. Running jobs are not
// changed: their Settle decides. done is false if there are more; the caller may call again.
func (q *Queue) HoldLane(ctx context.Context, lane string, keep time.Duration) (done bool, err error) {
	return q.updateLane(ctx, "hold", lane, holdLane, q.Kind, lane, keep.Microseconds())
}

// ReleaseLane makes the held jobs of a lane ready, and wakes Run. done is false if there are more; the caller, or a
// periodic job that lists HeldLanes, must call again.
func (q *Queue) ReleaseLane(ctx context.Context, lane string) (done bool, err error) {
	defer q.enqueued()
	return q.updateLane(ctx, "release", lane, releaseLane, q.Kind, lane, q.clock.Now().UnixMicro())
}

// DeleteLane deletes the jobs of a lane, also running ones, whose outcomes then have no effect. done is false if there
// are more; the caller must call again, or let Work end the rest.
func (q *Queue) DeleteLane(ctx context.Context, lane string) (done bool, err error) {
	return q.updateLane(ctx, "erase", lane, deleteLane, q.Kind, lane)
}

// updateLane runs a statement that changes at most laneUpdateRows jobs, until it changes fewer or has run laneUpdates times. operation
// and lane are for the error only.
func (q *Queue) updateLane(ctx context.Context, operation, lane, query string, args ...any) (done bool, err error) {
	for range laneUpdates {
		n, err := q.updateOnce(ctx, laneUpdateRows, query, args...)
		if err != nil {
			return false, fmt.Errorf("%s lane %s: %w", operation, lane, err)
		}
		if n < laneUpdateRows {
			return true, nil
		}
	}
	return false, nil
}

// HeldLanes returns up to max lanes that sort after a lane and have held jobs, in order; after "" is the beginning.
// Its cost does not depend on how many jobs the lanes have.
func (q *Queue) HeldLanes(ctx context.Context, after string, max int) ([]string, error) {
	return listLanes(ctx, q.db, q.Kind, held, after, max)
}

// Erase deletes all held jobs and dead letters whose time has come, 500 in a transaction. A periodic job must call it.
func (q *Queue) Erase(ctx context.Context) error {
	if err := q.updateAll(ctx, laneUpdateRows, eraseJobs, q.Kind, q.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("erase jobs of %s: %w", q.Kind, err)
	}
	return nil
}

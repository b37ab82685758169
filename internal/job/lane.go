package job

import (
	"context"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// HoldLane, ReleaseLane and DeleteLane change at most laneUpdateRows jobs in a transaction, which then occupies the writer for a few
// milliseconds. They run at most laneUpdates transactions, since a lane may have more jobs than an API call can wait for.
const (
	laneUpdateRows = 500
	laneUpdates    = 20
)

// HoldLane holds the ready and waiting jobs of a lane, each for the time keep from when it was enqueued. It does not
// change running jobs, whose Settle function decides. done is false if there are more jobs; the caller may call again.
func (q *Queue) HoldLane(ctx context.Context, lane string, keep time.Duration) (done bool, err error) {
	return q.updateLane(ctx, "hold", lane, holdLane, q.Kind, lane, keep.Microseconds())
}

// ReleaseLane makes the held jobs of a lane ready, and wakes Run. done is false if there are more; the caller, or a
// periodic job that lists HeldLanes, must call it again.
func (q *Queue) ReleaseLane(ctx context.Context, lane string) (done bool, err error) {
	defer q.enqueued()
	return q.updateLane(ctx, "release", lane, releaseLane, q.Kind, lane, q.clock.Now().UnixMicro())
}

// DeleteLane deletes the jobs of a lane, including running ones, whose outcomes then have no effect. done is false if
// there are more; the caller must call it again, or Work must end the remaining jobs.
func (q *Queue) DeleteLane(ctx context.Context, lane string) (done bool, err error) {
	return q.updateLane(ctx, "erase", lane, deleteLane, q.Kind, lane)
}

// DeleteLaneTx deletes all jobs of a lane in a transaction, including running ones, whose outcomes then have no effect.
func (q *Queue) DeleteLaneTx(ctx context.Context, tx *db.Tx, lane string) error {
	if _, err := tx.Exec(ctx, deleteWholeLane, q.Kind, lane); err != nil {
		return fmt.Errorf("erase lane %s: %w", lane, err)
	}
	return nil
}

// updateLane runs a statement that changes at most laneUpdateRows jobs, until it changes fewer, which makes done true, or has run
// laneUpdates times. operation and lane are used only in the error.
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

// HeldLanes returns up to max lanes with held jobs, in order, beginning after the lane after, or with the first lane if
// that is "". Its cost does not depend on how many jobs the lanes have.
func (q *Queue) HeldLanes(ctx context.Context, after string, max int) ([]string, error) {
	return listLanes(ctx, q.db, q.Kind, held, after, max)
}

// Erase deletes all held jobs and dead letters whose time of deletion has passed, in transactions of laneUpdateRows rows.
// A periodic job must call it.
func (q *Queue) Erase(ctx context.Context) error {
	if err := q.updateAll(ctx, laneUpdateRows, eraseJobs, q.Kind, q.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("erase jobs of %s: %w", q.Kind, err)
	}
	return nil
}

package job

import (
	"context"
	"fmt"
	"time"
)

// A call below changes laneStep jobs in a transaction, which blocks the writer for a few milliseconds, and at most laneSteps times: a lane
// may have more jobs than a caller can wait for.
const (
	laneStep  = 500
	laneSteps = 20
)

// HoldLane holds the ready and waiting jobs of a lane, each until keep after it was enqueued. Running jobs decide for themselves. done is
// false if there are more.
func (q *Queue) HoldLane(ctx context.Context, lane string, keep time.Duration) (done bool, err error) {
	return q.steps(ctx, "hold", lane, holdLane, q.Kind, lane, keep.Microseconds())
}

// ReleaseLane makes the held jobs of a lane ready. done is false if there are more.
func (q *Queue) ReleaseLane(ctx context.Context, lane string) (done bool, err error) {
	defer q.enqueued()
	return q.steps(ctx, "release", lane, releaseLane, q.Kind, lane, q.clock.Now().UnixMicro())
}

// DeleteLane deletes the jobs of a lane. The outcomes of running jobs become void. done is false if there are more.
func (q *Queue) DeleteLane(ctx context.Context, lane string) (done bool, err error) {
	return q.steps(ctx, "erase", lane, deleteLane, q.Kind, lane)
}

func (q *Queue) steps(ctx context.Context, what, lane, query string, args ...any) (done bool, err error) {
	for range laneSteps {
		n, err := q.step(ctx, laneStep, query, args...)
		if err != nil {
			return false, fmt.Errorf("%s lane %s: %w", what, lane, err)
		}
		if n < laneStep {
			return true, nil
		}
	}
	return false, nil
}

// HeldLanes returns up to max lanes after one that have held jobs, in order.
func (q *Queue) HeldLanes(ctx context.Context, after string, max int) ([]string, error) {
	return lanesOf(ctx, q.db, q.Kind, held, after, max)
}

// Erase deletes held jobs and dead letters that have expired.
func (q *Queue) Erase(ctx context.Context) error {
	if err := q.update(ctx, laneStep, eraseJobs, q.Kind, q.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("erase jobs of %s: %w", q.Kind, err)
	}
	return nil
}

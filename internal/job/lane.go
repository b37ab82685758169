package job

import (
	"context"
	"fmt"
	"time"
)

// A call below works in steps that each hold the writer for a few milliseconds, and in so many of them at most: a lane may
// hold more than anybody can wait for.
const (
	laneStep  = 500
	laneSteps = 20
)

// HoldLane holds what waits in a lane, each job until keep after it was enqueued. What is under way decides for itself. done
// is false where there is more to hold.
func (q *Queue) HoldLane(ctx context.Context, lane string, keep time.Duration) (done bool, err error) {
	return q.steps(ctx, "hold", lane, holdLane, q.Kind, lane, keep.Microseconds())
}

// ReleaseLane makes ready what is held in a lane. done is false where there is more.
func (q *Queue) ReleaseLane(ctx context.Context, lane string) (done bool, err error) {
	defer q.enqueued()
	return q.steps(ctx, "release", lane, releaseLane, q.Kind, lane, q.clock.Now().UnixMicro())
}

// DeleteLane erases a lane's jobs, those under way too: whatever they do no longer counts. done is false where there are more.
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

// HeldLanes lists lanes that have held jobs, those after one, in order and at most max.
func (q *Queue) HeldLanes(ctx context.Context, after string, max int) ([]string, error) {
	return lanesOf(ctx, q.db, q.Kind, held, after, max)
}

// Erase erases held jobs and dead letters whose time is over.
func (q *Queue) Erase(ctx context.Context) error {
	if err := q.update(ctx, laneStep, eraseJobs, q.Kind, q.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("erase jobs of %s: %w", q.Kind, err)
	}
	return nil
}

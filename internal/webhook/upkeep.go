package webhook

import (
	"context"

	"github.com/gonebox/gonebox/internal/id"
)

// upkeepLanes is how many endpoints with held deliveries one query returns, which bounds its memory.
const upkeepLanes = 100

// Upkeep deletes expired deliveries and dead letters, and completes the release and deletion of deliveries of resumed,
// enabled and deleted endpoints, which those calls do not wait for. A periodic job calls it about every minute, in one
// process.
func (s *Service) Upkeep(ctx context.Context) error {
	if err := s.Queue.Erase(ctx); err != nil {
		return err
	}
	for last := ""; ; {
		lanes, err := s.Queue.HeldLanes(ctx, last, upkeepLanes)
		if err != nil || len(lanes) == 0 {
			return err
		}
		for _, lane := range lanes {
			if err := s.finishHeld(ctx, lane); err != nil {
				return err
			}
			last = lane
		}
	}
}

// finishHeld releases or deletes all held deliveries of an endpoint that is no longer paused or no longer exists.
func (s *Service) finishHeld(ctx context.Context, lane string) error {
	e, err := get(ctx, s.DB, id.Webhook(lane))
	if err != nil || e != nil && e.holdsDeliveries() {
		return err
	}
	finish := s.Queue.ReleaseLane
	if e == nil {
		finish = s.Queue.DeleteLane
	}
	for done := false; !done && err == nil; {
		done, err = finish(ctx, lane)
	}
	return err
}

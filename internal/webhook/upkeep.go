package webhook

import (
	"context"

	"github.com/gonebox/gonebox/internal/id"
)

// upkeepLanes is how many endpoints with held deliveries are looked at together.
const upkeepLanes = 100

// Upkeep erases deliveries that have waited too long and dead letters, and finishes what resuming and deleting endpoints
// left to be done later. It is called every minute or so.
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
			if err := s.tidy(ctx, lane); err != nil {
				return err
			}
			last = lane
		}
	}
}

// tidy looks whether deliveries are held for an endpoint that has them wait.
func (s *Service) tidy(ctx context.Context, lane string) error {
	e, err := one(ctx, s.DB, id.Webhook(lane))
	if err != nil || e != nil && e.waits() {
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

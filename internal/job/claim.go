package job

import (
	"context"

	"github.com/gonebox/gonebox/internal/db"
)

// lanesPerClaim is the largest number of lanes from which one transaction claims jobs. Each lane takes a statement.
const lanesPerClaim = 64

// freeSlots returns how many jobs of a lane may be started, in addition to planned jobs that are about to be started. Once
// half of Max slots are in use, a lane gets a slot only if it has no running job, so that slow lanes cannot occupy all
// slots.
func (r *run) freeSlots(lane string, planned int) int {
	total := r.total + planned
	most := r.LaneMax
	if total >= r.Max/2 {
		most = 1
	}
	return max(0, min(most-r.lanes[lane], r.Max-total))
}

// slots is the maximum number of jobs to claim from a lane.
type slots struct {
	lane string
	max  int
}

// freeLanes returns up to lanesPerClaim lanes that have ready jobs and free slots. It begins after the lane that was served
// last and continues with the first lane after the last one, so that lanes whose names sort first are not preferred. If
// it returns none, no job can be started now.
func (r *run) freeLanes(ctx context.Context) (all []slots, err error) {
	if r.total >= r.Max {
		return nil, nil
	}
	planned, start := 0, r.cursor
	for {
		limit := lanesPerClaim + len(r.lanes) // since the lanes with running jobs may be at their limit
		lanes, err := listLanes(ctx, r.db, r.Kind, ready, r.cursor, limit)
		if err != nil {
			return nil, err
		}
		for _, lane := range lanes {
			if n := r.freeSlots(lane, planned); n > 0 && len(all) < lanesPerClaim {
				all = append(all, slots{lane, n})
				planned += n
			}
			r.cursor = lane
		}
		if len(lanes) < limit {
			r.cursor = ""
		}
		if len(all) > 0 || start == "" || r.cursor != "" {
			return all, nil
		}
		start = "" // read once more, from the first lane
	}
}

// claimTries is how often claim tries to claim jobs if other processes claim them first. More attempts would find even
// fewer jobs, and the next poll finds those that are left.
const claimTries = 3

// claim claims as many jobs as the limits allow, in one transaction. The end of the lease identifies the claim: a job that
// is claimed again later has a lease with another end.
func (r *run) claim(ctx context.Context) (jobs []Job, err error) {
	for range claimTries {
		lanes, err := r.freeLanes(ctx)
		if err != nil || len(lanes) == 0 {
			return nil, err
		}
		lease := r.clock.Now().Add(r.Lease).UnixMicro()
		err = r.db.UpdateLocked(ctx, func(ctx context.Context, tx *db.Tx) error {
			jobs = nil
			for _, s := range lanes {
				claimed, err := claimTx(ctx, tx, r.Kind, s.lane, s.max, lease)
				if err != nil {
					return err
				}
				jobs = append(jobs, claimed...)
			}
			return nil
		}, nil)
		if err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

package message

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wake"
)

// Bond is a condition of a wait other than its mailbox, such as the developer key of the caller. The zero Bond is always satisfied.
type Bond struct {
	WakeKey string                      // of wake.Hub; woken when the result of Check may have changed; "": the mailbox's is
	Check   func(context.Context) error // called after every read; its error ends the wait and is returned
}

// bondEvery is how often a wait with a bond reads without a wake-up. The command that disables an account is a process that cannot wake
// those of the service.
const bondEvery = 5 * time.Second

// wait calls look until it finds something in a mailbox, at most for the duration most, and returns the last value. It returns early when
// the mailbox ends or the bond b fails.
func wait[T any](
	ctx context.Context, s *Service, box id.Mailbox, most time.Duration, b Bond,
	look func(context.Context) (value T, found bool, err error),
) (T, error) {
	if most <= 0 {
		value, _, err := look(ctx)
		return value, err
	}
	var again time.Duration
	if b.WakeKey != "" {
		again = bondEvery
	}
	return wake.UntilEither(ctx, s.hub, string(box), b.WakeKey, most, again, func(ctx context.Context) (T, bool, error) {
		return wake.OnFreshStack(ctx, s.stacks, func() (T, bool, error) {
			value, found, err := look(ctx)
			if err == nil && b.Check != nil { // after look, so that nothing is returned once the bond has failed
				err = b.Check(ctx)
			}
			if found || err != nil {
				return value, true, err
			}
			live, err := s.boxes.Live(ctx, box)
			return value, !live, err
		})
	})
}

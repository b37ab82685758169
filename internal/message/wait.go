package message

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/wake"
)

// CredentialCheck reports whether the credential of a waiting client is still valid, such as its developer key. A wait or a
// stream that has begun checks it again and again, so that it does not outlive the credential. The zero CredentialCheck
// never fails.
type CredentialCheck struct {
	// WakeKey is the key of wake.Hub that is woken when the result of Check may have changed. If it is "", only the key of
	// the mailbox or the account wakes the client.
	WakeKey string

	// Check returns an error if the credential is no longer valid, or if that cannot be found out. It is called with every
	// read, and an error ends the wait. Nil means that the credential cannot become invalid.
	Check func(context.Context) error
}

// checkEvery is how often a wait that has a WakeKey reads without a wake-up. The command that disables an account runs in
// a process of its own and cannot wake the waiters of the server.
const checkEvery = 5 * time.Second

// wait calls look until it finds something in a mailbox, for at most the duration most, and returns its last value. It
// returns early when the mailbox ends, and with the error of the check when the credential is no longer valid. If most is
// 0, it calls look once and does not check the credential.
func wait[T any](
	ctx context.Context, s *Service, box id.Mailbox, most time.Duration, credential CredentialCheck,
	look func(context.Context) (value T, found bool, err error),
) (T, error) {
	if most <= 0 {
		value, _, err := look(ctx)
		return value, err
	}
	var pollEvery time.Duration
	if credential.WakeKey != "" {
		pollEvery = checkEvery
	}
	return wake.UntilEither(ctx, s.hub, string(box), credential.WakeKey, most, pollEvery, func(ctx context.Context) (T, bool, error) {
		return wake.OnFreshStack(ctx, s.stacks, func() (T, bool, error) {
			value, found, err := look(ctx)
			if err == nil && credential.Check != nil { // after look, so that nothing is returned after the credential has become invalid
				err = credential.Check(ctx)
			}
			if found || err != nil {
				return value, true, err
			}
			live, err := s.boxes.Live(ctx, box)
			return value, !live, err
		})
	})
}

package account

import (
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Wrong two-factor codes allowed per account: ten at once, and one more every six minutes. With six digits, of which three
// codes are valid at a time, guessing takes nearly four years on average.
const (
	attemptsMax   = 10
	attemptsEvery = 6 * time.Minute
)

// attempts counts the wrong codes of each account, for all operations that take a code. Right codes are not counted.
// Recovery codes count like codes of an authenticator. The counts are those of a ratelimit.Limiter, so that several
// processes share them.
type attempts struct{ limiter *ratelimit.Limiter }

// take counts an attempt before its code is checked, so that concurrent attempts count too. The caller calls giveBack
// if the code is right. RetryAfter of the error is the time until another code may be tried. giveBack must be called at
// most once. Error: rate.limited.
func (a attempts) take(account id.Account) (giveBack func(), err error) {
	return a.takeFor(string(account))
}

// takeFor is take for codes of another kind, which are counted apart.
func (a attempts) takeFor(identity string) (giveBack func(), err error) {
	limit := ratelimit.Limit{{Count: attemptsMax, Per: attemptsMax * attemptsEvery}}
	d := a.limiter.Take(ratelimit.TwoFactor, identity, limit, 1)
	if !d.OK {
		p := problem.Detailf(problem.RateLimited, "too many wrong codes; try again in %d s", int(d.RetryAfter.Seconds())+1)
		p.RetryAfter = d.RetryAfter
		return nil, p
	}
	return func() { a.limiter.Return(ratelimit.TwoFactor, identity, limit, 1) }, nil
}

package account

import (
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// guard counts the codes that an account is tried with: attempts, or sharedAttempts.
type guard interface {
	take(account id.Account, now time.Time) (right func(), err error)
}

// sharedAttempts are attempts that processes count together.
type sharedAttempts struct{ limiter *ratelimit.Limiter }

func (a sharedAttempts) take(account id.Account, _ time.Time) (right func(), err error) {
	limit := ratelimit.Limit{{Count: attemptsMax, Per: attemptsMax * attemptsEvery}}
	d := a.limiter.Take(ratelimit.TwoFactor, string(account), limit, 1)
	if !d.OK {
		return nil, tooMany(d.RetryAfter)
	}
	return func() { a.limiter.Return(ratelimit.TwoFactor, string(account), limit, 1) }, nil
}

// ShareAttempts counts wrong codes by a limiter, together with the processes that it counts with. Call it before the
// service is used.
func (s *Service) ShareAttempts(l *ratelimit.Limiter) { s.attempts = sharedAttempts{l} }

func tooMany(wait time.Duration) error {
	p := problem.Detailf(problem.RateLimited, "too many wrong codes; try again in %d s", int(wait.Seconds())+1)
	p.RetryAfter = wait
	return p
}

// Wrong codes that an account may be tried with: ten at once, and one more every six minutes. Six digits with three of
// them valid at a time stand against that for nearly four years on average.
const (
	attemptsMax   = 10
	attemptsEvery = 6 * time.Minute
	attemptsSwept = 1024 // accounts remembered before idle ones are looked for
)

// attempts counts the wrong codes of each account, wherever a code is asked, in the memory of this process. Right
// codes are not counted. It is safe for concurrent use.
type attempts struct {
	mu    sync.Mutex
	until map[id.Account]time.Time // when all is forgotten: each wrong code moves it by attemptsEvery
	sweep int
}

func newAttempts() *attempts {
	return &attempts{until: make(map[id.Account]time.Time), sweep: attemptsSwept}
}

// take counts an attempt before its code is looked at, so that many at once do not slip through; right takes it back
// once the code turns out right. Error: rate.limited.
func (a *attempts) take(account id.Account, now time.Time) (right func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := a.until[account]
	if until.Before(now) {
		until = now
	}
	if wait := until.Sub(now) - (attemptsMax-1)*attemptsEvery; wait > 0 {
		return nil, tooMany(wait)
	}
	a.until[account] = until.Add(attemptsEvery)
	a.forget(now)
	return func() { a.takeBack(account) }, nil
}

func (a *attempts) takeBack(account id.Account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until[account] = a.until[account].Add(-attemptsEvery)
}

// forget drops the accounts without recent attempts once the map has doubled, so that it stays as large as it must be.
func (a *attempts) forget(now time.Time) {
	if len(a.until) < a.sweep {
		return
	}
	for account, until := range a.until {
		if !until.After(now) {
			delete(a.until, account)
		}
	}
	a.sweep = max(attemptsSwept, 2*len(a.until))
}

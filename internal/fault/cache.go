package fault

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/id"
)

const (
	// staleAfter is how long rules are used before they are read again. It bounds how long a change in another process goes unnoticed if its
	// notification is lost.
	staleAfter  = 5 * time.Second
	accountsMax = 1000 // whose rules are cached
)

// newCache returns a cache of the rules of accounts, without their counts.
func newCache() *cache.Cache[id.Account, []*Rule] { return cache.New[id.Account, []*Rule](accountsMax) }

// cachedRules returns the rules of an account, which the caller must not change.
func (s *Service) cachedRules(ctx context.Context, account id.Account) ([]*Rule, error) {
	now := s.clock.Now()
	rules, ok, epoch := s.rules.Look(account, now)
	if ok {
		return rules, nil
	}
	rules, err := queryRules(ctx, s.db, account, now)
	if err != nil {
		return nil, err
	}
	s.rules.PutSince(epoch, account, rules, 1, now.Add(staleAfter))
	return rules, nil
}

// Forget makes this process read the rules of an account again, or those of all accounts if account is "".
func (s *Service) Forget(account id.Account) {
	if account == "" {
		s.rules.Clear()
		return
	}
	s.rules.Forget(account)
}

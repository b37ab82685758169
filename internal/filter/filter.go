// Package filter implements the extraction filters of accounts (docs/spec/filters.md): how they are stored, and which
// of them finds the code of a mail, within bounded work. It does not parse mail and does not depend on mailboxes.
//
// A Filter has three patterns: those for the sender and the subject select mails, the third extracts the code. Match
// tries the active filters of an account on a mail, before the built-in extractor; Try runs patterns that are not
// stored.
//
// Patterns come from users and mails from strangers, so both are bounded. A pattern is measured by the number of
// instructions it compiles to; the sum for an account is bounded when a filter is stored, and the product of
// instructions and octets when a mail is matched. Package regexp takes time linear in that product.
//
// Compiled patterns of accounts that get mail are cached (cache.go). Changes take effect at once in this process, and
// in others when they are notified (OnChange, Forget) or after staleAfter.
package filter

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Priorities of filters: lower ones are tried first.
const (
	PriorityDefault = 100
	PriorityMin     = 1
	PriorityMax     = 9999
)

// Filter is a stored extraction filter. It is a copy of the row at the time of reading.
type Filter struct {
	ID        id.Filter
	Account   id.Account
	Domain    id.Domain // the private domain whose mailboxes it applies to; "": all mailboxes of the account
	CreatedAt time.Time
	UpdatedAt time.Time // increases with each change: the version of the row
	Settings

	size int // compiled instructions of the patterns
}

// Settings are the fields that the owner of a filter sets. Name and Priority are checked by the caller, Patterns by the
// Service.
type Settings struct {
	Name     string
	Patterns Patterns
	Priority int // PriorityMin to PriorityMax
	Active   bool
}

// Patterns are regular expressions in the syntax of RE2. From and Subject ignore case and match a part; an empty one
// matches every mail. Extract is what otp.CompileRule accepts.
type Patterns struct{ From, Subject, Extract string }

// Plans gives the quotas of an account. Package app provides it from the plan in effect.
type Plans interface {
	// FilterMax returns how many filters an account may have, active or not.
	FilterMax(ctx context.Context, account id.Account) (int, error)
}

// Domains gives the owner of a private domain. Package domain implements it.
type Domains interface {
	// Owns reports whether an account has claimed a private domain.
	Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error)
}

// Service implements filters. It is safe for concurrent use.
type Service struct {
	db      *db.DB
	clock   clock.Clock
	plans   Plans
	domains Domains
	cache   *cache
	changed func(account id.Account) // notifies other processes; nil: there are none
}

// New returns a Service. OnChange, if it is used, must be called before the service is.
func New(d *db.DB, c clock.Clock, p Plans, domains Domains) *Service {
	return &Service{db: d, clock: c, plans: p, domains: domains, cache: newCache(d, c)}
}

// OnChange sets a function that is called with each account whose filters changed in this process: other processes must
// Forget them. Call it before the service is used. notify is called after the commit and must be fast.
func (s *Service) OnChange(notify func(account id.Account)) { s.changed = notify }

// Forget removes the filters of an account from the cache, or all filters if account is "". It is how another process's
// notification is handled, "" after notifications may have been lost.
func (s *Service) Forget(account id.Account) { s.cache.forget(account) }

// forget removes the filters of an account from the caches of all processes.
func (s *Service) forget(account id.Account) {
	s.cache.forget(account)
	if s.changed != nil {
		s.changed(account)
	}
}

// Create creates a filter for an account; domain "" means the scope all.
//
// Patterns are compiled before the transaction, since compiling is slow. The number and the size of the account's
// filters are checked inside it, so that concurrent calls cannot exceed the bounds. Errors: request.invalid,
// filter.invalid_regex, filter.limit_reached.
func (s *Service) Create(ctx context.Context, account id.Account, domain id.Domain, w Settings) (*Filter, error) {
	size, err := w.Patterns.check()
	if err != nil {
		return nil, err
	}
	if err := s.checkOwner(ctx, account, domain); err != nil {
		return nil, err
	}
	max, err := s.plans.FilterMax(ctx, account)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now().Truncate(time.Microsecond)
	f := &Filter{ID: id.New[id.Filter](now), Account: account, Domain: domain, CreatedAt: now, UpdatedAt: now, Settings: w, size: size}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, total, err := sumTx(ctx, tx, account)
		if err != nil {
			return err
		}
		if n >= max {
			return problem.Detailf(problem.FilterLimitReached, "the plan allows %d filters and there are %d", max, n)
		}
		if err := checkSize(total + size); err != nil {
			return err
		}
		tx.AfterCommit(func() { s.forget(account) })
		return insertTx(ctx, tx, f)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// sizeMax bounds the compiled instructions of the patterns of one account, and so their memory and the time to compile them:
// 500 filters with three ordinary patterns each have half as many.
const sizeMax = 128 << 10

// checkSize checks the size of all patterns of an account. Error: filter.limit_reached.
func checkSize(total int) error {
	if total > sizeMax {
		return problem.Detailf(problem.FilterLimitReached, "the patterns of all filters together would be too large: shorten those that repeat a lot")
	}
	return nil
}

// checkOwner checks that an account has a private domain, if domain is not "". Error: request.invalid.
func (s *Service) checkOwner(ctx context.Context, account id.Account, domain id.Domain) error {
	if domain == "" {
		return nil
	}
	owns, err := s.domains.Owns(ctx, account, domain)
	if err == nil && !owns {
		err = problem.Invalid("/domainId", "is not one of your private domains")
	}
	return err
}

// List returns at most max of an account's filters older than before, newest first; "" is the beginning.
func (s *Service) List(ctx context.Context, account id.Account, before id.Filter, max int) ([]*Filter, error) {
	return page(ctx, s.db, account, before, max)
}

// Change has the fields of a filter to change: nil leaves one unchanged, an empty pattern clears it.
type Change struct {
	Name                   *string
	From, Subject, Extract *string
	Priority               *int
	Active                 *bool
}

// apply returns settings with the changes, unchecked.
func (c Change) apply(s Settings) Settings {
	set(&s.Name, c.Name)
	set(&s.Patterns.From, c.From)
	set(&s.Patterns.Subject, c.Subject)
	set(&s.Patterns.Extract, c.Extract)
	set(&s.Priority, c.Priority)
	set(&s.Active, c.Active)
	return s
}

// set sets a field, unless to is nil.
func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// Update changes a filter of an account. The patterns are compiled outside of the transaction, which checks that the
// filter has not changed since, or else Update tries again. The loop ends when no other call changes the filter in
// between, or with an error. Errors: filter.not_found, filter.invalid_regex, filter.limit_reached.
func (s *Service) Update(ctx context.Context, account id.Account, filter id.Filter, c Change) (*Filter, error) {
	for {
		f, err := one(ctx, s.db, account, filter)
		if err != nil {
			return nil, err
		}
		changed := *f
		changed.Settings = c.apply(f.Settings)
		if changed.size, err = changed.Patterns.check(); err != nil {
			return nil, err
		}
		changed.UpdatedAt = s.after(f.UpdatedAt)
		var done bool
		err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			done, err = s.replaceTx(ctx, tx, f, &changed)
			return err
		})
		if err != nil {
			return nil, err
		}
		if done {
			return &changed, nil
		}
	}
}

// after returns the current time, or a microsecond after the last change if that is later. So every version of a filter
// has another UpdatedAt, by which Update and the cache recognize a change, even if the clock is set back.
func (s *Service) after(last time.Time) time.Time {
	now := s.clock.Now().Truncate(time.Microsecond)
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// replaceTx replaces a stored filter; done is false if the stored one is no longer old. A change that makes the
// patterns smaller is always allowed, even above sizeMax. Error: filter.limit_reached.
func (s *Service) replaceTx(ctx context.Context, tx *db.Tx, old, changed *Filter) (done bool, err error) {
	if changed.size > old.size {
		_, total, err := sumTx(ctx, tx, old.Account)
		if err != nil {
			return false, err
		}
		if err := checkSize(total - old.size + changed.size); err != nil {
			return false, err
		}
	}
	tx.AfterCommit(func() { s.forget(old.Account) })
	return updateTx(ctx, tx, old, changed)
}

// Delete deletes a filter of an account. A filter of another account counts as missing. Error: filter.not_found.
func (s *Service) Delete(ctx context.Context, account id.Account, filter id.Filter) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, deleteFilter, account, filter)
		if err == nil && n == 0 {
			err = problem.New(problem.FilterNotFound)
		}
		tx.AfterCommit(func() { s.forget(account) })
		return err
	})
}

// Package filter implements the extraction filters of accounts (docs/spec/filters.md). It stores the filters and finds the
// code of a mail with them, in a bounded amount of work. It does not parse mail and does not depend on mailboxes.
//
// A Filter has three patterns: those for the sender and the subject select mails, and the third extracts the code. Match
// tries the active filters of an account on a mail, before the built-in extractor. Try runs patterns that are not stored,
// so that users can test them.
//
// Patterns come from users and mails come from strangers, so the work that they cause is bounded. The size of a pattern is the
// number of instructions that it compiles to. Create and Update bound the size of all patterns of an account. Match bounds
// the product of instructions and octets, since the time that package regexp takes is linear in that product.
//
// The compiled patterns of accounts that receive mail are cached (cache.go). A change takes effect at once in the process
// that makes it, and in the others when they are notified (OnChange, Forget) or after staleAfter.
package filter

import (
	"context"
	"fmt"
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

// Filter is a stored extraction filter. It is a copy of its row at the time when it was read.
type Filter struct {
	ID        id.Filter
	Account   id.Account
	Domain    id.Domain // the private domain to whose mailboxes the filter applies; "": all mailboxes of the account
	CreatedAt time.Time
	UpdatedAt time.Time // increases with every change, so that it is the version of the row
	Settings

	size int // the number of instructions that the patterns compile to
}

// Settings are the fields that the owner of a filter sets. The caller validates Name and Priority, and the Service
// validates Patterns.
type Settings struct {
	Name     string
	Patterns Patterns
	Priority int // PriorityMin to PriorityMax
	Active   bool
}

// Patterns are regular expressions in the syntax of RE2. From and Subject are searched for, ignoring case; an empty pattern
// matches every mail. Extract must be a pattern that otp.CompileRule accepts.
type Patterns struct{ From, Subject, Extract string }

// Plans returns the quotas of an account. Package app implements it with the plan in effect.
type Plans interface {
	// FilterMax returns how many filters an account may have, active or not.
	FilterMax(ctx context.Context, account id.Account) (int, error)
}

// Domains knows which private domains an account owns. Package domain implements it.
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
	notify  func(account id.Account) // notifies the other processes of a change; nil: there are none
}

// New returns a Service. A caller that uses OnChange calls it before all other methods.
func New(d *db.DB, c clock.Clock, p Plans, domains Domains) *Service {
	return &Service{db: d, clock: c, plans: p, domains: domains, cache: newCache(d, c)}
}

// OnChange sets the function that notifies the other processes, which must then call Forget, that the filters of an account
// have changed in this process. notify is called after the commit and must not block. OnChange itself is not safe for
// concurrent use.
func (s *Service) OnChange(notify func(account id.Account)) { s.notify = notify }

// Forget removes the filters of an account from the cache of this process, or all filters if account is "". Call it when
// another process has notified this one of a change, and with "" when notifications may have been lost.
func (s *Service) Forget(account id.Account) { s.cache.forget(account) }

// forget removes the filters of an account from the caches of all processes.
func (s *Service) forget(account id.Account) {
	s.cache.forget(account)
	if s.notify != nil {
		s.notify(account)
	}
}

// Create creates a filter for an account. It applies to the mailboxes in domain, or to all mailboxes of the account if
// domain is "".
//
// Patterns are compiled before the transaction, since compiling is slow. The number and the size of the account's filters
// are checked inside the transaction, so that concurrent calls cannot exceed the bounds. Errors: request.invalid,
// filter.invalid_regex, filter.limit_reached.
func (s *Service) Create(ctx context.Context, account id.Account, domain id.Domain, settings Settings) (*Filter, error) {
	size, err := settings.Patterns.check()
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
	f := &Filter{ID: id.New[id.Filter](now), Account: account, Domain: domain, CreatedAt: now, UpdatedAt: now, Settings: settings, size: size}
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

// sizeMax bounds the compiled instructions of all patterns of one account, and so the memory that they take and the time to
// compile them. 500 filters with three ordinary patterns each have half as many.
const sizeMax = 128 << 10

// checkSize checks the total size of the patterns of an account. Error: filter.limit_reached.
func checkSize(total int) error {
	if total > sizeMax {
		return problem.Detailf(problem.FilterLimitReached, "the patterns of all filters together would be too large: shorten those that repeat a lot")
	}
	return nil
}

// checkOwner checks that an account owns a private domain; domain "" is always valid. Error: request.invalid.
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

// List returns at most max filters of an account that are older than the filter before, newest first. If before is "", it
// begins with the newest filter.
func (s *Service) List(ctx context.Context, account id.Account, before id.Filter, max int) ([]*Filter, error) {
	return queryPage(ctx, s.db, account, before, max)
}

// Change has new values for the fields of a filter. A nil field stays unchanged, and an empty pattern clears the old one.
type Change struct {
	Name                   *string
	From, Subject, Extract *string
	Priority               *int
	Active                 *bool
}

// apply returns settings with the changes applied. It does not validate them.
func (c Change) apply(s Settings) Settings {
	set(&s.Name, c.Name)
	set(&s.Patterns.From, c.From)
	set(&s.Patterns.Subject, c.Subject)
	set(&s.Patterns.Extract, c.Extract)
	set(&s.Priority, c.Priority)
	set(&s.Active, c.Active)
	return s
}

// set sets a field to a value, unless value is nil.
func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// Update changes a filter of an account. Errors: filter.not_found, filter.invalid_regex, filter.limit_reached.
//
// Since compiling is slow, Update reads the filter and compiles its patterns before the transaction. If another call has
// changed the filter meanwhile, the transaction changes nothing and Update tries again, until it succeeds or fails with an
// error.
func (s *Service) Update(ctx context.Context, account id.Account, filter id.Filter, c Change) (*Filter, error) {
	for {
		f, err := getFilter(ctx, s.db, account, filter)
		if err != nil {
			return nil, err
		}
		changed := *f
		changed.Settings = c.apply(f.Settings)
		if changed.size, err = changed.Patterns.check(); err != nil {
			return nil, err
		}
		changed.UpdatedAt = s.nextUpdateTime(f.UpdatedAt)
		var updated bool
		err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			updated, err = s.replaceTx(ctx, tx, f, &changed)
			return err
		})
		if err != nil {
			return nil, err
		}
		if updated {
			return &changed, nil
		}
	}
}

// nextUpdateTime returns the UpdatedAt of the next version of a filter that was last changed at last: the current time, or
// a microsecond after last if that is later. Update and the cache compare versions by UpdatedAt, which must therefore
// increase even if the clock is set back.
func (s *Service) nextUpdateTime(last time.Time) time.Time {
	now := s.clock.Now().Truncate(time.Microsecond)
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// replaceTx replaces the stored filter old with changed. updated is false if another call has changed or deleted the filter
// since old was read. A change that makes the patterns smaller is allowed even if the account exceeds sizeMax. Error:
// filter.limit_reached.
func (s *Service) replaceTx(ctx context.Context, tx *db.Tx, old, changed *Filter) (updated bool, err error) {
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

// Delete deletes a filter of an account. Error: filter.not_found, also for a filter of another account.
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

// EraseTx deletes all filters of an account.
func (s *Service) EraseTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	tx.AfterCommit(func() { s.forget(account) })
	if _, err := tx.Exec(ctx, deleteFilters, account); err != nil {
		return fmt.Errorf("delete the filters of %s: %w", account, err)
	}
	return nil
}

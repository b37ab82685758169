// Package filter holds the extraction filters of accounts: what they are (spec §2 Filter), and which of them finds the
// code of a mail, within bounded work. It refuses to read mail and to know mailboxes.
package filter

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Priorities of filters: lower ones are tried first (spec §2, decisions §2).
const (
	PriorityDefault = 100
	PriorityMin     = 1
	PriorityMax     = 9999
)

// Filter is an extraction filter as it is stored.
type Filter struct {
	ID        id.Filter
	Account   id.Account
	Domain    id.Domain // the private domain whose mailboxes it is for; "": all mailboxes of the account
	CreatedAt time.Time
	UpdatedAt time.Time // later with each change
	Settings

	size int // instructions of the patterns
}

// Settings are what the owner of a filter says and may change.
type Settings struct {
	Name     string
	Patterns Patterns
	Priority int
	Active   bool
}

// Patterns are RE2. From and Subject may be empty, then every mail passes; they ignore case.
type Patterns struct{ From, Subject, Extract string }

// Plans says what an account may have.
type Plans interface {
	FilterMax(ctx context.Context, account id.Account) (int, error)
}

// Domains says whose a private domain is.
type Domains interface {
	Owns(ctx context.Context, account id.Account, domain id.Domain) (bool, error)
}

// Service is the use of filters.
type Service struct {
	db      *db.DB
	clock   clock.Clock
	plans   Plans
	domains Domains
	cache   *cache
	changed func(account id.Account) // tells other processes; nil: there are none
}

// New assembles the service.
func New(d *db.DB, c clock.Clock, p Plans, domains Domains) *Service {
	return &Service{db: d, clock: c, plans: p, domains: domains, cache: newCache(d, c)}
}

// OnChange has tell called with each account whose filters changed here: other processes are to Forget them. Call it before the
// service is used.
func (s *Service) OnChange(tell func(account id.Account)) { s.changed = tell }

// Forget has the filters of an account read again, or all where account is "".
func (s *Service) Forget(account id.Account) { s.cache.forget(account) }

func (s *Service) forget(account id.Account) {
	s.cache.forget(account)
	if s.changed != nil {
		s.changed(account)
	}
}

// Create makes a filter for an account; domain "" is the scope all. Errors: request.invalid, filter.invalid_regex,
// filter.limit_reached.
func (s *Service) Create(ctx context.Context, account id.Account, domain id.Domain, w Settings) (*Filter, error) {
	size, err := w.Patterns.check()
	if err != nil {
		return nil, err
	}
	if err := s.owns(ctx, account, domain); err != nil {
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
		if err := room(total + size); err != nil {
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

// sizeMax bounds the instructions that the patterns of one account compile to, and with them its part of the memory and
// the time to compile them again: 500 filters of three ordinary patterns have half as many.
const sizeMax = 128 << 10

func room(total int) error {
	if total > sizeMax {
		return problem.Detailf(problem.FilterLimitReached, "the patterns of all filters together would be too large: shorten those that repeat a lot")
	}
	return nil
}

func (s *Service) owns(ctx context.Context, account id.Account, domain id.Domain) error {
	if domain == "" {
		return nil
	}
	owns, err := s.domains.Owns(ctx, account, domain)
	if err == nil && !owns {
		err = problem.Invalid("/domainId", "is not one of your private domains")
	}
	return err
}

// List returns an account's filters, newest first: those made before the one named ("": from the newest on), at most max.
func (s *Service) List(ctx context.Context, account id.Account, before id.Filter, max int) ([]*Filter, error) {
	return page(ctx, s.db, account, before, max)
}

// Change is what to change of a filter; nil leaves as it is, an empty pattern clears.
type Change struct {
	Name                   *string
	From, Subject, Extract *string
	Priority               *int
	Active                 *bool
}

func (c Change) apply(s Settings) Settings {
	set(&s.Name, c.Name)
	set(&s.Patterns.From, c.From)
	set(&s.Patterns.Subject, c.Subject)
	set(&s.Patterns.Extract, c.Extract)
	set(&s.Priority, c.Priority)
	set(&s.Active, c.Active)
	return s
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// Update changes a filter of an account. The patterns are compiled outside of the transaction, which looks whether the
// filter is still what they were compiled for. Errors: filter.not_found, filter.invalid_regex, filter.limit_reached.
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

// after is the present time, or a microsecond after the last change where that is later.
func (s *Service) after(last time.Time) time.Time {
	now := s.clock.Now().Truncate(time.Microsecond)
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// replaceTx puts a changed filter in place of an old one; done is false where that is no longer what is stored.
func (s *Service) replaceTx(ctx context.Context, tx *db.Tx, old, changed *Filter) (done bool, err error) {
	if changed.size > old.size {
		_, total, err := sumTx(ctx, tx, old.Account)
		if err != nil {
			return false, err
		}
		if err := room(total - old.size + changed.size); err != nil {
			return false, err
		}
	}
	tx.AfterCommit(func() { s.forget(old.Account) })
	return updateTx(ctx, tx, old, changed)
}

// Delete removes a filter of an account. Error: filter.not_found.
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

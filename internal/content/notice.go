package content

import (
	"context"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Kind is how a notice is shown. The values are public.
type Kind string

// The kinds.
const (
	Banner Kind = "banner"
	Dialog Kind = "dialog"
)

// Level is how urgent a notice is. The values are public.
type Level string

// The levels.
const (
	Info     Level = "info"
	Warning  Level = "warning"
	Critical Level = "critical"
)

// Notice is a stored notice. It is not changed after it was published, except that it can be withdrawn.
type Notice struct {
	ID          id.Notice
	CreatedAt   time.Time
	WithdrawnAt time.Time // zero: not withdrawn
	Draft
}

// Draft is the part of a notice that staff write.
type Draft struct {
	Kind        Kind
	Level       Level
	Title       string
	HTML        string // sanitized in a Notice; may be empty
	Locale      Locale // of the readers it is for; "": all readers
	StartsAt    time.Time
	EndsAt      time.Time // zero: shown until it is withdrawn
	Dismissible bool
}

// State is the state of a notice in its schedule.
type State string

// The states of a notice.
const (
	Scheduled State = "scheduled"
	Shown     State = "shown"
	Over      State = "over"
	Withdrawn State = "withdrawn"
)

// State returns the state of the notice at a time. It is shown from StartsAt inclusive to EndsAt exclusive.
func (n *Notice) State(now time.Time) State {
	switch {
	case !n.WithdrawnAt.IsZero():
		return Withdrawn
	case !n.EndsAt.IsZero() && !now.Before(n.EndsAt):
		return Over
	case now.Before(n.StartsAt):
		return Scheduled
	}
	return Shown
}

// shownMax bounds how many notices can be scheduled or shown at the same time: all of them go into one response.
const shownMax = 100

// Publish publishes a draft, from StartsAt on, or from now on if that is zero, and records it in the audit log. Error:
// request.invalid.
func (s *Service) Publish(ctx context.Context, d Draft) (*Notice, error) {
	now := s.clock.Now().Truncate(time.Microsecond)
	if d.StartsAt.IsZero() {
		d.StartsAt = now
	}
	if err := d.check(now); err != nil {
		return nil, err
	}
	var err error
	if d.Locale, err = publishLocale(string(d.Locale)); err != nil {
		return nil, err
	}
	if d.HTML, err = safe(d.HTML, noticeMax); err != nil {
		return nil, err
	}
	d.StartsAt, d.EndsAt = d.StartsAt.UTC().Truncate(time.Microsecond), d.EndsAt.UTC().Truncate(time.Microsecond)
	n := &Notice{ID: id.New[id.Notice](now), CreatedAt: now, Draft: d}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		open, err := countOpenTx(ctx, tx, now)
		if err != nil {
			return err
		}
		if open >= shownMax {
			return problem.Detailf(problem.RequestInvalid, "there are %d notices that are shown or will be; withdraw one first", open)
		}
		if err := insertNoticeTx(ctx, tx, n); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, now, "notice.publish", string(n.ID), n.Title)
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// check checks everything but the locale and the HTML. Error: request.invalid.
func (d Draft) check(now time.Time) error {
	switch {
	case d.Kind != Banner && d.Kind != Dialog:
		return problem.Invalid("/kind", "must be %s or %s", Banner, Dialog)
	case d.Level != Info && d.Level != Warning && d.Level != Critical:
		return problem.Invalid("/level", "must be %s, %s or %s", Info, Warning, Critical)
	case !d.EndsAt.IsZero() && !d.EndsAt.After(now):
		return problem.Invalid("/endsAt", "must lie in the future")
	case !d.EndsAt.IsZero() && !d.EndsAt.After(d.StartsAt):
		return problem.Invalid("/endsAt", "must be after the start")
	}
	return checkTitle(d.Title)
}

// Current returns the notices to show now to readers of a locale, latest start first: those for all readers, and those for a
// prefix of its tag, as a notice in vi is for vi-VN. For the empty locale it returns all.
func (s *Service) Current(ctx context.Context, l Locale) ([]*Notice, error) {
	all, err := shownAt(ctx, s.db, s.clock.Now())
	if err != nil || l == "" {
		return all, err
	}
	chain := l.chain()
	return slices.DeleteFunc(all, func(n *Notice) bool { return n.Locale != "" && !slices.Contains(chain, n.Locale) }), nil
}

// Notices returns at most max notices, newest first, including past ones: for staff. If after is not empty they are older than
// that one.
func (s *Service) Notices(ctx context.Context, after id.Notice, max int) ([]*Notice, error) {
	return notices(ctx, s.db, selectNotices, after, max)
}

// Withdraw ends a notice now. It does not change one that is already withdrawn. Error: notice.not_found.
func (s *Service) Withdraw(ctx context.Context, notice id.Notice) (n *Notice, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if n, err = noticeTx(ctx, tx, notice); err != nil || !n.WithdrawnAt.IsZero() {
			return err
		}
		n.WithdrawnAt = s.clock.Now().Truncate(time.Microsecond)
		if _, err = tx.Exec(ctx, withdrawNotice, notice, n.WithdrawnAt.UnixMicro()); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, n.WithdrawnAt, "notice.withdraw", string(notice), n.Title)
	})
	return n, err
}

package content

import (
	"context"
	"slices"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Kind says how a notice is shown.
type Kind string

// The kinds of decisions §2 Content.
const (
	Banner Kind = "banner"
	Dialog Kind = "dialog"
)

// Level says how urgent a notice is.
type Level string

// The levels of decisions §2 Content.
const (
	Info     Level = "info"
	Warning  Level = "warning"
	Critical Level = "critical"
)

// Notice is a notice as it is stored.
type Notice struct {
	ID          id.Notice
	CreatedAt   time.Time
	WithdrawnAt time.Time // zero: it was not withdrawn
	Draft
}

// Draft is what staff say of a notice.
type Draft struct {
	Kind        Kind
	Level       Level
	Title       string
	HTML        string // safe, once it is in a Notice; may be empty
	Locale      Locale // whom it is for; "": all
	StartsAt    time.Time
	EndsAt      time.Time // zero: it stays until it is withdrawn
	Dismissible bool
}

// State says where a notice is in its schedule.
type State string

// The states of a notice.
const (
	Scheduled State = "scheduled"
	Shown     State = "shown"
	Over      State = "over"
	Withdrawn State = "withdrawn"
)

// State is where the notice is in its schedule at a moment. It is shown from its start on and not at its end any more.
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

// shownMax bounds how many notices can be waiting or shown at the same time: all of them go into one answer.
const shownMax = 100

// Publish makes a notice of a draft, from its start on, or from now on where that is zero. Error: request.invalid.
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
		return insertNoticeTx(ctx, tx, n)
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (d Draft) check(now time.Time) error {
	switch {
	case d.Kind != Banner && d.Kind != Dialog:
		return problem.Invalid("/kind", "must be %s or %s", Banner, Dialog)
	case d.Level != Info && d.Level != Warning && d.Level != Critical:
		return problem.Invalid("/level", "must be %s, %s or %s", Info, Warning, Critical)
	case !d.EndsAt.IsZero() && !d.EndsAt.After(now):
		return problem.Invalid("/endsAt", "must lie in the future")
	case !d.EndsAt.IsZero() && !d.EndsAt.After(d.StartsAt):
		return problem.Invalid("/endsAt", "must lie behind the start")
	}
	return checkTitle(d.Title)
}

// Shown lists the notices that are to be shown now to readers of a locale, newest start first: those for all, and those
// for its language or a part of its tag, as a notice in vi is for vi-VN. For the empty locale these are all.
func (s *Service) Shown(ctx context.Context, l Locale) ([]*Notice, error) {
	all, err := shownAt(ctx, s.db, s.clock.Now())
	if err != nil || l == "" {
		return all, err
	}
	chain := l.chain()
	return slices.DeleteFunc(all, func(n *Notice) bool { return n.Locale != "" && !slices.Contains(chain, n.Locale) }), nil
}

// Notices lists every notice there ever was, newest first, at most max: for staff.
func (s *Service) Notices(ctx context.Context, max int) ([]*Notice, error) {
	return notices(ctx, s.db, selectNotices, max)
}

// Withdraw ends a notice now. One that was withdrawn before stays as it is. Error: notice.not_found.
func (s *Service) Withdraw(ctx context.Context, notice id.Notice) (n *Notice, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if n, err = noticeTx(ctx, tx, notice); err != nil || !n.WithdrawnAt.IsZero() {
			return err
		}
		n.WithdrawnAt = s.clock.Now().Truncate(time.Microsecond)
		_, err = tx.Exec(ctx, withdrawNotice, notice, n.WithdrawnAt.UnixMicro())
		return err
	})
	return n, err
}

package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Press is staff's access to what a service shows everybody: notices and pages, while the service runs or not. A running
// service shows every change with its next answer.
type Press struct {
	db      *db.DB
	content *content.Service
	clock   clock.Clock
}

// NoticeDraft is what staff say of a notice; content.Draft has the meaning of each.
type NoticeDraft struct {
	Kind, Level, Title, HTML, Locale string
	Starts, Ends                     time.Time
	Dismissible                      bool
}

// NoticeRow is a notice as staff see it.
type NoticeRow struct {
	ID          id.Notice    `json:"id"`
	Kind        string       `json:"kind"`
	Level       string       `json:"level"`
	Title       string       `json:"title"`
	HTML        string       `json:"html"`
	Locale      *string      `json:"locale"`
	StartsAt    clock.Stamp  `json:"startsAt"`
	EndsAt      *clock.Stamp `json:"endsAt"`
	Dismissible bool         `json:"dismissible"`
	State       string       `json:"state"`
	CreatedAt   clock.Stamp  `json:"createdAt"`
	WithdrawnAt *clock.Stamp `json:"withdrawnAt"`
}

// PageRow is a page as staff see it. A list leaves the HTML out.
type PageRow struct {
	Key       string      `json:"key"`
	Locale    *string     `json:"locale"`
	Title     string      `json:"title"`
	HTML      string      `json:"html,omitempty"`
	UpdatedAt clock.Stamp `json:"updatedAt"`
}

// OpenPress opens the database that cfg names and brings it up to date.
func OpenPress(ctx context.Context, cfg *Config) (*Press, error) {
	d, err := openAdminDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.Migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &Press{db: d, content: content.New(d, clock.System()), clock: clock.System()}, nil
}

// Close releases the database.
func (p *Press) Close() { _ = p.db.Close() }

// Publish makes a notice.
func (p *Press) Publish(ctx context.Context, d NoticeDraft) (NoticeRow, error) {
	n, err := p.content.Publish(ctx, content.Draft{
		Kind: content.Kind(d.Kind), Level: content.Level(d.Level), Title: d.Title, HTML: d.HTML, Locale: content.Locale(d.Locale),
		StartsAt: d.Starts, EndsAt: d.Ends, Dismissible: d.Dismissible,
	})
	if err != nil {
		return NoticeRow{}, plain(err)
	}
	return p.noticeRow(n), nil
}

// Notices lists at most limit notices, newest first, whatever their state.
func (p *Press) Notices(ctx context.Context, limit int) ([]NoticeRow, error) {
	all, err := p.content.Notices(ctx, limit)
	if err != nil {
		return nil, err
	}
	rows := make([]NoticeRow, len(all))
	for i, n := range all {
		rows[i] = p.noticeRow(n)
	}
	return rows, nil
}

// Withdraw ends a notice now.
func (p *Press) Withdraw(ctx context.Context, notice string) (NoticeRow, error) {
	known, err := id.Parse[id.Notice](notice)
	if err != nil {
		return NoticeRow{}, fmt.Errorf("%q is not the identifier of a notice: %w", notice, err)
	}
	n, err := p.content.Withdraw(ctx, known)
	if err != nil {
		return NoticeRow{}, plain(err)
	}
	return p.noticeRow(n), nil
}

// PutPage publishes a page, in place of the one with the same key and locale.
func (p *Press) PutPage(ctx context.Context, key, locale, title, html string) (PageRow, error) {
	page, err := p.content.Put(ctx, content.Page{Key: key, Locale: content.Locale(locale), Title: title, HTML: html})
	if err != nil {
		return PageRow{}, plain(err)
	}
	return pageRow(page), nil
}

// Pages lists every page in every locale.
func (p *Press) Pages(ctx context.Context) ([]PageRow, error) {
	all, err := p.content.Every(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]PageRow, len(all))
	for i, page := range all {
		rows[i] = pageRow(page)
	}
	return rows, nil
}

// RemovePage unpublishes the page with a key and a locale, or in every locale, and tells how many they were.
func (p *Press) RemovePage(ctx context.Context, key, locale string, everyLocale bool) (int, error) {
	n, err := p.content.Remove(ctx, key, content.Locale(locale), everyLocale)
	return n, plain(err)
}

func (p *Press) noticeRow(n *content.Notice) NoticeRow {
	return NoticeRow{
		ID: n.ID, Kind: string(n.Kind), Level: string(n.Level), Title: n.Title, HTML: n.HTML, Locale: localeOrNull(n.Locale),
		StartsAt: clock.Stamp{Time: n.StartsAt}, EndsAt: stampOrNull(n.EndsAt), Dismissible: n.Dismissible, State: string(n.State(p.clock.Now())),
		CreatedAt: clock.Stamp{Time: n.CreatedAt}, WithdrawnAt: stampOrNull(n.WithdrawnAt),
	}
}

func pageRow(p *content.Page) PageRow {
	return PageRow{Key: p.Key, Locale: localeOrNull(p.Locale), Title: p.Title, HTML: p.HTML, UpdatedAt: clock.Stamp{Time: p.UpdatedAt}}
}

func localeOrNull(l content.Locale) *string {
	if l == "" {
		return nil
	}
	return new(string(l))
}

func stampOrNull(at time.Time) *clock.Stamp {
	if at.IsZero() {
		return nil
	}
	return &clock.Stamp{Time: at}
}

// plain is a problem in words for a terminal: what is wrong with which part of the input.
func plain(err error) error {
	p, known := problem.From(err)
	if err == nil || !known {
		return err
	}
	if len(p.Fields) == 0 {
		return errors.New(strings.ToLower(p.Title()[:1]) + p.Title()[1:] + detail(p))
	}
	var parts []string
	for _, f := range p.Fields {
		parts = append(parts, strings.TrimPrefix(f.Pointer, "/")+" "+f.Message)
	}
	return errors.New(strings.Join(parts, "; "))
}

func detail(p *problem.Problem) string {
	if p.Detail == "" {
		return ""
	}
	return ": " + p.Detail
}

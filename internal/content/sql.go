package content

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Times are microseconds since 1970. Lists of pages leave out the HTML, which may be large.
const (
	noticeColumns = "id, kind, level, title, html, locale, starts_at, coalesce(ends_at, 0), dismissible, created_at, coalesce(withdrawn_at, 0)"

	selectShown = "SELECT " + noticeColumns + ` FROM notice WHERE withdrawn_at IS NULL AND starts_at <= $1 AND (ends_at IS NULL OR ends_at > $1)
		ORDER BY starts_at DESC, id DESC`
	selectNotices = "SELECT " + noticeColumns + " FROM notice WHERE ($1 = '' OR id < $1) ORDER BY id DESC LIMIT $2"
	selectNotice  = "SELECT " + noticeColumns + " FROM notice WHERE id = $1"
	countOpen     = "SELECT count(*) FROM notice WHERE withdrawn_at IS NULL AND (ends_at IS NULL OR ends_at > $1)"

	insertNotice = `INSERT INTO notice (id, kind, level, title, html, locale, starts_at, ends_at, dismissible, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	withdrawNotice = "UPDATE notice SET withdrawn_at = $2 WHERE id = $1"

	selectPage    = "SELECT key, locale, title, html, updated_at FROM page WHERE key = $1 AND locale = $2"
	selectLocales = "SELECT key, locale, title, '', updated_at FROM page WHERE key = $1 ORDER BY locale"
	selectPages   = "SELECT key, locale, title, '', updated_at FROM page ORDER BY key, locale"
	upsertPage    = `INSERT INTO page (key, locale, title, html, updated_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (key, locale) DO UPDATE SET title = excluded.title, html = excluded.html, updated_at = excluded.updated_at`
	deletePage  = "DELETE FROM page WHERE key = $1 AND locale = $2"
	deletePages = "DELETE FROM page WHERE key = $1"
)

// scanNotice scans noticeColumns.
func scanNotice(row db.Row) (*Notice, error) {
	var n Notice
	var starts, ends, created, withdrawn int64
	err := row.Scan(&n.ID, &n.Kind, &n.Level, &n.Title, &n.HTML, &n.Locale, &starts, &ends, &n.Dismissible, &created, &withdrawn)
	if err != nil {
		return nil, err
	}
	n.StartsAt, n.EndsAt, n.CreatedAt, n.WithdrawnAt = db.Moment(starts), db.Moment(ends), db.Moment(created), db.Moment(withdrawn)
	return &n, nil
}

// notices returns the notices that a query selects.
func notices(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Notice, error) {
	all, err := db.Collect(ctx, q, scanNotice, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list notices: %w", err)
	}
	return all, nil
}

// shownAt returns the notices that are shown at a time, in every locale.
func shownAt(ctx context.Context, q db.Queryer, now time.Time) ([]*Notice, error) {
	return notices(ctx, q, selectShown, now.UnixMicro())
}

// noticeTx reads a notice. Error: notice.not_found.
func noticeTx(ctx context.Context, tx *db.Tx, notice id.Notice) (*Notice, error) {
	n, err := scanNotice(tx.QueryRow(ctx, selectNotice, notice))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.New(problem.NoticeNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read notice %s: %w", notice, err)
	}
	return n, nil
}

// countOpenTx counts the notices that are shown at a time or will be.
func countOpenTx(ctx context.Context, tx *db.Tx, now time.Time) (int, error) {
	n, err := db.Value[int](tx.QueryRow(ctx, countOpen, now.UnixMicro()))
	if err != nil {
		return 0, fmt.Errorf("count notices: %w", err)
	}
	return n, nil
}

func insertNoticeTx(ctx context.Context, tx *db.Tx, n *Notice) error {
	var ends any
	if !n.EndsAt.IsZero() {
		ends = n.EndsAt.UnixMicro()
	}
	dismissible := 0
	if n.Dismissible {
		dismissible = 1
	}
	_, err := tx.Exec(ctx, insertNotice, n.ID, n.Kind, n.Level, n.Title, n.HTML, n.Locale, n.StartsAt.UnixMicro(), ends, dismissible, n.CreatedAt.UnixMicro())
	return err
}

func scanPage(row db.Row) (*Page, error) {
	var p Page
	var updated int64
	if err := row.Scan(&p.Key, &p.Locale, &p.Title, &p.HTML, &updated); err != nil {
		return nil, err
	}
	p.UpdatedAt = db.Moment(updated)
	return &p, nil
}

func pages(ctx context.Context, q db.Queryer, query string, args ...any) ([]*Page, error) {
	all, err := db.Collect(ctx, q, scanPage, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	return all, nil
}

func onePage(ctx context.Context, q db.Queryer, key string, l Locale) (*Page, error) {
	p, err := scanPage(q.QueryRow(ctx, selectPage, key, l))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.New(problem.PageNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read page %s: %w", key, err)
	}
	return p, nil
}

func putPageTx(ctx context.Context, tx *db.Tx, p *Page) error {
	_, err := tx.Exec(ctx, upsertPage, p.Key, p.Locale, p.Title, p.HTML, p.UpdatedAt.UnixMicro())
	return err
}

func removePagesTx(ctx context.Context, tx *db.Tx, key string, l Locale, all bool) (int64, error) {
	if all {
		return tx.Exec(ctx, deletePages, key)
	}
	return tx.Exec(ctx, deletePage, key, l)
}

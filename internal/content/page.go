package content

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
)

// Page is a stored page. Pages with the same key have different locales.
type Page struct {
	Key       string
	Locale    Locale // "": for readers without a page in their locale
	Title     string
	HTML      string // sanitized
	UpdatedAt time.Time
}

// keyForm is the form of a page's key, which is used in paths.
var keyForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const keyMax = 64 // characters

// Put publishes a page and replaces the one with the same key and locale, if any, and records it in the audit log.
// Error: request.invalid.
func (s *Service) Put(ctx context.Context, p Page) (*Page, error) {
	if !keyForm.MatchString(p.Key) || len(p.Key) > keyMax {
		return nil, problem.Invalid("/key", "must be lower-case letters, digits and single hyphens between them, %d at most, such as terms-of-use", keyMax)
	}
	if err := checkTitle(p.Title); err != nil {
		return nil, err
	}
	var err error
	if p.Locale, err = publishLocale(string(p.Locale)); err != nil {
		return nil, err
	}
	if p.HTML, err = safe(p.HTML, pageMax); err != nil {
		return nil, err
	}
	p.UpdatedAt = s.clock.Now().Truncate(time.Microsecond)
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := putPageTx(ctx, tx, &p); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, p.UpdatedAt, "page.put", target(p.Key, p.Locale), p.Title)
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// Page returns the page with a key for readers of a locale: the one in their locale or the nearest to it (RFC 4647 §3.4,
// lookup), else the one without a locale, else the English one, else the first. Error: page.not_found.
func (s *Service) Page(ctx context.Context, key string, l Locale) (*Page, error) {
	all, err := pages(ctx, s.db, selectLocales, key)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, problem.New(problem.PageNotFound)
	}
	return onePage(ctx, s.db, key, nearest(all, l).Locale)
}

// Pages returns the pages for readers of a locale, ordered by key, without their HTML.
func (s *Service) Pages(ctx context.Context, l Locale) ([]*Page, error) {
	all, err := s.Every(ctx)
	if err != nil {
		return nil, err
	}
	var chosen []*Page
	for _, group := range byKey(all) {
		chosen = append(chosen, nearest(group, l))
	}
	return chosen, nil
}

// Every returns all pages in all locales, ordered by key and locale, without their HTML: for staff.
func (s *Service) Every(ctx context.Context) ([]*Page, error) { return pages(ctx, s.db, selectPages) }

// Remove deletes the page with a key and a locale, or with all locales if all is set, and returns their number. Errors:
// request.invalid, if the locale is malformed; page.not_found.
func (s *Service) Remove(ctx context.Context, key string, l Locale, all bool) (removed int, err error) {
	if l, err = publishLocale(string(l)); err != nil {
		return 0, err
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := removePagesTx(ctx, tx, key, l, all)
		if err == nil && n == 0 {
			err = problem.New(problem.PageNotFound)
		}
		if removed = int(n); err != nil {
			return err
		}
		detail := ""
		if all {
			detail = "in every locale"
		}
		return audit.RecordTx(ctx, tx, s.clock.Now(), "page.remove", target(key, l), detail)
	})
	return removed, err
}

// target names a page in the audit log.
func target(key string, l Locale) string { return strings.TrimSuffix(key+" "+string(l), " ") }

// byKey groups sorted pages by key.
func byKey(all []*Page) (groups [][]*Page) {
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(p *Page) bool { return p.Key != all[0].Key })
		if n < 0 {
			n = len(all)
		}
		groups = append(groups, all[:n])
		all = all[n:]
	}
	return groups
}

// nearest returns the page for a reader of a locale, of pages with the same key.
func nearest(all []*Page, l Locale) *Page {
	wanted := append(l.chain(), "", "en")
	rank := func(p *Page) int {
		if i := slices.Index(wanted, p.Locale); i >= 0 {
			return i
		}
		return len(wanted)
	}
	return slices.MinFunc(all, func(a, b *Page) int { return cmp.Compare(rank(a), rank(b)) })
}

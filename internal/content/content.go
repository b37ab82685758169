// Package content implements what staff publish: notices, which are shown by a schedule, and pages
// (docs/spec/content.md).
//
// It stores only HTML that is safe to render unchanged: it is sanitized when it is published, unlike mail, which is
// sanitized when it is read. Its callers decide who may publish. Nothing is cached, so that a change is visible in all
// processes at once. Errors for clients are problems, which each function names.
package content

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sanitize"
)

// Bounds of what can be published.
const (
	titleMax  = 200       // characters
	noticeMax = 16 << 10  // octets of a notice's HTML, before and after sanitizing: all notices go into one response
	pageMax   = 256 << 10 // octets of a page's HTML, likewise
)

// Service implements notices and pages. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	clock clock.Clock
}

// New returns a Service.
func New(d *db.DB, c clock.Clock) *Service { return &Service{db: d, clock: c} }

// checkTitle checks that a title is one line of text. Error: request.invalid.
func checkTitle(title string) error {
	control := strings.ContainsFunc(title, unicode.IsControl)
	if strings.TrimSpace(title) == "" || !utf8.ValidString(title) || control || utf8.RuneCountInString(title) > titleMax {
		return problem.Invalid("/title", "must be one line of 1 to %d characters", titleMax)
	}
	return nil
}

// safe sanitizes HTML (docs/spec/content.md#html). It is an error if nothing is left of non-empty HTML, so that an empty page
// is not published by mistake. Error: request.invalid.
func safe(html string, max int) (string, error) {
	if len(html) > max || !utf8.ValidString(html) {
		return "", problem.Invalid("/html", "must be UTF-8 and at most %d KiB large", max>>10)
	}
	made := strings.TrimSpace(sanitize.Notice(html))
	switch {
	case made == "" && strings.TrimSpace(html) != "":
		return "", problem.Invalid("/html", "has no content that may be published: text, headings, lists, tables and links are allowed")
	case len(made) > max:
		return "", problem.Invalid("/html", "is larger than %d KiB after sanitizing", max>>10)
	}
	return made, nil
}

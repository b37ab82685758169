// Package content holds what staff publish for everybody: notices, which come and go by schedule, and pages (decisions §2
// Content). It refuses to keep HTML that is not safe to render as it is, and to know who may publish.
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
	noticeMax = 16 << 10  // octets of a notice's HTML, before and after it is made safe: all notices go into one answer
	pageMax   = 256 << 10 // the same of a page's
)

// Service is the use of notices and pages. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	clock clock.Clock
}

// New assembles the service.
func New(d *db.DB, c clock.Clock) *Service { return &Service{db: d, clock: c} }

// checkTitle refuses a title that cannot be one line of a page. Error: request.invalid.
func checkTitle(title string) error {
	control := strings.ContainsFunc(title, unicode.IsControl)
	if strings.TrimSpace(title) == "" || !utf8.ValidString(title) || control || utf8.RuneCountInString(title) > titleMax {
		return problem.Invalid("/title", "must be one line of 1 to %d characters", titleMax)
	}
	return nil
}

// safe makes HTML safe to render as it is (spec §4 content). Where there is some, some of it must be left, so that nobody
// publishes an empty page without noticing. Error: request.invalid.
func safe(html string, max int) (string, error) {
	if len(html) > max || !utf8.ValidString(html) {
		return "", problem.Invalid("/html", "must be UTF-8 and at most %d KiB large", max>>10)
	}
	made := strings.TrimSpace(sanitize.Notice(html))
	switch {
	case made == "" && strings.TrimSpace(html) != "":
		return "", problem.Invalid("/html", "has nothing in it that may be published: text, headings, lists, tables and links may")
	case len(made) > max:
		return "", problem.Invalid("/html", "is more than %d KiB large once it is made safe", max>>10)
	}
	return made, nil
}

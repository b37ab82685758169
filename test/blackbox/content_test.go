package blackbox_test

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// notice is a notice as a client reads it.
type notice struct {
	ID, Kind, Level, Title, HTML string
	Locale                       *string
	StartsAt                     time.Time
	EndsAt                       *time.Time
	Dismissible                  bool
}

// webPage is a page as a client reads it.
type webPage struct {
	Key, Title, HTML string
	Locale           *string
	UpdatedAt        time.Time
}

// announce publishes a notice for a locale, as the command does: after is when it starts, length how long it is shown
// (0: without end).
func (s *service) announce(title, locale string, after, length time.Duration) {
	s.t.Helper()
	s.Clock.Advance(time.Microsecond)
	starts := s.Clock.Now().Add(after)
	var ends any
	if length > 0 {
		ends = starts.Add(length).UnixMicro()
	}
	id := "ntc_" + fmt.Sprintf("%026d", s.Clock.Now().UnixMicro())
	_, err := s.Database().Exec(`INSERT INTO notice (id, kind, level, title, html, locale, starts_at, ends_at, dismissible, created_at)
		VALUES ($1, 'dialog', 'warning', $2, '<p>Hello</p>', $3, $4, $5, 1, $6)`, id, title, locale, starts.UnixMicro(), ends, s.Clock.Now().UnixMicro())
	if err != nil {
		s.t.Fatal(err)
	}
}

// put publishes a page, as the command does.
func (s *service) put(key, locale, title string) {
	s.t.Helper()
	_, err := s.Database().Exec("INSERT INTO page (key, locale, title, html, updated_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key, locale) DO NOTHING",
		key, locale, title, "<p>"+title+"</p>", s.Clock.Now().UnixMicro())
	if err != nil {
		s.t.Fatal(err)
	}
}

// helpPage publishes a page without a locale and returns its key.
func (s *service) helpPage() string {
	s.put("help", "", "Help")
	return "help"
}

func (s *service) titles(path string) string {
	s.t.Helper()
	var titles []string
	for _, n := range get[[]notice](s, path, "") {
		titles = append(titles, n.Title)
	}
	return strings.Join(titles, " ")
}

func TestNoticesFollowTheirSchedule(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if got := get[[]notice](s, "/content/notices", ""); len(got) != 0 {
		t.Errorf("GET /content/notices = %+v, want none", got)
	}
	s.announce("always", "", 0, 0)
	s.announce("later", "", time.Hour, time.Hour)
	for after, want := range map[time.Duration]string{0: "always"} {
		if got := s.titles("/content/notices"); got != want {
			t.Errorf("after %s: %s, want %v", after, got, want)
		}
	}
	s.Clock.Advance(time.Hour)
	all := get[[]notice](s, "/content/notices", "")
	if len(all) != 2 || all[0].Title != "later" || all[1].Title != "always" {
		t.Fatalf("GET /content/notices = %+v, want later and always", all)
	}
	n := all[0]
	identifier(t, n.ID, "ntc")
	if n.Kind != "dialog" || n.Level != "warning" || n.HTML != "<p>Hello</p>" || n.Locale != nil || !n.Dismissible || n.EndsAt == nil ||
		!n.EndsAt.Equal(n.StartsAt.Add(time.Hour)) || all[1].EndsAt != nil {
		t.Errorf("GET /content/notices = %+v, want the dialog with a warning, dismissible, in the default locale, until %v, and a second notice without an end", all, n.StartsAt.Add(time.Hour))
	}
	s.Clock.Advance(time.Hour)
	if got := s.titles("/content/notices"); got != "always" {
		t.Errorf(`at the end: %s, want "always"`, got)
	}
	if _, err := s.Database().Exec("UPDATE notice SET withdrawn_at = 1"); err != nil {
		t.Fatal(err)
	}
	if got := s.titles("/content/notices"); got != "" {
		t.Errorf("GET /content/notices shows %s, want none of the withdrawn notices", got)
	}
}

func TestNoticesMatchTheReadersLocale(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, locale := range []string{"", "vi", "vi-VN", "en"} {
		s.announce(cmp.Or(locale, "all"), locale, 0, 0)
	}
	for query, want := range map[string]string{
		"": "en vi-VN vi all", "?locale=": "en vi-VN vi all", "?locale=vi": "vi all", "?locale=VI-vn": "vi-VN vi all", "?locale=en-GB": "en all", "?locale=fr": "all",
	} {
		if got := s.titles("/content/notices" + query); got != want {
			t.Errorf("GET /content/notices%s lists %s, want %s", query, got, want)
		}
	}
	if n := get[[]notice](s, "/content/notices?locale=vi", "")[0]; text(n.Locale) != "vi" {
		t.Errorf(`n = %+v, want Locale "vi"`, n)
	}
}

func TestPagesFallBackToNearestLocale(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	if got := get[[]webPage](s, "/content/pages", ""); len(got) != 0 {
		t.Errorf("GET /content/pages = %+v, want none", got)
	}
	s.call("GET", "/content/pages/terms", "", 404, "page.not_found")
	s.put("terms", "", "Terms")
	s.put("terms", "vi", "Điều khoản")
	s.put("about", "en", "About")
	list := get[[]map[string]any](s, "/content/pages", "")
	if len(list) != 2 || len(list[0]) != 2 || list[0]["key"] != "about" || list[0]["title"] != "About" || list[1]["title"] != "Terms" {
		t.Errorf("GET /content/pages = %v, want the keys and titles of about and of terms alone", list)
	}
	for query, want := range map[string]webPage{
		"":              {Title: "Terms"},
		"?locale=":      {Title: "Terms"},
		"?locale=en":    {Title: "Terms"},
		"?locale=vi":    {Title: "Điều khoản", Locale: new("vi")},
		"?locale=vi-VN": {Title: "Điều khoản", Locale: new("vi")},
	} {
		got := get[webPage](s, "/content/pages/terms"+query, "")
		if got.Key != "terms" || got.Title != want.Title || text(got.Locale) != text(want.Locale) || got.HTML != "<p>"+want.Title+"</p>" || !got.UpdatedAt.Equal(s.Clock.Now()) {
			t.Errorf("GET /content/pages/terms%s = %+v, want %q in the locale %q, changed at %v", query, got, want.Title, text(want.Locale), s.Clock.Now())
		}
		if list := get[[]webPage](s, "/content/pages"+query, ""); list[1].Title != want.Title {
			t.Errorf("GET /content/pages%s = %+v, want the second with the title %s", query, list, want.Title)
		}
	}
	if about := get[webPage](s, "/content/pages/about?locale=vi", ""); about.Title != "About" || text(about.Locale) != "en" {
		t.Errorf(`whatever there is: %+v, want Title "About" and Locale "en"`, about)
	}
	for _, key := range []string{"Terms", "x", "terms%2F", "%00", strings.Repeat("x", 1000), url.PathEscape("' OR 1=1 --"), "%ff"} {
		s.call("GET", "/content/pages/"+key, "", 404, "page.not_found")
	}
}

func TestContentRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.other": "40/1h"})
	s.helpPage()
	paths := []string{"/content/notices", "/content/pages", "/content/pages/help"}
	for _, path := range paths {
		for query, pointer := range map[string]string{
			"locale=en_US": "?locale", "locale=%21": "?locale", "locale=" + strings.Repeat("a", 36): "?locale", "locale=en&locale=vi": "?locale", "lang=en": "?lang", "locale=e": "?locale", "locale=%00": "?locale",
		} {
			a := s.call("GET", path+"?"+query, "", 422, "request.invalid")
			if p := problemOf(t, a); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
				t.Errorf("GET %s?%s: %s, want one error, at %s", path, query, a.Body, pointer)
			}
		}
	}
	for _, path := range paths {
		s.throttled("GET", path, "")
	}
}

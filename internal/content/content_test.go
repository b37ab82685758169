package content_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/db/dbtest"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// fixture is a Service with its clock.
type fixture struct {
	*content.Service
	t     *testing.T
	clock *clock.Fake
}

// each runs a test on every engine.
func each(t *testing.T, test func(t *testing.T, p *fixture)) {
	dbtest.Run(t, func(t *testing.T, d *db.DB) {
		c := clock.NewFake(noon)
		test(t, &fixture{Service: content.New(d, c), t: t, clock: c})
	})
}

// draft returns a notice for all readers from now on.
func draft(title string) content.Draft {
	return content.Draft{Kind: content.Banner, Level: content.Info, Title: title, HTML: "<p>Hello</p>", Dismissible: true}
}

func (p *fixture) publish(d content.Draft) *content.Notice {
	p.t.Helper()
	n, err := p.Publish(p.t.Context(), d)
	if err != nil {
		p.t.Fatal(err)
	}
	p.clock.Advance(time.Microsecond) // so that the next one is newer
	return n
}

// shown returns the titles of the notices for readers of a locale.
func (p *fixture) shown(l content.Locale) string {
	p.t.Helper()
	all, err := p.Current(p.t.Context(), l)
	if err != nil {
		p.t.Fatal(err)
	}
	var titles []string
	for _, n := range all {
		titles = append(titles, n.Title)
	}
	return strings.Join(titles, " ")
}

func TestNoticesAreShownBySchedule(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		later, brief := draft("later"), draft("brief")
		later.StartsAt = noon.Add(time.Hour)
		brief.EndsAt = noon.Add(2 * time.Hour)
		always, soon, short := p.publish(draft("always")), p.publish(later), p.publish(brief)
		if !always.StartsAt.Equal(noon) || !always.EndsAt.IsZero() || !always.CreatedAt.Equal(noon) || p.shown("") != "brief always" {
			t.Errorf("Publish without times = %+v, shown are %q; want it created and shown from noon on, without an end", always, p.shown(""))
		}
		for _, c := range []struct {
			after time.Duration
			shown string
			soon  content.State
			brief content.State
		}{
			{time.Hour - time.Microsecond, "brief always", content.Scheduled, content.Shown},
			{time.Hour, "later brief always", content.Shown, content.Shown},
			{2*time.Hour - time.Microsecond, "later brief always", content.Shown, content.Shown},
			{2 * time.Hour, "later always", content.Shown, content.Over},
			{9000 * time.Hour, "later always", content.Shown, content.Over},
		} {
			p.clock.Advance(noon.Add(c.after).Sub(p.clock.Now()))
			if got := p.shown(""); got != c.shown {
				t.Errorf("after %s: %q, want %q", c.after, got, c.shown)
			}
			if a, b := soon.State(p.clock.Now()), short.State(p.clock.Now()); a != c.soon || b != c.brief {
				t.Errorf("after %s: %s, %s, want %v and %v", c.after, a, b, c.soon, c.brief)
			}
		}
		p.clock.Advance(-9000 * time.Hour) // whatever the machine's clock does
		withdrawn, err := p.Withdraw(t.Context(), soon.ID)
		if err != nil || withdrawn.State(p.clock.Now()) != content.Withdrawn || !withdrawn.WithdrawnAt.Equal(p.clock.Now()) {
			t.Errorf("Withdraw(%s) = %+v, %v, want it withdrawn at %v", soon.ID, withdrawn, err, p.clock.Now())
		}
		p.clock.Advance(time.Hour)
		if again, err := p.Withdraw(t.Context(), soon.ID); err != nil || !again.WithdrawnAt.Equal(withdrawn.WithdrawnAt) {
			t.Errorf("Withdraw(%s) again = %+v, %v, want the time of the first, %v", soon.ID, again, err, withdrawn.WithdrawnAt)
		}
		if got := p.shown(""); strings.Contains(got, "later") {
			t.Errorf("the notices shown are %q, want none that was withdrawn", got)
		}
		all, err := p.Notices(t.Context(), "", 2)
		if err != nil || len(all) != 2 || all[0].ID != short.ID || all[1].ID != soon.ID || !all[0].WithdrawnAt.IsZero() || all[1].WithdrawnAt.IsZero() {
			t.Errorf("Notices of at most 2 = %v, %v, want %s, which is not withdrawn, and %s, which is", all, err, short.ID, soon.ID)
		}
		if _, err := p.Withdraw(t.Context(), id.New[id.Notice](noon)); !problem.Has(err, problem.NoticeNotFound) {
			t.Errorf("an unknown one: %v, want the problem %v", err, problem.NoticeNotFound)
		}
	})
}

func TestNoticesAreShownToReadersOfTheirLocale(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		for _, l := range []content.Locale{"", "vi", "vi-vn", "en", "zh-Hant"} {
			d := draft("for:" + string(l))
			d.Locale = l
			p.publish(d)
		}
		for l, want := range map[content.Locale]string{
			"":           "for:zh-Hant for:en for:vi-vn for:vi for:",
			"vi":         "for:vi for:",
			"vi-VN":      "for:vi-vn for:vi for:",
			"en-GB":      "for:en for:",
			"zh-Hant-TW": "for:zh-Hant for:",
			"zh-Hans":    "for:",
			"fr":         "for:",
		} {
			if got := p.shown(l); got != want {
				t.Errorf("to readers of %q: %q, want %q", l, got, want)
			}
		}
	})
}

func TestInvalidNoticesAreRejected(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		for what, change := range map[string]func(*content.Draft){
			"/kind":                          func(d *content.Draft) { d.Kind = "popup" },
			"/level":                         func(d *content.Draft) { d.Level = "" },
			"/title empty":                   func(d *content.Draft) { d.Title = " " },
			"/title of two lines":            func(d *content.Draft) { d.Title = "a\nb" },
			"/title too long":                func(d *content.Draft) { d.Title = strings.Repeat("ư", 201) },
			"/title not UTF-8":               func(d *content.Draft) { d.Title = "\xff" },
			"/html nothing left":             func(d *content.Draft) { d.HTML = "<script>alert(1)</script>" },
			"/html too large":                func(d *content.Draft) { d.HTML = strings.Repeat("x", 16<<10+1) },
			"/html too large once it's safe": func(d *content.Draft) { d.HTML = strings.Repeat("&", 16<<10-1) },
			"/html not UTF-8":                func(d *content.Draft) { d.HTML = "a\xff" },
			"/locale":                        func(d *content.Draft) { d.Locale = "klingon" },
			"/locale of unknown region":      func(d *content.Draft) { d.Locale = "vi-YY" },
			"/locale und":                    func(d *content.Draft) { d.Locale = "und" },
			"/endsAt in the past":            func(d *content.Draft) { d.StartsAt, d.EndsAt = noon.Add(-2*time.Hour), noon },
			"/endsAt before the start":       func(d *content.Draft) { d.StartsAt, d.EndsAt = noon.Add(2*time.Hour), noon.Add(time.Hour) },
		} {
			d := draft("title")
			change(&d)
			n, err := p.Publish(t.Context(), d)
			want, _, _ := strings.Cut(what, " ")
			if found, _ := problem.From(err); n != nil || found.Code != problem.RequestInvalid || found.Fields[0].Pointer != want {
				t.Errorf("%s: Publish = %+v, %+v, want the problem %v at %s", what, n, found, problem.RequestInvalid, want)
			}
		}
		d := draft(strings.Repeat("ư", 200))
		d.HTML = ""
		p.publish(d)
		for i := range 99 {
			p.publish(draft(fmt.Sprint(i)))
		}
		if _, err := p.Publish(t.Context(), draft("one more")); !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("the 101st: %v, want the problem %v", err, problem.RequestInvalid)
		}
	})
}

func TestHTMLIsSanitizedWhenStored(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		const html = `<h2 onclick="x()">Hi</h2><script>x()</script><img src=x onerror=x()><a href="javascript:x()">a</a> <a href="/docs">docs</a><p style="position:fixed">p`
		d := draft("title")
		d.HTML = html
		n := p.publish(d)
		page, err := p.Put(t.Context(), content.Page{Key: "help", Title: "Help", HTML: html})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := p.Current(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{n.HTML, page.HTML, shown[0].HTML} {
			if got != n.HTML || !strings.Contains(got, "<h2>Hi</h2>") || !strings.Contains(got, `href="/docs"`) {
				t.Errorf("the HTML as stored, as read and as shown is\n%s\nwant the same three times, with its heading and the link to /docs", got)
			}
			for _, bad := range []string{"script", "x()", "<img", "style", "onclick"} {
				if strings.Contains(got, bad) {
					t.Errorf("the HTML is\n%s\nwant no %s in it", got, bad)
				}
			}
		}
	})
}

func (p *fixture) put(key string, l content.Locale, title string) {
	p.t.Helper()
	if _, err := p.Put(p.t.Context(), content.Page{Key: key, Locale: l, Title: title, HTML: "<p>" + title + "</p>"}); err != nil {
		p.t.Fatal(err)
	}
}

func TestNearestPageIsReturned(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		for _, l := range []content.Locale{"vi", "en-GB", "", "vi-VN", "en"} {
			p.put("terms", l, "terms:"+string(l))
		}
		p.put("about", "fr", "about:fr")
		p.put("about", "en", "about:en")
		p.put("only", "vi", "only:vi")
		p.put("only", "de", "only:de")
		for _, c := range []struct {
			locale content.Locale
			want   string
		}{
			{"", "about:en only:de terms:"},
			{"vi", "about:en only:vi terms:vi"},
			{"vi-VN", "about:en only:vi terms:vi-VN"},
			{"vi-US", "about:en only:vi terms:vi"},
			{"en-GB", "about:en only:de terms:en-GB"},
			{"en-US", "about:en only:de terms:en"},
			{"fr-CA", "about:fr only:de terms:"},
		} {
			all, err := p.Pages(t.Context(), c.locale)
			if err != nil {
				t.Fatal(err)
			}
			var titles []string
			for _, page := range all {
				titles = append(titles, page.Title)
				one, err := p.Page(t.Context(), page.Key, c.locale)
				if err != nil || one.Title != page.Title || one.Locale != page.Locale || one.HTML != "<p>"+one.Title+"</p>" || page.HTML != "" {
					t.Errorf(`%s for %q: %+v in the list %+v, %v, want Title %v, Locale %v, HTML %v and HTML ""`, page.Key, c.locale, one, page, err, page.Title, page.Locale, "<p>"+one.Title+"</p>")
				}
			}
			if got := strings.Join(titles, " "); got != c.want {
				t.Errorf("for %q: %s, want %s", c.locale, got, c.want)
			}
		}
	})
}

func TestPagesAreReplacedAndRemoved(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		if all, err := p.Pages(t.Context(), ""); err != nil || len(all) != 0 {
			t.Errorf("Pages without any = %v, %v, want none", all, err)
		}
		p.put("terms", "", "old")
		p.clock.Advance(time.Minute)
		p.put("terms", "", "new")
		p.put("terms", "vi", "vi")
		p.put("terms", "en", "en")
		if got, err := p.Page(t.Context(), "terms", ""); err != nil || got.Title != "new" || !got.UpdatedAt.Equal(p.clock.Now()) {
			t.Errorf(`p.Page("terms", "") = %+v, %v, want no error, Title "new" and UpdatedAt %v`, got, err, p.clock.Now())
		}
		every, err := p.Every(t.Context())
		if err != nil || !slices.EqualFunc(every, []content.Locale{"", "en", "vi"}, func(p *content.Page, l content.Locale) bool { return p.Locale == l }) {
			t.Errorf("Every() = %v, %v, want the page in the default locale, in en and in vi", every, err)
		}
		remove := func(l content.Locale, all bool, want int, code problem.Code) {
			t.Helper()
			n, err := p.Remove(t.Context(), "terms", l, all)
			if n != want || code == "" && err != nil || code != "" && !problem.Has(err, code) {
				t.Errorf("Remove(terms, %s, %t) = %d, %v, want %d and the problem %q (none if empty)", l, all, n, err, want, code)
			}
		}
		remove("fr", false, 0, problem.PageNotFound)
		remove("nonsense", false, 0, problem.RequestInvalid)
		remove("", false, 1, "")
		remove("", false, 0, problem.PageNotFound)
		remove("", true, 2, "")
		remove("", true, 0, problem.PageNotFound)
		for _, l := range []content.Locale{"", "vi"} {
			if _, err := p.Page(t.Context(), "terms", l); !problem.Has(err, problem.PageNotFound) {
				t.Errorf(`p.Page("terms", l) = %v, want the problem %v`, err, problem.PageNotFound)
			}
		}
	})
}

func TestInvalidPagesAreRejected(t *testing.T) {
	each(t, func(t *testing.T, p *fixture) {
		for what, page := range map[string]content.Page{
			"/key empty":     {Title: "t"},
			"/key capital":   {Key: "Terms", Title: "t"},
			"/key slash":     {Key: "a/b", Title: "t"},
			"/key dots":      {Key: "..", Title: "t"},
			"/key hyphens":   {Key: "a--b", Title: "t"},
			"/key hyphen":    {Key: "-a", Title: "t"},
			"/key line":      {Key: "a\n", Title: "t"},
			"/key too long":  {Key: strings.Repeat("a", 65), Title: "t"},
			"/title":         {Key: "a"},
			"/locale":        {Key: "a", Title: "t", Locale: "xx-yy-zz"},
			"/html too long": {Key: "a", Title: "t", HTML: strings.Repeat("x", 256<<10+1)},
			"/html nothing":  {Key: "a", Title: "t", HTML: "<style>p{}</style>"},
		} {
			want, _, _ := strings.Cut(what, " ")
			got, err := p.Put(t.Context(), page)
			if found, _ := problem.From(err); got != nil || found.Code != problem.RequestInvalid || found.Fields[0].Pointer != want {
				t.Errorf("%s: Put = %+v, %+v, want the problem %v at %s", what, got, found, problem.RequestInvalid, want)
			}
		}
		p.put(strings.Repeat("a", 64), "", "long")
		p.put("2026-terms", "zh-hant-tw", "digits")
	})
}

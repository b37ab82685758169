package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// content registers the group content (docs/spec/content.md).
func (a *API) content() {
	const group = "content"
	register(a, group, httpkit.Operation{
		ID: "list-notices", Method: http.MethodGet, Path: "/content/notices", Summary: "List the notices to show now", Status: 200,
		Text:  "Newest first. Their HTML is safe to render unchanged. A notice in `vi` is for readers of `vi-VN` too; one without a locale is for all readers.",
		Limit: ratelimit.Other,
	}, a.listNotices)
	register(a, group, httpkit.Operation{
		ID: "list-pages", Method: http.MethodGet, Path: "/content/pages", Summary: "List the pages", Status: 200,
		Text:  "Only keys and titles, ordered by key; each page in the locale that GET /content/pages/{key} would choose.",
		Limit: ratelimit.Other,
	}, a.listPages)
	register(a, group, httpkit.Operation{
		ID: "get-page", Method: http.MethodGet, Path: "/content/pages/{key}", Summary: "Show a page", Status: 200,
		Text:  "In the requested locale or the nearest one (RFC 4647, lookup), else without a locale, else in any. Its HTML is safe to render unchanged.",
		Limit: ratelimit.Other, Codes: []problem.Code{problem.PageNotFound},
	}, a.getPage)
}

// LocaleQuery is the language of a reader.
type LocaleQuery struct {
	Locale string `query:"locale" maxLength:"35" doc:"The reader's language tag (BCP 47)." example:"vi-VN"`
}

// locale returns the parsed tag. Error: request.invalid.
func (q LocaleQuery) locale() (content.Locale, error) {
	l, err := content.ParseLocale(q.Locale)
	if err != nil {
		err = problem.Invalid("?locale", "must be a language tag (BCP 47) such as en or vi-VN")
	}
	return l, err
}

// Notice is a notice as every client sees it.
type Notice struct {
	ID          id.Notice       `json:"id" doc:"The identifier of the notice." example:"ntc_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Kind        content.Kind    `json:"kind" enum:"banner,dialog" doc:"How the notice is shown."`
	Level       content.Level   `json:"level" enum:"info,warning,critical" doc:"How important the notice is."`
	Title       string          `json:"title" doc:"The title, as text." example:"Maintenance on Sunday"`
	HTML        string          `json:"html" doc:"Safe to render unchanged; may be empty." example:"<p>The service is down from 02:00 to 02:30 UTC.</p>"`
	Locale      *content.Locale `json:"locale" nullable:"true" doc:"The language of the readers it is for; null for all." example:"en"`
	StartsAt    clock.Stamp     `json:"startsAt" doc:"From when on the notice is shown."`
	EndsAt      *clock.Stamp    `json:"endsAt" nullable:"true" doc:"Null if it is shown until it is withdrawn."`
	Dismissible bool            `json:"dismissible" doc:"Whether a reader may close it permanently."`
}

func shownNotice(n *content.Notice) Notice {
	return Notice{
		ID: n.ID, Kind: n.Kind, Level: n.Level, Title: n.Title, HTML: n.HTML, Locale: textOrNull(n.Locale),
		StartsAt: clock.Stamp{Time: n.StartsAt}, EndsAt: clock.Optional(n.EndsAt), Dismissible: n.Dismissible,
	}
}

func (a *API) listNotices(ctx context.Context, in *LocaleQuery) (*httpkit.Many[Notice], error) {
	locale, err := in.locale()
	if err != nil {
		return nil, err
	}
	all, err := a.Content.Current(ctx, locale)
	if err != nil {
		return nil, err
	}
	shown := make([]Notice, len(all))
	for i, n := range all {
		shown[i] = shownNotice(n)
	}
	return httpkit.Page(shown, ""), nil
}

// PageTitle is a page in the list of pages.
type PageTitle struct {
	Key   string `json:"key" doc:"The name of the page." example:"privacy"`
	Title string `json:"title" doc:"The title, as text." example:"Privacy"`
}

func (a *API) listPages(ctx context.Context, in *LocaleQuery) (*httpkit.Many[PageTitle], error) {
	locale, err := in.locale()
	if err != nil {
		return nil, err
	}
	all, err := a.Content.Pages(ctx, locale)
	if err != nil {
		return nil, err
	}
	shown := make([]PageTitle, len(all))
	for i, p := range all {
		shown[i] = PageTitle{Key: p.Key, Title: p.Title}
	}
	return httpkit.Page(shown, ""), nil
}

// Page is a page as every client sees it.
type Page struct {
	Key       string          `json:"key" doc:"The name of the page." example:"privacy"`
	Title     string          `json:"title" doc:"The title, as text." example:"Privacy"`
	HTML      string          `json:"html" doc:"Safe to render unchanged." example:"<p>The service is down from 02:00 to 02:30 UTC.</p>"`
	Locale    *content.Locale `json:"locale" nullable:"true" doc:"Its language; null if it was published without one." example:"en"`
	UpdatedAt clock.Stamp     `json:"updatedAt" doc:"When the page was last published."`
}

func (a *API) getPage(ctx context.Context, in *struct {
	Key string `path:"key" doc:"The page's key."`
	LocaleQuery
},
) (*httpkit.One[Page], error) {
	locale, err := in.locale()
	if err != nil {
		return nil, err
	}
	p, err := a.Content.Page(ctx, in.Key, locale)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(Page{Key: p.Key, Title: p.Title, HTML: p.HTML, Locale: textOrNull(p.Locale), UpdatedAt: clock.Stamp{Time: p.UpdatedAt}}), nil
}

package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

func (a *API) staffDomains() {
	registerStaff(a, httpkit.Operation{
		ID: "list-public-domains", Method: http.MethodGet, Path: "/staff/domains", Summary: "List the public domains", Status: 200,
		Text: "All of them, active or not, the configured ones first. The list is not paged.",
	}, a.listPublicDomains)
	registerStaff(a, httpkit.Operation{
		ID: "add-public-domain", Method: http.MethodPost, Path: "/staff/domains", Summary: "Add a public domain", Status: 201,
		Text:  "A domain that was disabled is activated again. IP addresses, names of one label and public suffixes are refused.",
		Codes: []problem.Code{problem.DomainTaken},
	}, a.addPublicDomain)
	registerStaff(a, httpkit.Operation{
		ID: "disable-public-domain", Method: http.MethodDelete, Path: "/staff/domains/{domain}", Summary: "Disable or remove a public domain", Status: 204,
		Text:  "No further mailboxes are created in a disabled one. Mail to those that exist is still accepted. One without live mailboxes can be removed, unless it stands in the configuration.",
		Codes: []problem.Code{problem.DomainNotFound, problem.DomainInUse, problem.DomainConfigured},
	}, a.disablePublicDomain)
}

// StaffDomain is a public domain as staff see it.
type StaffDomain struct {
	Domain string `json:"domain" doc:"In lower-case A-labels." example:"box.example.org"`
	Active bool   `json:"active" doc:"Whether mailboxes are created in it."`
}

func (a *API) listPublicDomains(context.Context, *struct{}) (*httpkit.Many[StaffDomain], error) {
	all := a.Domains.All()
	shown := make([]StaffDomain, len(all))
	for i, d := range all {
		shown[i] = StaffDomain{d.Name, d.Active}
	}
	return httpkit.Page(shown, ""), nil
}

type publicDomainCreation struct {
	_      struct{} `additionalProperties:"false"`
	Domain string   `json:"domain" minLength:"1" maxLength:"255" doc:"The domain name." example:"box.example.org"`
}

func (a *API) addPublicDomain(ctx context.Context, in *struct{ Body publicDomainCreation }) (*httpkit.One[StaffDomain], error) {
	if err := a.Domains.Add(ctx, in.Body.Domain); err != nil {
		return nil, err
	}
	name, err := domain.Normalize(in.Body.Domain)
	return httpkit.Single(StaffDomain{name, true}), err
}

func (a *API) disablePublicDomain(ctx context.Context, in *struct {
	Domain string `path:"domain" maxLength:"255" doc:"The domain name."`
	Remove bool   `query:"remove" doc:"Whether to remove the domain instead of disabling it."`
},
) (*struct{}, error) {
	if in.Remove {
		return nil, a.Domains.Remove(ctx, in.Domain, a.Mailboxes)
	}
	return nil, a.Domains.Disable(ctx, in.Domain)
}

func (a *API) staffContent() {
	registerStaff(a, httpkit.Operation{
		ID: "list-all-notices", Method: http.MethodGet, Path: "/staff/notices", Summary: "List all notices", Status: 200,
		Text: "Newest first, including those that are over or withdrawn.",
	}, a.listAllNotices)
	registerStaff(a, httpkit.Operation{
		ID: "publish-notice", Method: http.MethodPost, Path: "/staff/notices", Summary: "Publish a notice", Status: 201,
		Text: "The HTML may contain text, headings, lists, tables and links; everything else is removed.",
	}, a.publishNotice)
	registerStaff(a, httpkit.Operation{
		ID: "withdraw-notice", Method: http.MethodDelete, Path: "/staff/notices/{id}", Summary: "Stop showing a notice", Status: 204,
		Text: "It stays in the list of all notices.", Codes: []problem.Code{problem.NoticeNotFound},
	}, a.withdrawNotice)
	registerStaff(a, httpkit.Operation{
		ID: "list-all-pages", Method: http.MethodGet, Path: "/staff/pages", Summary: "List all pages", Status: 200,
		Text: "Every page in every locale, ordered by key and locale, without the HTML. The list is not paged.",
	}, a.listAllPages)
	registerStaff(a, httpkit.Operation{
		ID: "put-page", Method: http.MethodPut, Path: "/staff/pages/{key}", Summary: "Publish or replace a page", Status: 200,
		Text: "Replaces the page with the same key and locale. The HTML may contain text, headings, lists, tables and links; everything else is removed.",
		// A page may have 256 KiB.
		LargeBody: true,
	}, a.putPage)
	registerStaff(a, httpkit.Operation{
		ID: "remove-page", Method: http.MethodDelete, Path: "/staff/pages/{key}", Summary: "Remove a page", Status: 204,
		Text: "In one locale, or in all of them.", Codes: []problem.Code{problem.PageNotFound},
	}, a.removePage)
}

// StaffNotice is a notice as staff see it.
type StaffNotice struct {
	Notice
	State       content.State `json:"state" enum:"scheduled,shown,over,withdrawn" doc:"The state of the notice in its schedule."`
	CreatedAt   clock.Stamp   `json:"createdAt" doc:"When the notice was published."`
	WithdrawnAt *clock.Stamp  `json:"withdrawnAt" doc:"When the notice was withdrawn, or null."`
}

func (a *API) staffNotice(n *content.Notice) StaffNotice {
	return StaffNotice{
		Notice: shownNotice(n), State: n.State(a.kit.Clock.Now()), CreatedAt: clock.Stamp{Time: n.CreatedAt}, WithdrawnAt: clock.Optional(n.WithdrawnAt),
	}
}

func (a *API) listAllNotices(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[StaffNotice], error) {
	last, err := httpkit.Before[id.Notice](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Content.Notices(ctx, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(n *content.Notice) string { return string(n.ID) })
	shown := make([]StaffNotice, len(all))
	for i, n := range all {
		shown[i] = a.staffNotice(n)
	}
	return httpkit.Page(shown, next), nil
}

// noticePublication is the body that publishes a notice.
type noticePublication struct {
	_           struct{}     `additionalProperties:"false"`
	Kind        string       `json:"kind,omitempty" enum:"banner,dialog" doc:"How the notice is shown; banner if absent."`
	Level       string       `json:"level,omitempty" enum:"info,warning,critical" doc:"How important the notice is; info if absent."`
	Title       string       `json:"title" maxLength:"200" doc:"The title, one line of text." example:"Maintenance on Sunday"`
	HTML        string       `json:"html,omitempty" maxLength:"16384" doc:"The text in HTML." example:"<p>The service is down from 02:00 to 02:30 UTC.</p>"`
	Locale      string       `json:"locale,omitempty" maxLength:"35" doc:"The language of the readers it is for; all if absent." example:"en"`
	StartsAt    *clock.Stamp `json:"startsAt,omitempty" doc:"From when on it is shown; now if absent."`
	EndsAt      *clock.Stamp `json:"endsAt,omitempty" doc:"Until when it is shown; until it is withdrawn if absent."`
	Dismissible *bool        `json:"dismissible,omitempty" doc:"Whether a reader may close it permanently; true if absent."`
}

func (a *API) publishNotice(ctx context.Context, in *struct{ Body noticePublication }) (*httpkit.One[StaffNotice], error) {
	b := in.Body
	d := content.Draft{
		Kind: content.Banner, Level: content.Info, Title: b.Title, HTML: b.HTML, Locale: content.Locale(b.Locale),
		Dismissible: b.Dismissible == nil || *b.Dismissible,
	}
	if b.Kind != "" {
		d.Kind = content.Kind(b.Kind)
	}
	if b.Level != "" {
		d.Level = content.Level(b.Level)
	}
	if b.StartsAt != nil {
		d.StartsAt = b.StartsAt.Time
	}
	if b.EndsAt != nil {
		d.EndsAt = b.EndsAt.Time
	}
	n, err := a.Content.Publish(ctx, d)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(a.staffNotice(n)), nil
}

func (a *API) withdrawNotice(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The identifier of the notice."`
},
) (*struct{}, error) {
	notice, err := id.Parse[id.Notice](in.ID)
	if err != nil {
		return nil, problem.New(problem.NoticeNotFound)
	}
	_, err = a.Content.Withdraw(ctx, notice)
	return nil, err
}

// StaffPage is a page in the list of all pages.
type StaffPage struct {
	Key       string          `json:"key" doc:"The name of the page." example:"privacy"`
	Locale    *content.Locale `json:"locale" nullable:"true" doc:"Its language; null for readers without a page in theirs." example:"en"`
	Title     string          `json:"title" doc:"The title, as text." example:"Privacy"`
	UpdatedAt clock.Stamp     `json:"updatedAt" doc:"When the page was last published."`
}

func (a *API) listAllPages(ctx context.Context, _ *struct{}) (*httpkit.Many[StaffPage], error) {
	all, err := a.Content.Every(ctx)
	if err != nil {
		return nil, err
	}
	shown := make([]StaffPage, len(all))
	for i, p := range all {
		shown[i] = StaffPage{p.Key, textOrNull(p.Locale), p.Title, clock.Stamp{Time: p.UpdatedAt}}
	}
	return httpkit.Page(shown, ""), nil
}

// pagePublication is the body that publishes a page.
type pagePublication struct {
	_      struct{} `additionalProperties:"false"`
	Locale string   `json:"locale,omitempty" maxLength:"35" doc:"The language of the page; for readers without a page in theirs if absent." example:"en"`
	Title  string   `json:"title" maxLength:"200" doc:"The title, one line of text." example:"Privacy"`
	HTML   string   `json:"html" maxLength:"262144" doc:"The text in HTML." example:"<h1>Privacy</h1><p>Mailboxes are erased when they end.</p>"`
}

func (a *API) putPage(ctx context.Context, in *struct {
	Key  string `path:"key" maxLength:"64" doc:"The page's key: lower-case letters, digits and single hyphens between them."`
	Body pagePublication
},
) (*httpkit.One[Page], error) {
	b := in.Body
	p, err := a.Content.Put(ctx, content.Page{Key: in.Key, Locale: content.Locale(b.Locale), Title: b.Title, HTML: b.HTML})
	if err != nil {
		return nil, err
	}
	return httpkit.Single(Page{Key: p.Key, Title: p.Title, HTML: p.HTML, Locale: textOrNull(p.Locale), UpdatedAt: clock.Stamp{Time: p.UpdatedAt}}), nil
}

func (a *API) removePage(ctx context.Context, in *struct {
	Key         string `path:"key" maxLength:"64" doc:"The page's key."`
	Locale      string `query:"locale" maxLength:"35" doc:"The language of the page to remove; the page without one if absent." example:"en"`
	EveryLocale bool   `query:"everyLocale" doc:"Whether to remove the page in every language."`
},
) (*struct{}, error) {
	_, err := a.Content.Remove(ctx, in.Key, content.Locale(in.Locale), in.EveryLocale)
	return nil, err
}

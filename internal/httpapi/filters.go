package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/filter"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// filters registers the group filters (docs/spec/filters.md).
func (a *API) filters() {
	const group = "filters"
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/filters" + path, Summary: summary, Status: status, Codes: codes,
			Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	list := with(http.MethodGet, "list-filters", "", "List the extraction filters", 200)
	list.Text = "Newest first. Filters are tried by ascending priority, then oldest first."
	register(a, group, list, a.listFilters)
	create := with(http.MethodPost, "create-filter", "", "Create an extraction filter", 201, problem.FilterInvalidRegex, problem.FilterLimitReached)
	create.Text = "The patterns are RE2. The first filter that finds a code wins over the built-in extractor. The code is the group named `code`, else the first group, else the whole match."
	register(a, group, create, a.createFilter)
	try := with(http.MethodPost, "test-filter", "/test", "Try a filter on a sample", 200, problem.FilterInvalidRegex)
	try.Text = "Nothing is saved. The response says at which step the filter stopped, and what the built-in extractor finds in the sample and why."
	try.LargeBody = true
	register(a, group, try, a.tryFilter)
	update := with(http.MethodPatch, "update-filter", "/{id}", "Change an extraction filter", 200,
		problem.FilterNotFound, problem.FilterInvalidRegex, problem.FilterLimitReached)
	update.Text = "Omitted fields stay as they are; null clears `fromPattern` and `subjectPattern`."
	register(a, group, update, a.updateFilter)
	register(a, group, with(http.MethodDelete, "delete-filter", "/{id}", "Delete an extraction filter", 204, problem.FilterNotFound), a.deleteFilter)
}

// The values of scopeType and status.
const (
	scopeAll       = "all"
	scopeDomain    = "domain"
	statusActive   = "active"
	statusDisabled = "disabled"
)

// Filter is an extraction filter as its owner sees it.
type Filter struct {
	ID             id.Filter   `json:"id" doc:"The identifier of the filter." example:"flt_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Name           string      `json:"name" doc:"The name that the owner gave to the filter." example:"Door codes"`
	ScopeType      string      `json:"scopeType" enum:"all,domain" doc:"Whether the filter applies to all mailboxes or to those of one private domain."`
	DomainID       *id.Domain  `json:"domainId" nullable:"true" doc:"The private domain whose mailboxes it applies to, or null for all mailboxes." example:"dom_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	FromPattern    *string     `json:"fromPattern" nullable:"true" doc:"An RE2 pattern searched for in the sender address; null matches every sender." example:"@door\\.example$"`
	SubjectPattern *string     `json:"subjectPattern" nullable:"true" doc:"An RE2 pattern searched for in the subject; null matches every subject." example:"(?i)access"`
	ExtractRegex   string      `json:"extractRegex" doc:"The RE2 pattern that finds the code in subject, newline, text." example:"code is (?P<code>[0-9]{6})"`
	Priority       int         `json:"priority" doc:"Filters are tried in ascending order of priority." example:"100"`
	Status         string      `json:"status" enum:"active,disabled" doc:"Disabled filters are not tried."`
	CreatedAt      clock.Stamp `json:"createdAt" doc:"When the filter was created."`
	UpdatedAt      clock.Stamp `json:"updatedAt" doc:"When the filter was last changed."`
}

func shownFilter(f *filter.Filter) Filter {
	shown := Filter{
		ID: f.ID, Name: f.Name, ScopeType: scopeAll, DomainID: textOrNull(f.Domain), FromPattern: textOrNull(f.Patterns.From),
		SubjectPattern: textOrNull(f.Patterns.Subject), ExtractRegex: f.Patterns.Extract, Priority: f.Priority, Status: statusDisabled,
		CreatedAt: clock.Stamp{Time: f.CreatedAt}, UpdatedAt: clock.Stamp{Time: f.UpdatedAt},
	}
	if f.Domain != "" {
		shown.ScopeType = scopeDomain
	}
	if f.Active {
		shown.Status = statusActive
	}
	return shown
}

// textOrNull returns a text of a response, null for "".
func textOrNull[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}

func (a *API) listFilters(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[Filter], error) {
	last, err := httpkit.Before[id.Filter](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Filters.List(ctx, from(ctx).account.ID, last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(f *filter.Filter) string { return string(f.ID) })
	shown := make([]Filter, len(all))
	for i, f := range all {
		shown[i] = shownFilter(f)
	}
	return httpkit.Page(shown, next), nil
}

// filterCreation is the body that creates a filter.
type filterCreation struct {
	_         struct{} `additionalProperties:"false"`
	Name      string   `json:"name" minLength:"1" maxLength:"100" doc:"A name to recognize the filter by." example:"Door codes"`
	ScopeType *string  `json:"scopeType,omitempty" enum:"all,domain" doc:"All mailboxes, which is the default, or those of a private domain."`
	DomainID  *string  `json:"domainId,omitempty" nullable:"true" maxLength:"64" doc:"The id of one of your private domains, if scopeType is domain."`
	FilterPatterns
	Priority *int    `json:"priority,omitempty" minimum:"1" maximum:"9999" doc:"Lower ones are tried first; 100 by default."`
	Status   *string `json:"status,omitempty" enum:"active,disabled" doc:"Active by default."`
}

// FilterPatterns are the patterns of a filter. The type is exported because the library sees only exported embedded types.
type FilterPatterns struct {
	FromPattern    *string `json:"fromPattern,omitempty" nullable:"true" maxLength:"512" doc:"RE2, searched in the sender's address regardless of case; every sender if absent or null."`
	SubjectPattern *string `json:"subjectPattern,omitempty" nullable:"true" maxLength:"512" doc:"RE2, searched in the subject regardless of case; every subject if absent or null."`
	ExtractRegex   string  `json:"extractRegex" minLength:"1" maxLength:"512" doc:"RE2, searched in the subject, a newline and the text." example:"order (\\d{6})"`
}

func (p FilterPatterns) patterns() filter.Patterns {
	return filter.Patterns{From: value(p.FromPattern), Subject: value(p.SubjectPattern), Extract: p.ExtractRegex}
}

// domain returns the private domain that a filter is for, "" for none. Error: request.invalid.
func (c filterCreation) domain() (id.Domain, error) {
	scoped := value(c.ScopeType) == scopeDomain
	switch {
	case !scoped && c.DomainID == nil:
		return "", nil
	case !scoped:
		return "", problem.Invalid("/domainId", "is only allowed where scopeType is domain")
	case c.DomainID == nil:
		return "", problem.Invalid("/domainId", "must name one of your private domains where scopeType is domain")
	}
	domain, err := id.Parse[id.Domain](*c.DomainID)
	if err != nil {
		return "", problem.Invalid("/domainId", "is not one of your private domains")
	}
	return domain, nil
}

func (a *API) createFilter(ctx context.Context, in *struct{ Body filterCreation }) (*httpkit.One[Filter], error) {
	domain, err := in.Body.domain()
	if err != nil {
		return nil, err
	}
	f, err := a.Filters.Create(ctx, from(ctx).account.ID, domain, filter.Settings{
		Name: in.Body.Name, Patterns: in.Body.patterns(), Priority: cmp.Or(value(in.Body.Priority), filter.PriorityDefault),
		Active: value(in.Body.Status) != statusDisabled,
	})
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownFilter(f)), nil
}

// FilterPath is the path of operations on one filter.
type FilterPath struct {
	ID string `path:"id" doc:"The filter's id."`
}

// filter returns the id in the path. A malformed id gets the same response as an unknown one.
func (p FilterPath) filter() (id.Filter, error) {
	f, err := id.Parse[id.Filter](p.ID)
	if err != nil {
		return "", problem.New(problem.FilterNotFound)
	}
	return f, nil
}

// clearable is a field of an update that may be absent, null, or a text.
type clearable struct{ text *string } // absent: nil; null: ""

// UnmarshalJSON decodes null or a text; it is not called for an absent field.
func (c *clearable) UnmarshalJSON(b []byte) error {
	c.text = new(string)
	return json.Unmarshal(b, c.text) // null leaves "" there
}

// Schema documents the field as a text or null in the OpenAPI document.
func (clearable) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// filterUpdate is the body that changes a filter.
type filterUpdate struct {
	_              struct{}  `additionalProperties:"false"`
	Name           *string   `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"A name to recognize the filter by." example:"Door codes"`
	FromPattern    clearable `json:"fromPattern,omitzero" required:"false" nullable:"true" maxLength:"512" doc:"An RE2 pattern searched for in the sender address; null matches every sender." example:"@door\\.example$"`
	SubjectPattern clearable `json:"subjectPattern,omitzero" required:"false" nullable:"true" maxLength:"512" doc:"An RE2 pattern searched for in the subject; null matches every subject." example:"(?i)access"`
	ExtractRegex   *string   `json:"extractRegex,omitempty" minLength:"1" maxLength:"512" doc:"The RE2 pattern that finds the code in subject, newline, text." example:"code is (?P<code>[0-9]{6})"`
	Priority       *int      `json:"priority,omitempty" minimum:"1" maximum:"9999" doc:"Filters are tried in ascending order of priority." example:"100"`
	Status         *string   `json:"status,omitempty" enum:"active,disabled" doc:"Disabled filters are not tried."`
}

func (u filterUpdate) change() filter.Change {
	c := filter.Change{
		Name: u.Name, From: u.FromPattern.text, Subject: u.SubjectPattern.text, Extract: u.ExtractRegex, Priority: u.Priority,
	}
	if u.Status != nil {
		active := *u.Status == statusActive
		c.Active = &active
	}
	return c
}

func (a *API) updateFilter(ctx context.Context, in *struct {
	FilterPath
	Body filterUpdate
},
) (*httpkit.One[Filter], error) {
	known, err := in.filter()
	if err != nil {
		return nil, err
	}
	f, err := a.Filters.Update(ctx, from(ctx).account.ID, known, in.Body.change())
	if err != nil {
		return nil, err
	}
	return httpkit.Single(shownFilter(f)), nil
}

func (a *API) deleteFilter(ctx context.Context, in *FilterPath) (*struct{}, error) {
	known, err := in.filter()
	if err != nil {
		return nil, err
	}
	return nil, a.Filters.Delete(ctx, from(ctx).account.ID, known)
}

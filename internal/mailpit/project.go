package mailpit

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/sink"
)

// Projects restricts requests to projects (docs/spec/projects.md#the-mailpit-api).
type Projects interface {
	// SignIn returns the project with a name and a password, or nil for a name that no project can have. Errors: auth.invalid_credentials,
	// rate.limited, and those of opening one.
	SignIn(ctx context.Context, client netip.Addr, name, password string) (*inbound.Project, error)
	// Holds reports whether a project still exists and, if it needs a password, still has this one. Wrong ones are not counted.
	Holds(ctx context.Context, client netip.Addr, p *inbound.Project, password string) (bool, error)
	// Named returns the project with a name, or nil.
	Named(ctx context.Context, name string) (*inbound.Project, error)
}

// projectPath is the beginning of the paths of projects. The name follows.
const projectPath = "/p/"

// cutProject returns the name of the project in the path of a request, and the request with the rest of the path. Without projects, or
// without a name, the request stays as it is.
func (a *API) cutProject(r *http.Request) (name string, cut *http.Request) {
	after, ok := strings.CutPrefix(r.URL.Path, projectPath)
	if !ok || a.Projects == nil {
		return "", r
	}
	name, rest, _ := strings.Cut(after, "/")
	if name == "" {
		return "", r
	}
	changed, u := *r, *r.URL
	u.Path, u.RawPath = "/"+rest, ""
	changed.URL = &u
	return name, &changed
}

// scoped returns a request whose context is restricted to a project: the one with a name, from the path, or that of the credentials. Where
// projects are optional, a request that names none gets all mail. Errors: auth.required, auth.invalid_credentials, rate.limited,
// route.not_found.
func (a *API) scoped(r *http.Request, name string) (*http.Request, error) {
	if a.Projects == nil {
		return r, nil
	}
	user, password, hasBasic := r.BasicAuth()
	if name != "" && a.ProjectsOptional { // no password is needed
		user, password, hasBasic = name, "", true
	}
	if !hasBasic {
		return a.unscoped(r)
	}
	if name == "" && a.ProjectsOptional {
		return a.scopedByUser(r, user)
	}
	p, err := a.Projects.SignIn(r.Context(), httpkit.ClientAddr(r.Context()), user, password)
	switch {
	case err != nil:
		return nil, err
	case name != "" && name != user:
		return nil, problem.New(problem.AuthInvalidCredentials)
	case p != nil:
		return withProject(r, p), nil
	case name != "":
		return nil, problem.New(problem.RouteNotFound)
	}
	return a.unscoped(r)
}

// scopedByUser is scoped for a user name where no password is needed. Tools send some name by habit, so it opens no project, and one that is
// not that of a project restricts nothing.
func (a *API) scopedByUser(r *http.Request, user string) (*http.Request, error) {
	p, err := a.Projects.Named(r.Context(), user)
	if err != nil || p == nil {
		return r, err
	}
	return withProject(r, p), nil
}

// mayGoOn reports whether a request may still have what it is restricted to: its project may have been deleted since, and its password replaced.
func (a *API) mayGoOn(r *http.Request) bool {
	p := inbound.ProjectOf(r.Context())
	if p == nil {
		return true
	}
	_, password, _ := r.BasicAuth()
	holds, err := a.Projects.Holds(r.Context(), httpkit.ClientAddr(r.Context()), p, password)
	return holds || err != nil // a database that is away takes nothing from anybody
}

// withProject returns a request whose context is restricted to a project.
func withProject(r *http.Request, p *inbound.Project) *http.Request {
	return r.WithContext(inbound.WithProject(sink.WithProject(r.Context(), p.ID), p))
}

// unscoped returns a request that names no project, if it may have all mail. Error: auth.required.
func (a *API) unscoped(r *http.Request) (*http.Request, error) {
	if a.ProjectsOptional || isProbe(r) {
		return r, nil
	}
	return nil, problem.New(problem.AuthRequired)
}

// isProbe reports whether a request asks whether the service runs.
func isProbe(r *http.Request) bool { return r.URL.Path == "/livez" || r.URL.Path == "/readyz" }

// check is Check, except that clients at any address are served where they need the credentials of a project. Errors:
// access.client_not_allowed, access.host_not_allowed, access.origin_not_allowed.
func (a *API) check(r *http.Request) error {
	switch {
	case a.Projects == nil || a.ProjectsOptional:
		return a.Check(r)
	case !isOperation(r) && local.IsNavigation(r):
		return a.Local.CheckHost(r)
	}
	if err := a.Local.CheckHost(r); err != nil {
		return err
	}
	return a.Local.CheckOrigin(r)
}

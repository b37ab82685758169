package app

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/local"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/mailpit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/project"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

func (a *App) newProjects(entitled entitlements) *project.Service {
	return project.New(project.Parts{DB: a.db, Clock: a.clock, Plans: entitled, Mailboxes: a.mailboxes, Messages: a.messages, AccountOf: a.accountOf})
}

// hasProjects reports whether the service has projects.
func (a *App) hasProjects() bool { return a.cfg.SMTP.Projects == "on" }

// listsSink reports whether the Mailpit API lists all mail, and not that of projects alone.
func (a *App) listsSink() bool { return a.cfg.IsDev() || !a.hasProjects() }

// accountOf returns the account with an e-mail address, for package project. Error: account.not_found.
func (a *App) accountOf(ctx context.Context, email string) (id.Account, error) {
	owner, err := a.registry.Find(ctx, email)
	return ownerID(owner), err
}

// projects signs clients in to projects, over SMTP and for the Mailpit API, and gives package inbound what it needs of them.
type projects struct{ *App }

// lockedMax bounds App.lockedOut.
const lockedMax = 10_000

// attempt identifies the sign-ins of a client to a project, by which wrong passwords are counted. A name alone does not: otherwise anyone could
// lock a project's own clients out.
func attempt(name string, client netip.Addr) string {
	return "project " + name + " " + ratelimit.AddrIdentity(client)
}

// checkAttempts refuses a client that has sent too many wrong passwords for a project, or for any, whatever the next one is. Error:
// rate.limited.
func (a projects) checkAttempts(name string, client netip.Addr) error {
	now := a.clock.Now()
	for _, identity := range []string{attempt(name, client), ratelimit.AddrIdentity(client)} {
		if _, locked := a.lockedOut.Get(identity, now); locked {
			return problem.New(problem.RateLimited)
		}
	}
	return nil
}

// countAttempt counts a wrong password as a sign-in. Right ones are not counted, since a client may sign in for each mail.
func (a projects) countAttempt(name string, client netip.Addr) {
	limits, now := a.cfg.Limits, a.clock.Now()
	for _, c := range []struct {
		name     ratelimit.Name
		identity string
		limit    ratelimit.Limit
	}{{ratelimit.SignIn, attempt(name, client), limits.SignIn}, {ratelimit.SignInAddress, ratelimit.AddrIdentity(client), limits.SignInAddress}} {
		if d := a.limiter.Take(c.name, c.identity, c.limit, 1); len(c.limit) > 0 && d.Remaining == 0 {
			a.lockedOut.Put(c.identity, struct{}{}, 1, now.Add(max(d.Reset, d.RetryAfter)))
		}
	}
	a.metrics.counts.observeWrongPassword()
	a.log.Info("sign-in to a project failed", "project", name, "ip", client)
}

// envelopeOf returns a project as package inbound needs it.
func envelopeOf(p *project.Project) *inbound.Project {
	return &inbound.Project{ID: p.ID, Name: p.Name, Account: p.Account, Mailbox: p.Mailbox, Address: mailbox.ProjectAddress(p.Name), Retention: p.Retention}
}

// Named returns the project with a name, or nil.
func (a projects) Named(ctx context.Context, name string) (*inbound.Project, error) {
	p, err := a.projects.Named(ctx, name)
	if err != nil || p == nil {
		return nil, err
	}
	return envelopeOf(p), nil
}

// TrimTx erases the oldest messages of projects that have too many.
func (a projects) TrimTx(ctx context.Context, tx *db.Tx, arrived map[id.Mailbox]int) error {
	return a.projects.TrimTx(ctx, tx, arrived)
}

// Offered reports whether an SMTP client may sign in: a password is not sent in clear text but within a private network.
func (a projects) Offered(client netip.Addr, encrypted bool) bool {
	return encrypted || local.IsAddr(client)
}

// SignIn returns the project with a name and a password, or nil for a name that no project can have. Under profile: dev any password is
// right for clients on loopback and private networks, and a name that is not used opens a project. Errors: auth.invalid_credentials,
// rate.limited, server.unavailable, and those of opening one.
func (a projects) SignIn(ctx context.Context, client netip.Addr, name, password string) (*inbound.Project, error) {
	switch {
	case !project.ValidName(name):
		return nil, nil
	case a.cfg.IsDev() && local.IsAddr(client):
		return a.openDev(ctx, client, name)
	}
	if err := a.checkAttempts(name, client); err != nil {
		return nil, err
	}
	p, err := a.projects.SignIn(ctx, name, password)
	if problem.Has(err, problem.AuthInvalidCredentials) {
		a.countAttempt(name, client)
	}
	if err != nil {
		return nil, err
	}
	return envelopeOf(p), nil
}

// Holds reports whether a project still exists and, where it needs a password, still has this one.
func (a projects) Holds(ctx context.Context, client netip.Addr, p *inbound.Project, password string) (bool, error) {
	now, err := a.projects.Named(ctx, p.Name)
	if err != nil || now == nil || now.ID != p.ID {
		return false, err
	}
	return a.cfg.IsDev() && local.IsAddr(client) || now.HasPassword(password), nil
}

// openPerMinute is how many projects a client may open by signing in, in a minute. Their number is bounded by the plan of the account.
const openPerMinute = 600

// openDev returns the project with a name, and opens it for the account of profile: dev if there is none.
func (a projects) openDev(ctx context.Context, client netip.Addr, name string) (*inbound.Project, error) {
	p, err := a.projects.Named(ctx, name)
	if err == nil && p == nil {
		limit := ratelimit.Limit{{Count: openPerMinute, Per: time.Minute}}
		if d := a.limiter.Take(ratelimit.ProjectOpen, ratelimit.AddrIdentity(client), limit, 1); !d.OK {
			return nil, problem.New(problem.RateLimited)
		}
		p, err = a.projects.Open(ctx, a.devOwner, name)
	}
	if err != nil {
		return nil, err
	}
	return envelopeOf(p), nil
}

// projectsOfMailpit returns what the Mailpit API needs of projects, nil where there are none.
func (a *App) projectsOfMailpit() mailpit.Projects {
	if !a.hasProjects() {
		return nil
	}
	return projects{a}
}

// mailpitURL returns the address of the Mailpit API of a project, "" where it is off.
func (a *App) mailpitURL(name string) string {
	if a.cfg.Compat.Mailpit.Addr == "" {
		return ""
	}
	port := ""
	if a.mailpitListen != nil {
		_, port, _ = net.SplitHostPort(a.mailpitListen.Addr().String())
	} else if _, p, err := net.SplitHostPort(a.cfg.Compat.Mailpit.Addr); err == nil { // another process has the port
		port = p
	}
	base, err := url.Parse(a.baseURL)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: "http", Host: net.JoinHostPort(base.Hostname(), port), Path: a.cfg.Compat.Mailpit.Path + "/p/" + name}).String()
}

package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/project"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// projects registers the group projects (docs/spec/projects.md).
func (a *API) projects() {
	const group = "projects"
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/projects" + path, Summary: summary, Status: status, Codes: append(codes, problem.ProjectDisabled),
			Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
		}
	}
	list := with(http.MethodGet, "list-projects", "", "List the projects", 200)
	list.Text = "Newest first: those of the account, and those that it is a member of; each with a new token of its mailbox."
	registerForKeys(a, group, list, apikey.MailboxesRead, a.listProjects)
	create := with(http.MethodPost, "create-project", "", "Create a project", 201, problem.ProjectNameTaken, problem.ProjectLimitReached)
	create.Text = "`smtp.password` is present in this response and in that of a rotation alone, since only its hash is stored."
	registerForKeys(a, group, create, apikey.MailboxesWrite, a.createProject)
	get := with(http.MethodGet, "get-project", "/{id}", "Show a project", 200, problem.ProjectNotFound)
	get.Text = "The project's name serves as its id."
	registerForKeys(a, group, get, apikey.MailboxesRead, a.getProject)

	owners := []problem.Code{problem.ProjectNotFound, problem.ProjectOwnerOnly}
	update := with(http.MethodPatch, "update-project", "/{id}", "Change a project", 200, problem.ProjectNotFound, problem.ProjectOwnerOnly, problem.ProjectNameTaken)
	update.Text = "Only owners may. Fields that are left out keep their values. Messages that the project may no longer keep are deleted before the response is sent."
	register(a, group, update, a.updateProject)
	remove := with(http.MethodDelete, "delete-project", "/{id}", "Delete a project with its mail", 204, owners...)
	remove.Text = "Only owners may. Its tokens and its password are void at once, and its mail is erased within a minute."
	register(a, group, remove, a.deleteProject)
	rotate := with(http.MethodPost, "rotate-project-password", "/{id}/password", "Give a project a new password", 200, owners...)
	rotate.Text = "Only owners may. The old password is void at once; SMTP sessions that have signed in go on."
	register(a, group, rotate, a.rotateProjectPassword)
	put := with(http.MethodPut, "set-project-member", "/{id}/members/{email}", "Add a member to a project, or change its role", 200, append(owners, problem.AccountNotFound)...)
	put.Text = "Only owners may. The account must exist. A member reads, marks and deletes messages, and sees them in its list of all messages."
	register(a, group, put, a.setProjectMember)
	leave := with(http.MethodDelete, "remove-project-member", "/{id}/members/{email}", "Remove a member from a project", 204, append(owners, problem.AccountNotFound)...)
	leave.Text = "Only owners may. All tokens of the project are void from then on, since the member may have one: the others get new ones with the project."
	register(a, group, leave, a.removeProjectMember)
}

// Project is a project as its members see it (docs/spec/projects.md).
type Project struct {
	ID           id.Project      `json:"id" doc:"Identifies the project." example:"prj_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	Name         string          `json:"name" doc:"The name, which is unique in the service." example:"shop-tests"`
	CreatedAt    clock.Stamp     `json:"createdAt" doc:"When it was created."`
	Retention    int64           `json:"retention" doc:"Seconds for which messages are kept." example:"604800"`
	MaxMessages  int             `json:"maxMessages" doc:"How many messages are kept. Beyond it the oldest goes." example:"1000"`
	MessageCount int             `json:"messageCount" doc:"How many messages it has." example:"12"`
	MailboxID    id.Mailbox      `json:"mailboxId" doc:"The mailbox that its mail is in. Every call on mailboxes works on it."`
	Token        string          `json:"token,omitempty" doc:"A token of the mailbox. Absent for developer keys without messages:read and otp:read."`
	SMTP         ProjectSMTP     `json:"smtp" doc:"What an application signs in with over SMTP."`
	Mailpit      ProjectMailpit  `json:"mailpit" doc:"The Mailpit API of the project."`
	Members      []ProjectMember `json:"members" nullable:"false" doc:"The accounts that use it, the one that it belongs to first."`
}

// ProjectSMTP is what an application signs in with.
type ProjectSMTP struct {
	Username string `json:"username" doc:"The name of the project." example:"shop-tests"`
	Password string `json:"password,omitempty" doc:"Shown only when it is created or rotated." example:"u5h2kq7xv3mz4ct6pw8yb9ndre"`
}

// ProjectMailpit is where the Mailpit API of a project is.
type ProjectMailpit struct {
	URL string `json:"url" doc:"The base URL; empty where the service has no Mailpit API." example:"http://localhost:8025/p/shop-tests"`
}

// ProjectMember is an account that uses a project.
type ProjectMember struct {
	Email string       `json:"email" doc:"The e-mail address of the account." example:"ada@example.org"`
	Role  project.Role `json:"role" enum:"owner,member" doc:"A member reads, marks and deletes messages; an owner changes the project as well."`
}

// accountOf returns the account of the caller: that of a user token or of a developer key.
func accountOf(ctx context.Context) id.Account {
	if c := from(ctx); c.account != nil {
		return c.account.ID
	}
	return from(ctx).key.Account
}

// checkProjects returns project.disabled where the service has no projects.
func (a *API) checkProjects() error {
	if a.ProjectsOff {
		return problem.New(problem.ProjectDisabled)
	}
	return nil
}

// shownProject returns a project as the caller sees it. password is "" unless it is to be shown. Error: project.not_found if it has ended.
func (a *API) shownProject(ctx context.Context, p *project.Project, password string) (shown Project, err error) {
	m, err := a.Mailboxes.Get(ctx, p.Mailbox)
	if err != nil {
		return shown, err
	}
	if m == nil || !m.Live(a.kit.Clock.Now()) {
		return shown, problem.New(problem.ProjectNotFound)
	}
	members, err := a.Projects.Members(ctx, p)
	if err != nil {
		return shown, err
	}
	shown = Project{
		ID: p.ID, Name: p.Name, CreatedAt: clock.Stamp{Time: p.CreatedAt}, Retention: clock.Seconds(p.Retention), MaxMessages: p.MaxMessages,
		MessageCount: m.MessageCount, MailboxID: p.Mailbox, Token: a.tokenFor(ctx, m), SMTP: ProjectSMTP{Username: p.Name, Password: password},
		Mailpit: ProjectMailpit{URL: a.MailpitURL(p.Name)}, Members: make([]ProjectMember, len(members)),
	}
	for i, member := range members {
		shown.Members[i] = ProjectMember(member)
	}
	return shown, nil
}

// oneProject returns the response with a project, unless err is not nil.
func (a *API) oneProject(ctx context.Context, p *project.Project, password string, err error) (*httpkit.One[Project], error) {
	if err != nil {
		return nil, err
	}
	shown, err := a.shownProject(ctx, p, password)
	return httpkit.Single(shown), err
}

func (a *API) listProjects(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[Project], error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	last, err := httpkit.Before[id.Project](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Projects.List(ctx, accountOf(ctx), last, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(p *project.Project) string { return string(p.ID) })
	shown := make([]Project, 0, len(all))
	for _, p := range all {
		one, err := a.shownProject(ctx, p, "")
		if problem.Has(err, problem.ProjectNotFound) { // it has ended since
			continue
		}
		if err != nil {
			return nil, err
		}
		shown = append(shown, one)
	}
	return httpkit.Page(shown, next), nil
}

// projectCreation is the body that creates a project.
type projectCreation struct {
	_           struct{} `additionalProperties:"false"`
	Name        string   `json:"name" minLength:"1" maxLength:"40" pattern:"^[a-z0-9][a-z0-9-]*$" doc:"The name, with which applications sign in." example:"shop-tests"`
	Retention   *int64   `json:"retention,omitempty" minimum:"60" maximum:"31622400" doc:"Seconds for which messages are kept; 604800 if absent."`
	MaxMessages *int     `json:"maxMessages,omitempty" minimum:"1" maximum:"100000" doc:"How many messages are kept; 1000 if absent."`
}

func (a *API) createProject(ctx context.Context, in *struct{ Body projectCreation }) (*httpkit.One[Project], error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	p, password, err := a.Projects.Create(ctx, accountOf(ctx), project.Params{
		Name: in.Body.Name, Retention: seconds(in.Body.Retention), MaxMessages: value(in.Body.MaxMessages),
	})
	return a.oneProject(ctx, p, password, err)
}

// ProjectPath is the path of operations on one project.
type ProjectPath struct {
	ID string `path:"id" doc:"The project's id, or its name."`
}

func (a *API) getProject(ctx context.Context, in *ProjectPath) (*httpkit.One[Project], error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	p, err := a.Projects.Find(ctx, accountOf(ctx), in.ID)
	return a.oneProject(ctx, p, "", err)
}

// projectUpdate is the body that changes a project.
type projectUpdate struct {
	_           struct{} `additionalProperties:"false"`
	Name        *string  `json:"name,omitempty" minLength:"1" maxLength:"40" pattern:"^[a-z0-9][a-z0-9-]*$" doc:"Another name. Applications must sign in with it from then on."`
	Retention   *int64   `json:"retention,omitempty" minimum:"60" maximum:"31622400" doc:"Seconds for which messages are kept."`
	MaxMessages *int     `json:"maxMessages,omitempty" minimum:"1" maximum:"100000" doc:"How many messages are kept."`
}

func (a *API) updateProject(ctx context.Context, in *struct {
	ProjectPath
	Body projectUpdate
},
) (*httpkit.One[Project], error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	c := project.Changes{Name: in.Body.Name, MaxMessages: in.Body.MaxMessages}
	if in.Body.Retention != nil {
		retention := time.Duration(*in.Body.Retention) * time.Second
		c.Retention = &retention
	}
	a.kit.Extend(ctx, changeTime)
	p, err := a.Projects.Update(ctx, accountOf(ctx), in.ID, c)
	return a.oneProject(ctx, p, "", err)
}

func (a *API) deleteProject(ctx context.Context, in *ProjectPath) (*struct{}, error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	return nil, a.Projects.Delete(ctx, accountOf(ctx), in.ID)
}

func (a *API) rotateProjectPassword(ctx context.Context, in *ProjectPath) (*httpkit.One[Project], error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	p, password, err := a.Projects.RotatePassword(ctx, accountOf(ctx), in.ID)
	return a.oneProject(ctx, p, password, err)
}

// MemberPath is the path of operations on a member of a project.
type MemberPath struct {
	ProjectPath
	Email string `path:"email" maxLength:"255" doc:"The e-mail address of the account."`
}

// projectMembership is the body that sets the role of a member.
type projectMembership struct {
	_    struct{}     `additionalProperties:"false"`
	Role project.Role `json:"role,omitempty" enum:"owner,member" doc:"What the account may do; member if absent."`
}

func (a *API) setProjectMember(ctx context.Context, in *struct {
	MemberPath
	Body *projectMembership `required:"false"`
},
) (*httpkit.One[Project], error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	role := project.PlainMember
	if in.Body != nil && in.Body.Role != "" {
		role = in.Body.Role
	}
	p, err := a.Projects.SetMember(ctx, accountOf(ctx), in.ID, in.Email, role)
	return a.oneProject(ctx, p, "", err)
}

func (a *API) removeProjectMember(ctx context.Context, in *MemberPath) (*struct{}, error) {
	if err := a.checkProjects(); err != nil {
		return nil, err
	}
	return nil, a.Projects.RemoveMember(ctx, accountOf(ctx), in.ID, in.Email)
}

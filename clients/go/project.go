package gonebox

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Project is a project, as Gonebox.Project returns it: the methods of a mailbox, in which To says which address is meant.
type Project struct {
	*Mailbox
	Name    string
	SMTP    ProjectSMTP
	Mailpit string // the URL of the Mailpit API of the project; "" where the service has none

	id      string
	service *Gonebox
}

// ProjectSMTP is what the application under test signs in with.
type ProjectSMTP struct {
	Username string
	Password string // "" for a project that was there already; a service that runs with --dev takes any
}

// projectData is a project as the service sends it.
type projectData struct {
	ID, Name, MailboxID, Token string
	SMTP                       ProjectSMTP
	Mailpit                    struct{ URL string }
}

// Project opens the project with a name, and creates it if there is none: a mailbox for every address that an application sends to while it is
// signed in as the project over SMTP. Without a key this needs a service on this machine that runs with --dev. Errors: *Error, such as
// project.limit_reached, project.disabled and client.scope_missing.
func (g *Gonebox) Project(ctx context.Context, name string) (*Project, error) {
	c, path, err := g.owner(ctx)
	if err != nil {
		return nil, err
	}
	path += "/projects"
	var data projectData
	find := func() error { return c.data(ctx, http.MethodGet, path+"/"+url.PathEscape(name), nil, &data) }
	if err = find(); hasCode(err, "project.not_found") {
		err = c.data(ctx, http.MethodPost, path, struct {
			Name string `json:"name"`
		}{name}, &data)
		if hasCode(err, "project.name_taken") { // another worker was faster
			err = find()
		}
	}
	if err != nil {
		return nil, err
	}
	if data.Token == "" {
		return nil, &Error{Code: "client.scope_missing", Message: "the key cannot read the project: give it the scopes mailboxes:read, mailboxes:write, messages:read and otp:read"}
	}
	box := &Mailbox{
		ID: data.MailboxID, Address: "the project " + data.Name, Token: data.Token, ExpiresAt: time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC), url: g.URL,
	}
	return &Project{Mailbox: box, Name: data.Name, SMTP: data.SMTP, Mailpit: data.Mailpit.URL, id: data.ID, service: g}, nil
}

// owner returns what the calls on an account are made with, the key, or without one the account of --dev, and the beginning of their paths.
func (g *Gonebox) owner(ctx context.Context) (c caller, path string, err error) {
	c = g.call
	if c.key == "" {
		var token struct{ Token string }
		if err := c.data(ctx, http.MethodPost, "/auth/local", nil, &token); err != nil {
			return c, "", err
		}
		c.key = token.Token
	}
	if strings.HasPrefix(c.key, "x_") {
		return c, "/keys", nil
	}
	return c, "/me", nil
}

// Destroy deletes the project with its mail.
func (p *Project) Destroy(ctx context.Context) error {
	c, path, err := p.service.owner(ctx)
	if err != nil {
		return err
	}
	if path == "/keys" {
		return c.data(ctx, http.MethodDelete, "/keys/mailboxes/"+p.ID, nil, nil)
	}
	return c.data(ctx, http.MethodDelete, "/me/projects/"+p.id, nil, nil)
}

// hasCode reports whether an error is one of the service with a code.
func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

package inbound

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
)

// Project is a project that a client has signed in as: every recipient that it names is the project's, whatever its domain
// (docs/spec/projects.md).
type Project struct {
	ID        id.Project
	Name      string
	Account   id.Account // the owner
	Mailbox   id.Mailbox
	Address   string        // of the mailbox
	Retention time.Duration // how long its messages are kept, and their raw messages with them
}

// Projects knows the projects. Package app implements it.
type Projects interface {
	// Named returns the project with a name, or nil.
	Named(ctx context.Context, name string) (*Project, error)
	// TrimTx erases the oldest messages of mailboxes that have more than their projects keep. arrived says how many messages each has got
	// in this transaction.
	TrimTx(ctx context.Context, tx *db.Tx, arrived map[id.Mailbox]int) error
}

// trimProjectsTx erases the oldest messages of projects that have more than they keep. arrived is nil if no mail of the batch is a project's.
func (s *Service) trimProjectsTx(ctx context.Context, tx *db.Tx, arrived map[id.Mailbox]int) error {
	if len(arrived) == 0 {
		return nil
	}
	return s.Projects.TrimTx(ctx, tx, arrived)
}

type projectKey struct{}

// WithProject returns a context for Accept that makes all recipients those of a project.
func WithProject(ctx context.Context, p *Project) context.Context {
	return context.WithValue(ctx, projectKey{}, p)
}

// ProjectOf returns the project that WithProject stored, or nil.
func ProjectOf(ctx context.Context) *Project {
	p, _ := ctx.Value(projectKey{}).(*Project)
	return p
}

// acceptForProject accepts a recipient, whatever its address, for a project. Errors: mail.mailbox_unknown once the project was deleted, and
// those of the quotas of its account.
func (s *Service) acceptForProject(ctx context.Context, p *Project, r Recipient) (Recipient, error) {
	r.staff, r.project = false, p
	m, limits, err := s.Mailboxes.Find(ctx, p.Address)
	if err == nil && m != nil && m.ID != p.Mailbox {
		m, limits, err = s.Mailboxes.FindAnew(ctx, p.Address)
	}
	if err != nil {
		return r, err
	}
	if m == nil || m.ID != p.Mailbox { // another project may have the name by now
		return r, problem.New(problem.MailMailboxUnknown)
	}
	r.Mailbox, r.rawFor, r.owner = m.ID, p.Retention, owner{account: m.Owner.Account}
	return r, s.Mailboxes.CheckQuota(m, limits)
}

// injectable returns a context with which Accept accepts the address of a mailbox that an API client puts mail into: without a session, only
// that can be the mailbox of a project.
func (s *Service) injectable(ctx context.Context, address string) (context.Context, error) {
	name, ok := mailbox.ProjectName(address)
	if !ok || s.Projects == nil {
		return ctx, nil
	}
	p, err := s.Projects.Named(ctx, name)
	if err != nil || p == nil {
		return ctx, err
	}
	return WithProject(ctx, p), nil
}

// ofProject reports whether a mail can be stored for its project: the project may have ended since its recipients were accepted, and another
// one may have its name.
func (m *mail) ofProject(boxes *mailbox.Batch) bool {
	return m.project == nil || boxes.Holds(m.project.Address, m.project.Mailbox)
}

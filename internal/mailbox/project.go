package mailbox

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// The mailbox of a project takes mail for any address, from clients that signed in as the project (docs/spec/projects.md). It never
// expires, does not count against the plan's mailboxes, and its name has no cool-down. Package project bounds the messages in it.

// ProjectDomain is the domain of the addresses of these mailboxes. No mail server can have it (RFC 6761 §6.4), and no mail from outside
// reaches it.
const ProjectDomain = "projects.invalid"

// ProjectAddress returns the address of the mailbox of a project with a name.
func ProjectAddress(name string) string { return name + "@" + ProjectDomain }

// ProjectName returns the name of the project whose mailbox has an address; ok is false for the address of another mailbox.
func ProjectName(address string) (name string, ok bool) {
	return strings.CutSuffix(address, "@"+ProjectDomain)
}

// projectExpiry is when mailboxes of projects expire. Tokens cannot be valid for much longer.
func projectExpiry() time.Time { return time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC) }

// projectMessages is how many messages the mailbox of a project may hold, as far as receiving is concerned: the project erases the oldest.
const projectMessages = math.MaxInt32

// CreateProjectTx creates the mailbox of a project, whose name must be free.
func (s *Service) CreateProjectTx(ctx context.Context, tx *db.Tx, name string, owner id.Account) (*Mailbox, error) {
	now := s.clock.Now()
	m := &Mailbox{
		ID: id.New[id.Mailbox](now), Address: ProjectAddress(name), LocalPart: name, Domain: ProjectDomain, Owner: Owner{Account: owner}, Source: Project,
		CreatedAt: now.Truncate(time.Microsecond), ExpiresAt: projectExpiry(), epoch: 1,
	}
	if err := insert(ctx, tx, m); err != nil {
		return nil, err
	}
	return m, s.publishCreatedTx(ctx, tx, m)
}

// RenameProjectTx gives the mailbox of a project the address of another name, which must be free.
func (s *Service) RenameProjectTx(ctx context.Context, tx *db.Tx, m *Mailbox, name string) error {
	if _, err := tx.Exec(ctx, updateName, m.ID, ProjectAddress(name), name); err != nil {
		return err
	}
	tx.AfterCommit(func() {
		s.recent.forget(m.Address)
		s.opened.Forget(m.ID)
	})
	return nil
}

// EndProjectTx ends the mailbox of a project, and with it the project.
func (s *Service) EndProjectTx(ctx context.Context, tx *db.Tx, box id.Mailbox) error {
	m, err := one(ctx, tx, selectByID, box)
	if err != nil || m == nil || m.ended {
		return err
	}
	return s.endTx(ctx, tx, m, m.epoch+1, s.clock.Now())
}

// errOfProject is the error of a call that would end the mailbox of a project with a token, which every member has.
func errOfProject() error {
	return problem.Detailf(problem.ProjectOwnerOnly, "the mailbox belongs to a project; its owner deletes it together with the project")
}

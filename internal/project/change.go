package project

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Changes are new values of a project; nil leaves a value as it is.
type Changes struct {
	Name        *string
	Retention   *time.Duration
	MaxMessages *int
}

// asOwner runs a change of a project by an account, which must be one of its owners. Errors: project.not_found, project.owner_only.
func (s *Service) asOwner(ctx context.Context, account id.Account, which string, change func(context.Context, *db.Tx, *Project) error) (*Project, error) {
	var p *Project
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		var role Role
		if p, role, err = find(ctx, tx, account, which); err != nil {
			return err
		}
		if role != Owner {
			return problem.New(problem.ProjectOwnerOnly)
		}
		return change(ctx, tx, p)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Update changes a project. Messages that it may no longer keep are deleted before it returns. Errors: project.not_found,
// project.owner_only, project.name_taken, request.invalid.
func (s *Service) Update(ctx context.Context, account id.Account, which string, c Changes) (*Project, error) {
	p, err := s.asOwner(ctx, account, which, func(ctx context.Context, tx *db.Tx, p *Project) error {
		former := p.Name
		if c.Name != nil {
			p.Name = *c.Name
		}
		if c.Retention != nil {
			p.Retention = *c.Retention
		}
		if c.MaxMessages != nil {
			p.MaxMessages = *c.MaxMessages
		}
		if err := check(p.Name, p.Retention, p.MaxMessages); err != nil {
			return err
		}
		if p.Name != former {
			if err := s.renameTx(ctx, tx, p); err != nil {
				return err
			}
		}
		return updateTx(ctx, tx, p)
	})
	if err != nil {
		return nil, err
	}
	return p, s.trim(ctx, p)
}

func (s *Service) renameTx(ctx context.Context, tx *db.Tx, p *Project) error {
	if taken, err := one(ctx, tx, selectByName, p.Name); err != nil || taken != nil {
		return orTaken(err)
	}
	m, err := s.Mailboxes.GetTx(ctx, tx, p.Mailbox)
	if err != nil {
		return err
	}
	return s.Mailboxes.RenameProjectTx(ctx, tx, m, p.Name)
}

// RotatePassword gives a project another password and returns it. Sessions that are signed in go on. Errors: project.not_found,
// project.owner_only.
func (s *Service) RotatePassword(ctx context.Context, account id.Account, which string) (p *Project, password string, err error) {
	password = newPassword()
	p, err = s.asOwner(ctx, account, which, func(ctx context.Context, tx *db.Tx, p *Project) error {
		p.password = hashOf(password)
		return updateTx(ctx, tx, p)
	})
	return p, password, err
}

// Delete ends a project with its mailbox. Its tokens and its password are void when it returns, and its contents are erased within a minute.
// Errors: project.not_found, project.owner_only.
func (s *Service) Delete(ctx context.Context, account id.Account, which string) error {
	_, err := s.asOwner(ctx, account, which, func(ctx context.Context, tx *db.Tx, p *Project) error {
		return s.Mailboxes.EndProjectTx(ctx, tx, p.Mailbox)
	})
	return err
}

// SetMember makes an account a member of a project, or changes its role. The account that the project belongs to stays its owner. Errors:
// project.not_found, project.owner_only, account.not_found, request.invalid.
func (s *Service) SetMember(ctx context.Context, account id.Account, which, email string, role Role) (*Project, error) {
	return s.withMember(ctx, account, which, email, func(ctx context.Context, tx *db.Tx, p *Project, member id.Account) error {
		if member == p.Account {
			if role == Owner {
				return nil
			}
			return errOfOwner()
		}
		return s.Mailboxes.SetMemberTx(ctx, tx, p.Mailbox, member, string(role))
	})
}

// RemoveMember ends an account's membership, and all tokens of the project, since the member may have one: the others get new ones with
// the project. Errors: project.not_found, project.owner_only, account.not_found, request.invalid.
func (s *Service) RemoveMember(ctx context.Context, account id.Account, which, email string) error {
	_, err := s.withMember(ctx, account, which, email, func(ctx context.Context, tx *db.Tx, p *Project, member id.Account) error {
		if member == p.Account {
			return errOfOwner()
		}
		was, err := s.Mailboxes.RemoveMemberTx(ctx, tx, p.Mailbox, member)
		if err == nil && !was {
			err = errNoMember()
		}
		return err
	})
	return err
}

// withMember runs a change that concerns the account with an e-mail address.
func (s *Service) withMember(ctx context.Context, account id.Account, which, email string, change func(context.Context, *db.Tx, *Project, id.Account) error) (*Project, error) {
	_, role, err := find(ctx, s.DB, account, which) // before anything is said about the other account
	if err == nil && role != Owner {
		err = problem.New(problem.ProjectOwnerOnly)
	}
	if err != nil {
		return nil, err
	}
	member, err := s.AccountOf(ctx, email)
	if err != nil {
		return nil, err
	}
	return s.asOwner(ctx, account, which, func(ctx context.Context, tx *db.Tx, p *Project) error { return change(ctx, tx, p, member) })
}

func errOfOwner() error {
	return problem.Invalid("/email", "the project belongs to this account, which stays its owner")
}

func errNoMember() error {
	return problem.Detailf(problem.AccountNotFound, "this account is no member of the project")
}

// Members returns the accounts that use a project: the one that it belongs to, and then the others by their e-mail addresses.
func (s *Service) Members(ctx context.Context, p *Project) ([]Member, error) {
	return members(ctx, s.DB, p)
}

// Package project implements projects: mail of many applications, apart (docs/spec/projects.md). A project is a mailbox that takes mail for
// any address from clients that signed in as the project, with a name, a password, members, and bounds of what it keeps. Package mailbox has
// the mailbox and its members, and package message the messages; every call on mailboxes works on that of a project.
//
// A project ends with its mailbox: a trigger of the database deletes its row, whatever ends the mailbox.
package project

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"regexp"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

// NamePattern is what the name of a project must match.
const NamePattern = `^[a-z0-9][a-z0-9-]{0,39}$`

var namePattern = regexp.MustCompile(NamePattern)

// ValidName reports whether a project can have a name.
func ValidName(name string) bool { return namePattern.MatchString(name) }

// The bounds and defaults of what a project keeps.
const (
	DefaultRetention = 7 * 24 * time.Hour
	MinRetention     = time.Minute
	MaxRetention     = 366 * 24 * time.Hour
	DefaultMessages  = 1000
	MaxMessages      = 100_000
)

// Role is what an account may do with a project.
type Role string

// The roles. A member reads, marks and deletes messages; an owner changes the project as well.
const (
	Owner       Role = "owner"
	PlainMember Role = "member"
)

// Project is a project as it is stored.
type Project struct {
	ID          id.Project
	Name        string
	Account     id.Account // the owner, whose plan it counts for
	Mailbox     id.Mailbox
	Retention   time.Duration // how long messages are kept
	MaxMessages int           // how many messages are kept: beyond it the oldest goes
	CreatedAt   time.Time

	password []byte // SHA-256
}

// Member is an account that uses a project.
type Member struct {
	Email string
	Role  Role
}

// Plans knows the quotas of accounts.
type Plans interface {
	ProjectsMax(ctx context.Context, account id.Account) (int, error)
}

// Parts are the dependencies of a Service.
type Parts struct {
	DB        *db.DB
	Clock     clock.Clock
	Plans     Plans
	Mailboxes *mailbox.Service
	Messages  *message.Service
	// AccountOf returns the account with an e-mail address. Error: account.not_found.
	AccountOf func(ctx context.Context, email string) (id.Account, error)
}

// Service implements projects. It is safe for concurrent use.
type Service struct{ Parts }

// New returns a Service. Sweep must be called every few seconds.
func New(p Parts) *Service { return &Service{p} }

// Params are the parameters of Create. The service chooses the values that are zero.
type Params struct {
	Name        string
	Retention   time.Duration
	MaxMessages int
}

func (p *Params) complete() error {
	if p.Retention == 0 {
		p.Retention = DefaultRetention
	}
	if p.MaxMessages == 0 {
		p.MaxMessages = DefaultMessages
	}
	return check(p.Name, p.Retention, p.MaxMessages)
}

// check checks the values of a project. Error: request.invalid.
func check(name string, retention time.Duration, messages int) error {
	switch {
	case !ValidName(name):
		return problem.Invalid("/name", "must be 1 to 40 of a-z 0-9 -, and not begin with -")
	case retention < MinRetention || retention > MaxRetention:
		return problem.Invalid("/retention", "must be %d to %d seconds", clock.Seconds(MinRetention), clock.Seconds(MaxRetention))
	case messages < 1 || messages > MaxMessages:
		return problem.Invalid("/maxMessages", "must be 1 to %d", MaxMessages)
	}
	return nil
}

// Create creates a project of an account, and returns it with its password, which cannot be read again. Errors: request.invalid,
// project.name_taken, project.limit_reached.
func (s *Service) Create(ctx context.Context, account id.Account, p Params) (created *Project, password string, err error) {
	if err := p.complete(); err != nil {
		return nil, "", err
	}
	most, err := s.Plans.ProjectsMax(ctx, account)
	if err != nil {
		return nil, "", err
	}
	password = newPassword()
	err = s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := countTx(ctx, tx, account)
		if err != nil {
			return err
		}
		if n >= most {
			return problem.Detailf(problem.ProjectLimitReached, "the account has %d projects, which is what the plan allows", n)
		}
		if taken, err := one(ctx, tx, selectByName, p.Name); err != nil || taken != nil {
			return orTaken(err)
		}
		m, err := s.Mailboxes.CreateProjectTx(ctx, tx, p.Name, account)
		if err != nil {
			return err
		}
		created = &Project{
			ID: id.New[id.Project](m.CreatedAt), Name: p.Name, Account: account, Mailbox: m.ID, Retention: p.Retention, MaxMessages: p.MaxMessages,
			CreatedAt: m.CreatedAt, password: hashOf(password),
		}
		return insertTx(ctx, tx, created)
	})
	if err != nil {
		return nil, "", err
	}
	return created, password, nil
}

// orTaken returns err, or project.name_taken if it is nil.
func orTaken(err error) error {
	if err == nil {
		err = problem.New(problem.ProjectNameTaken)
	}
	return err
}

// newPassword returns a random password of 130 bits. It need not be hashed slowly.
func newPassword() string { return strings.ToLower(rand.Text()) }

func hashOf(password string) []byte {
	sum := sha256.Sum256([]byte(password))
	return sum[:]
}

// Open returns the project with a name, and creates it for an account if there is none. Errors: those of Create.
func (s *Service) Open(ctx context.Context, account id.Account, name string) (*Project, error) {
	for try := 0; ; try++ {
		p, err := s.Named(ctx, name)
		if err != nil || p != nil {
			return p, err
		}
		p, _, err = s.Create(ctx, account, Params{Name: name})
		if try > 0 || !problem.Has(err, problem.ProjectNameTaken) { // another client was faster
			return p, err
		}
	}
}

// Named returns the project with a name, or nil.
func (s *Service) Named(ctx context.Context, name string) (*Project, error) {
	if !ValidName(name) {
		return nil, nil
	}
	return one(ctx, s.DB, selectByName, name)
}

// SignIn returns the project with a name and a password. Error: auth.invalid_credentials.
func (s *Service) SignIn(ctx context.Context, name, password string) (*Project, error) {
	p, err := s.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	if p == nil || !p.HasPassword(password) {
		return nil, problem.New(problem.AuthInvalidCredentials)
	}
	return p, nil
}

// HasPassword reports whether a password is that of the project.
func (p *Project) HasPassword(password string) bool {
	return subtle.ConstantTimeCompare(p.password, hashOf(password)) == 1
}

// Find returns a project that an account owns or is a member of, by its identifier or its name. The error is the same for a project of
// others and one that does not exist: project.not_found.
func (s *Service) Find(ctx context.Context, account id.Account, which string) (*Project, error) {
	p, _, err := find(ctx, s.DB, account, which)
	return p, err
}

// List returns at most max projects that an account owns or is a member of, newest first: those older than before, or the newest if before
// is "".
func (s *Service) List(ctx context.Context, account id.Account, before id.Project, max int) ([]*Project, error) {
	return list(ctx, s.DB, account, before, max)
}

// Package domain holds the mail domains of the service: the public ones, where anybody gets a mailbox. It keeps them in
// memory, since every mail asks; it refuses to know mailboxes.
package domain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/net/idna"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Public is a domain where anybody may make a mailbox.
type Public struct {
	Name   string // lower-case A-labels
	Active bool   // an inactive one takes no new mailboxes; mail for those it has still comes in
}

// Service is the use of mail domains.
type Service struct {
	db         *db.DB
	clock      clock.Clock
	configured []string
	public     atomic.Pointer[[]Public] // as last read by Reload: the configured ones first
}

// New assembles the service. The configured domains are served as long as they are configured, and active unless a
// command disabled them; more may be added by command. Reload must be called before the service is used.
func New(d *db.DB, c clock.Clock, configured []string) *Service {
	s := &Service{db: d, clock: c, configured: configured}
	s.public.Store(&[]Public{})
	return s
}

// Reload reads the domains again. Another process may have changed them, so it is called now and then.
func (s *Service) Reload(ctx context.Context) error {
	stored, err := selectAll(ctx, s.db)
	if err != nil {
		return err
	}
	all := make([]Public, 0, len(s.configured)+len(stored))
	for _, name := range s.configured {
		i := slices.IndexFunc(stored, func(p Public) bool { return p.Name == name })
		all = append(all, Public{Name: name, Active: i < 0 || stored[i].Active})
	}
	for _, p := range stored {
		if !slices.Contains(s.configured, p.Name) {
			all = append(all, p)
		}
	}
	s.public.Store(&all)
	return nil
}

// Public lists the active public domains (spec §4 mailboxes, GET /domains), the default first.
func (s *Service) Public() []Public {
	return slices.DeleteFunc(slices.Clone(*s.public.Load()), func(p Public) bool { return !p.Active })
}

// All lists every public domain, active or not.
func (s *Service) All() []Public { return slices.Clone(*s.public.Load()) }

// Choose returns the domain for a new mailbox: the wished one, or the first public one where none is wished.
// Error: mailbox.domain_unavailable.
func (s *Service) Choose(_ context.Context, wished string, _ id.Account) (string, error) {
	active := s.Public()
	if wished == "" {
		if len(active) == 0 {
			return "", problem.Detailf(problem.MailboxDomainUnavailable, "the service has no active domain")
		}
		return active[0].Name, nil
	}
	name, err := Normalize(wished)
	if err != nil || !slices.ContainsFunc(active, func(p Public) bool { return p.Name == name }) {
		return "", problem.Detailf(problem.MailboxDomainUnavailable, "GET /domains lists the domains to choose from")
	}
	return name, nil
}

// Served tells whether mail for a domain (lower-case A-labels) is taken. Error: mail.domain_not_served.
func (s *Service) Served(name string) error {
	for _, p := range *s.public.Load() {
		if p.Name == name {
			return nil
		}
	}
	return problem.New(problem.MailDomainNotServed)
}

// Add makes a public domain, or makes it active again. Error: request.invalid.
func (s *Service) Add(ctx context.Context, name string) error {
	normal, err := Normalize(name)
	if err != nil {
		return err
	}
	return s.store(ctx, normal, true)
}

// Disable keeps new mailboxes out of a public domain; mail for those it has still comes in. Error: domain.not_found.
func (s *Service) Disable(ctx context.Context, name string) error {
	normal, err := Normalize(name)
	if err != nil || !slices.ContainsFunc(s.All(), func(p Public) bool { return p.Name == normal }) {
		return problem.Detailf(problem.DomainNotFound, "%q is not one of the service's domains; gonebox domain list shows them", name)
	}
	return s.store(ctx, normal, false)
}

func (s *Service) store(ctx context.Context, name string, active bool) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, upsertPublic, name, active, s.clock.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("store domain %s: %w", name, err)
	}
	return s.Reload(ctx)
}

// profile is strict: what a mail client or a person types is mapped to lower-case A-labels, and what DNS cannot hold is refused.
var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true), idna.StrictDomainName(true), idna.Transitional(false))

// Normalize returns a domain in lower-case A-labels, without a trailing dot. Error: request.invalid on /domain.
func Normalize(name string) (string, error) {
	ascii, err := profile.ToASCII(strings.TrimSuffix(name, "."))
	if err != nil || ascii == "" {
		return "", problem.Invalid("/domain", "%q is not a domain name", name)
	}
	return ascii, nil
}

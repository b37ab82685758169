// Package domain implements the mail domains of the service: public ones, for mailboxes of every client, and private
// ones, which an account claims and verifies by DNS records (docs/spec/domains.md). It does not depend on mailboxes.
//
// Public domains come from the configuration and from a table that commands change. All of them are held in memory, and
// Reload reads them again. Private domains are rows: Claim inserts one, Verify looks up a TXT record that proves
// control and the MX record, and Recheck, a periodic job, suspends a domain whose MX record is missing for long.
//
// Several accounts may have claimed a name, but at most one is its holder: the account that has verified it. The holder
// is looked up for every recipient of a mail, so it is cached for a few seconds (holder.go); processes notify each
// other of changes. A transaction that creates a mailbox reads the holder again with HoldersTx.
//
// Names are lower-case A-labels without a trailing dot; Normalize returns them. DNS is queried outside of transactions,
// and the result is stored only if the row has not changed in the meantime. When a domain is deleted or changes its
// holder, its mailboxes are destroyed before another account can verify the name, so that the next holder cannot read
// them.
package domain

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/cache"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/domainname"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Public is a domain for mailboxes of every client.
type Public struct {
	Name   string // lower-case A-labels
	Active bool   // an inactive one gets no new mailboxes, but still accepts mail for existing ones
}

// Policy contains the operator's settings.
type Policy struct {
	Configured   []string      // public domains
	Hostname     string        // smtp.hostname, which the MX record of a private domain must name; lower-case A-labels
	RecheckEvery time.Duration // how often the MX record of a verified domain is looked up again
	SuspendAfter int           // number of consecutive checks without the MX record after which a domain is suspended
}

// Service implements mail domains. It is safe for concurrent use after Reload.
type Service struct {
	db           *db.DB
	clock        clock.Clock
	names        Names
	plans        Plans
	policy       Policy
	public       atomic.Pointer[[]Public]                               // set by Reload, the configured ones first; the slice is replaced and never modified
	holders      *cache.Cache[string, holder]                           // by name, for holdersTTL
	notifyChange func(name string)                                      // notifies other processes; nil: there are none
	outbox       Outbox                                                 // nil: no events are published
	onSuspended  func(ctx context.Context, tx *db.Tx, p *Private) error // nil: nothing
}

// New returns a Service. The configured public domains are served as long as they are configured, and are active unless a
// command has disabled them; commands can add more. Reload must be called before the service is used, and so must OnChange
// and PublishTo if they are used at all. If names and plans are nil, only the methods for public domains may be used.
func New(d *db.DB, c clock.Clock, names Names, plans Plans, policy Policy) *Service {
	s := &Service{db: d, clock: c, names: names, plans: plans, policy: policy, holders: cache.New[string, holder](holdersMax)}
	s.public.Store(&[]Public{})
	return s
}

// Reload reads the public domains. It is called periodically, since other processes may have changed them. The order is
// that of the configuration, then that of adding: the first active one is the default for new mailboxes.
func (s *Service) Reload(ctx context.Context) error {
	stored, err := listPublic(ctx, s.db)
	if err != nil {
		return err
	}
	all := make([]Public, 0, len(s.policy.Configured)+len(stored))
	for _, name := range s.policy.Configured {
		i := slices.IndexFunc(stored, func(p Public) bool { return p.Name == name })
		all = append(all, Public{Name: name, Active: i < 0 || stored[i].Active})
	}
	for _, p := range stored {
		if !slices.Contains(s.policy.Configured, p.Name) {
			all = append(all, p)
		}
	}
	s.public.Store(&all)
	return nil
}

// Public returns the active public domains, the default first. The caller may change the slice.
func (s *Service) Public() []Public {
	return slices.DeleteFunc(slices.Clone(*s.public.Load()), func(p Public) bool { return !p.Active })
}

// All returns every public domain, active or not. The caller may change the slice.
func (s *Service) All() []Public { return slices.Clone(*s.public.Load()) }

// Choose returns the domain for a new mailbox: the requested one, or the first active public one if that is "". private
// is set if it is a private domain of the account.
//
// account is "" for a guest. The error is the same for an unknown domain, one of another account and one that is not
// verified, so that it does not reveal which domains other accounts have claimed. Error: mailbox.domain_unavailable.
func (s *Service) Choose(ctx context.Context, requested string, account id.Account) (name string, private id.Domain, err error) {
	active := s.Public()
	if requested == "" {
		if len(active) == 0 {
			return "", "", problem.Detailf(problem.MailboxDomainUnavailable, "the service has no active domain")
		}
		return active[0].Name, "", nil
	}
	unavailable := problem.Detailf(problem.MailboxDomainUnavailable, "GET /domains lists the domains to choose from")
	if name, err = Normalize(requested); err != nil {
		return "", "", unavailable
	}
	if slices.ContainsFunc(active, func(p Public) bool { return p.Name == name }) {
		return name, "", nil
	}
	if account == "" || s.isPublic(name) {
		return "", "", unavailable
	}
	h, err := s.holderOf(ctx, name)
	if err != nil {
		return "", "", err
	}
	if h.account != account || h.status != Verified {
		return "", "", unavailable
	}
	return name, h.id, nil
}

// isPublic reports whether a name is a public domain, active or not. It is checked before private domains, so that an
// account that has verified a name does not receive its mail any more if the operator makes the domain public.
func (s *Service) isPublic(name string) bool {
	return slices.ContainsFunc(*s.public.Load(), func(p Public) bool { return p.Name == name })
}

// Served checks that mail for a domain (lower-case A-labels) is accepted. For a private one it returns its account and
// its id: mail to an unused local part there creates a mailbox of that account. It is called for every recipient and
// reads no row for public domains. Errors: mail.domain_not_served, mail.domain_suspended.
func (s *Service) Served(ctx context.Context, name string) (owner id.Account, private id.Domain, err error) {
	if s.isPublic(name) {
		return "", "", nil
	}
	h, err := s.holderOf(ctx, name)
	switch {
	case err != nil:
		return "", "", err
	case h.status == Verified:
		return h.account, h.id, nil
	case h.status == Suspended:
		return "", "", problem.New(problem.MailDomainSuspended)
	}
	return "", "", problem.New(problem.MailDomainNotServed)
}

// Add adds a public domain, or activates it again. Errors: request.invalid, also for a name at which no mail can be received;
// domain.taken, if an account has verified it as its private domain.
func (s *Service) Add(ctx context.Context, name string) error {
	normal, err := domainname.ForMail(name)
	if err != nil {
		return problem.Invalid("/domain", "%q %s", name, err.Error())
	}
	return s.setActive(ctx, normal, true)
}

// Disable disables a public domain for new mailboxes; mail for existing ones is still accepted. Error: domain.not_found,
// also if the name is not valid.
func (s *Service) Disable(ctx context.Context, name string) error {
	p, err := s.find(ctx, name)
	if err != nil {
		return err
	}
	return s.setActive(ctx, p, false)
}

// find returns the normalized name of a public domain, active or not. A name that is not valid any more, such as one that has become a
// public suffix, is found as it is stored. Error: domain.not_found.
func (s *Service) find(ctx context.Context, name string) (string, error) {
	if err := s.Reload(ctx); err != nil { // another process may have added it a moment ago
		return "", err
	}
	normal, err := Normalize(name)
	for _, p := range s.All() {
		if err == nil && p.Name == normal || p.Name == name {
			return p.Name, nil
		}
	}
	return "", problem.Detailf(problem.DomainNotFound, "%q is not one of the service's domains; gonebox domain list shows them", name)
}

// LiveMailboxes knows the mailboxes on public domains. Package mailbox implements it. It is a parameter and not a field, because
// mailboxes depend on domains.
type LiveMailboxes interface {
	// LiveOnTx reports whether a public domain has a live mailbox.
	LiveOnTx(ctx context.Context, tx *db.Tx, domain string) (bool, error)
}

// Remove removes a public domain that was added, unless it has live mailboxes. A process that has not yet heard of the removal may
// create one more mailbox there, within a second; it receives no mail. Errors: domain.not_found; domain.configured; domain.in_use.
func (s *Service) Remove(ctx context.Context, name string, boxes LiveMailboxes) error {
	name, err := s.find(ctx, name)
	if err != nil {
		return err
	}
	if slices.Contains(s.policy.Configured, name) {
		return problem.Detailf(problem.DomainConfigured, "%s is one of domains in the configuration; remove it there, and restart the service", name)
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		has, err := boxes.LiveOnTx(ctx, tx, name)
		if err != nil {
			return err
		}
		if has {
			return problem.Detailf(problem.DomainInUse, "%s has live mailboxes; disable it, and remove it when they have ended", name)
		}
		n, err := tx.Exec(ctx, deletePublic, name)
		if err != nil || n == 0 { // another process has removed it
			return err
		}
		return audit.RecordTx(ctx, tx, s.clock.Now(), "domain.remove", name, "")
	})
	if err != nil {
		return fmt.Errorf("remove domain %s: %w", name, err)
	}
	return s.Reload(ctx)
}

// setActive stores whether a public domain is active, and calls Reload. It inserts a row for a configured domain, too, so
// that one can be disabled. Error: domain.taken.
func (s *Service) setActive(ctx context.Context, name string, active bool) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		private, err := getPrivate(ctx, tx, selectHolder, name)
		if err != nil {
			return err
		}
		if private != nil && active {
			return problem.Detailf(problem.DomainTaken, "an account has verified %s as its private domain", name)
		}
		now := s.clock.Now()
		if _, err = tx.Exec(ctx, upsertPublic, name, active, now.UnixMicro()); err != nil {
			return err
		}
		action := "domain.disable"
		if active {
			action = "domain.add"
		}
		return audit.RecordTx(ctx, tx, now, action, name, "")
	})
	if err != nil {
		return fmt.Errorf("store domain %s: %w", name, err)
	}
	return s.Reload(ctx)
}

// Normalize returns a domain in lower-case A-labels, without a trailing dot. Error: request.invalid on /domain.
func Normalize(name string) (string, error) {
	ascii, err := domainname.Normalize(name)
	if err != nil {
		return "", problem.Invalid("/domain", "%q %s", name, err.Error())
	}
	return ascii, nil
}

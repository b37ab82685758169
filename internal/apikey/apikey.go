// Package apikey holds developer keys: what is kept of a key, its scopes, the networks it may be used from, and when it
// was last used (decisions §2 Developer key). It refuses to know what a key opens.
package apikey

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// Key is a developer key without its secret.
type Key struct {
	Prefix     string // names it in listings and paths
	Account    id.Account
	Name       string
	Scopes     []Scope        // in the order of Scopes, at least one
	Networks   []netip.Prefix // where it may be used from; empty: everywhere
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
	ExpiresAt  time.Time // zero: never
	Limits     Limits    // of the account's plan, now

	hash []byte
}

// Limits are the entitlements that concern keys (decisions §6), and the plan they are of.
type Limits struct {
	Max           int // keys of an account
	Calls         ratelimit.Limit
	MailboxCreate ratelimit.Limit
	Tier          string // the plan's code
}

// Plans says what an account may have.
type Plans interface {
	// KeyLimits answers auth.invalid_token for an account that may not act.
	KeyLimits(ctx context.Context, account id.Account) (Limits, error)
}

// Service is the use of developer keys.
type Service struct {
	db    *db.DB
	clock clock.Clock
	hub   *wake.Hub
	plans Plans
	uses  uses
}

// New assembles the service. Flush must be called now and then, and before the database is closed.
func New(d *db.DB, c clock.Clock, hub *wake.Hub, p Plans) *Service {
	return &Service{db: d, clock: c, hub: hub, plans: p}
}

// WakeKey is what waits that rest on a key sleep on: it is woken when the key is revoked.
func WakeKey(prefix string) string { return "key:" + prefix }

// Wish is what a new key is asked to be (spec §2 Developer key input).
type Wish struct {
	Name      string
	Scopes    []string
	Networks  []string  // in CIDR form; empty: every address
	ExpiresAt time.Time // zero: never
}

// mintTries is how often a fresh prefix may collide before it is a fault: there are 2^50 of them.
const mintTries = 3

// Create makes a key for an account and returns it with the credential, which is told this once. Errors: request.invalid, key.limit_reached.
func (s *Service) Create(ctx context.Context, account id.Account, w Wish) (_ *Key, credential string, err error) {
	now := s.clock.Now().Truncate(time.Microsecond)
	k := &Key{Account: account, Name: w.Name, CreatedAt: now, ExpiresAt: w.ExpiresAt.Truncate(time.Microsecond)}
	if k.Scopes, err = ParseScopes(w.Scopes); err != nil {
		return nil, "", err
	}
	if k.Networks, err = ParseNetworks(w.Networks); err != nil {
		return nil, "", err
	}
	if !w.ExpiresAt.IsZero() && !w.ExpiresAt.After(now) {
		return nil, "", problem.Invalid("/expiresAt", "must lie in the future")
	}
	if k.Limits, err = s.plans.KeyLimits(ctx, account); err != nil {
		return nil, "", err
	}
	for range mintTries {
		var hash [32]byte
		credential, k.Prefix, hash = token.MintDeveloper()
		k.hash = hash[:]
		free, err := s.insert(ctx, k)
		if err != nil {
			return nil, "", err
		}
		if free {
			return k, credential, nil
		}
	}
	return nil, "", fmt.Errorf("create a key: %d fresh prefixes were taken", mintTries)
}

// insert stores a key if its account may have one more; free is false where the prefix is taken.
func (s *Service) insert(ctx context.Context, k *Key) (free bool, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := countTx(ctx, tx, k.Account)
		if err != nil {
			return err
		}
		if n >= k.Limits.Max {
			return problem.Detailf(problem.KeyLimitReached, "the plan allows %d keys and there are %d; revoke one first", k.Limits.Max, n)
		}
		free, err = insertTx(ctx, tx, k)
		return err
	})
	return free, err
}

// Mark is a place in an account's list of keys. The zero Mark is in front of the newest.
type Mark struct {
	CreatedAt time.Time
	Prefix    string
}

// List returns an account's keys behind a mark, newest first, at most max.
func (s *Service) List(ctx context.Context, account id.Account, behind Mark, max int) ([]*Key, error) {
	limits, err := s.plans.KeyLimits(ctx, account)
	if err != nil {
		return nil, err
	}
	keys, err := list(ctx, s.db, account, behind, max)
	for _, k := range keys {
		k.Limits = limits
		if at := s.uses.of(k.Prefix); at.After(k.LastUsedAt) {
			k.LastUsedAt = at
		}
	}
	return keys, err
}

// Revoke deletes a key of an account; it is refused from then on, with the mailbox tokens that carry it, and the waits that
// rest on it end. Another's key is as unknown as none. Error: key.not_found.
func (s *Service) Revoke(ctx context.Context, account id.Account, prefix string) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, deleteKey, account, prefix)
		if err == nil && n == 0 {
			err = problem.New(problem.KeyNotFound)
		}
		tx.AfterCommit(func() { s.hub.Wake(WakeKey(prefix)) })
		return err
	})
}

// Authorize returns the key that a credential is: one that exists and has not expired, of an account that may act.
// Every call reads the row, so that a revocation holds at once. Error: auth.invalid_token.
func (s *Service) Authorize(ctx context.Context, credential string) (*Key, error) {
	prefix, hash, err := token.ParseDeveloper(credential)
	if err != nil {
		return nil, err
	}
	k, err := s.Find(ctx, prefix)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(k.hash, hash[:]) == 0 {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	return k, nil
}

// Find returns the key with a prefix, if it has not expired and its account may act: what Authorize does for a credential
// that was checked otherwise, such as a mailbox token that carries the prefix. Error: auth.invalid_token.
func (s *Service) Find(ctx context.Context, prefix string) (*Key, error) {
	k, err := byPrefix(ctx, s.db, prefix)
	if err != nil {
		return nil, err
	}
	if k == nil || k.expired(s.clock.Now()) {
		return nil, problem.New(problem.AuthInvalidToken)
	}
	k.Limits, err = s.plans.KeyLimits(ctx, k.Account)
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Key) expired(now time.Time) bool { return !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) }

// Admit decides whether a key may be used for a scope from an address, and notes its use if so. The network comes
// first: who has a key that leaked learns nothing of its scopes. Errors: auth.address_not_allowed, auth.scope_missing.
func (s *Service) Admit(k *Key, from netip.Addr, scope Scope) error {
	if err := k.AllowsFrom(from); err != nil {
		return err
	}
	if !k.has(scope) {
		return problem.Detailf(problem.AuthScopeMissing, "the call takes a key with the scope %s", scope)
	}
	s.NoteUse(k)
	return nil
}

// AllowsFrom reports whether a key, and what was handed out to it, may be used from an address. Error: auth.address_not_allowed.
func (k *Key) AllowsFrom(from netip.Addr) error {
	if !allowed(k.Networks, from) {
		return problem.Detailf(problem.AuthAddressNotAllowed, "the call comes from %s", from.Unmap())
	}
	return nil
}

// NoteUse has the key's last use be now. Admit does so by itself.
func (s *Service) NoteUse(k *Key) { s.uses.note(k.Prefix, s.clock.Now()) }

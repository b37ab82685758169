// Package apikey implements developer keys: their hashes, scopes, allowed networks, expiry and last use
// (docs/spec/keys.md). It does not depend on what a key gives access to.
//
// A credential is a prefix, which identifies the row, and a secret, of which only the hash is stored. Create returns
// the credential this once. Authorize finds the key of a credential, Admit checks the address and the scope of a call.
// Keys are read from the database for each call and not cached, so that Revoke takes effect at once in every process;
// it also ends calls that wait with the key, through the wake.Hub.
//
// Last uses are collected in memory and written by Flush, so that a call with a key causes no write. Rates and quotas
// come with the key as Limits and are applied by the caller.
package apikey

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/netip"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
	"github.com/gonebox/gonebox/internal/wake"
)

// Key is a developer key without its secret. It is a copy of the row at the time of reading.
type Key struct {
	Prefix     string // identifies it in listings and paths
	Account    id.Account
	Name       string
	Scopes     []Scope        // in the order of Scopes, at least one
	Networks   []netip.Prefix // the networks it may be used from; empty: any
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
	ExpiresAt  time.Time // zero: never
	Limits     Limits    // of the account's plan in effect

	// hash is the SHA-256 of the credential's secret.
	hash []byte
}

// Limits are the quotas of a plan for keys (docs/spec/limits.md#quotas-of-plans).
type Limits struct {
	Max           int             // keys of an account
	Calls         ratelimit.Limit // rate of calls with one key
	MailboxCreate ratelimit.Limit // rate of creating mailboxes with one key
	Tier          string          // the plan's code
}

// Plans gives the limits of an account.
type Plans interface {
	// KeyLimits returns the limits of an account's plan. Error: auth.invalid_token, if the account is disabled.
	KeyLimits(ctx context.Context, account id.Account) (Limits, error)
}

// Service implements developer keys. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	clock clock.Clock
	hub   *wake.Hub
	plans Plans
	uses  uses // not written yet
}

// New returns a Service. Flush must be called periodically, and before the database is closed. All parameters are
// required.
func New(d *db.DB, c clock.Clock, hub *wake.Hub, p Plans) *Service {
	return &Service{db: d, clock: c, hub: hub, plans: p}
}

// WakeKey returns the key of the wake.Hub that is woken when a developer key is revoked.
func WakeKey(prefix string) string { return "key:" + prefix }

// Params are the input of Create. Create checks all of it except Name, which its caller checks.
type Params struct {
	Name      string
	Scopes    []string
	Networks  []string  // in CIDR form; empty: any
	ExpiresAt time.Time // zero: never

	// Credential is the whole key to store, for an operator who provisions one that clients have already; "": a random one.
	// It must have the form and the checksum of a key.
	Credential string
}

// mintTries is how many new prefixes Create tries; of the 2^50 prefixes few are taken.
const mintTries = 3

// Create creates a key for an account and returns it with the credential, of which only a hash is stored.
//
// auth.invalid_token is returned if the account is disabled. A prefix that is taken is replaced by another random one;
// the number of keys is checked in the transaction of the insertion, so that concurrent calls cannot exceed the quota.
// Errors: request.invalid, key.limit_reached, auth.invalid_token.
func (s *Service) Create(ctx context.Context, account id.Account, w Params) (_ *Key, credential string, err error) {
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
	if w.Credential != "" {
		return s.importKey(ctx, k, w.Credential)
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
	return nil, "", fmt.Errorf("create a key: %d random prefixes were taken", mintTries)
}

// importKey stores a key that was made elsewhere. A taken prefix is an error here, since the credential is given.
// Errors: request.invalid, key.limit_reached.
func (s *Service) importKey(ctx context.Context, k *Key, credential string) (*Key, string, error) {
	prefix, hash, err := token.ParseDeveloper(credential)
	if err != nil {
		return nil, "", problem.Invalid("/secret", "is not a whole developer key; gonebox key generate prints one")
	}
	k.Prefix, k.hash = prefix, hash[:]
	free, err := s.insert(ctx, k)
	if err == nil && !free {
		err = problem.Invalid("/secret", "has the prefix %s, which another key has", prefix)
	}
	if err != nil {
		return nil, "", err
	}
	return k, credential, nil
}

// insert stores a key if its account may have one more; free is false if the prefix is taken. Error: key.limit_reached.
func (s *Service) insert(ctx context.Context, k *Key) (free bool, err error) {
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := countTx(ctx, tx, k.Account)
		if err != nil {
			return err
		}
		if n >= k.Limits.Max {
			return problem.Detailf(problem.KeyLimitReached, "the plan allows %d keys and there are %d; revoke one first", k.Limits.Max, n)
		}
		if free, err = insertTx(ctx, tx, k); err != nil || !free {
			return err
		}
		return audit.RecordTx(ctx, tx, k.CreatedAt, "key.add", k.Prefix, "of "+string(k.Account))
	})
	return free, err
}

// Mark is a position in an account's list of keys. The zero Mark is the beginning.
type Mark struct {
	CreatedAt time.Time
	Prefix    string
}

// List returns at most max of an account's keys after a mark, newest first. Error: auth.invalid_token, if the account
// is disabled.
func (s *Service) List(ctx context.Context, account id.Account, after Mark, max int) ([]*Key, error) {
	limits, err := s.plans.KeyLimits(ctx, account)
	if err != nil {
		return nil, err
	}
	keys, err := list(ctx, s.db, account, after, max)
	for _, k := range keys {
		k.Limits = limits
		if at := s.uses.of(k.Prefix); at.After(k.LastUsedAt) {
			k.LastUsedAt = at
		}
	}
	return keys, err
}

// Revoke deletes a key of an account. The key and the mailbox tokens bound to it are invalid from then on, and its waiting
// calls end. Error: key.not_found, also for a key of another account.
func (s *Service) Revoke(ctx context.Context, account id.Account, prefix string) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, deleteKey, account, prefix)
		if err == nil && n == 0 {
			err = problem.New(problem.KeyNotFound)
		}
		if err != nil {
			return err
		}
		tx.AfterCommit(func() { s.hub.Wake(WakeKey(prefix)) })
		return audit.RecordTx(ctx, tx, s.clock.Now(), "key.revoke", prefix, "of "+string(account))
	})
}

// EndTx deletes all keys of an account. Calls that wait with a mailbox token bound to one of them end when they are
// woken.
func EndTx(ctx context.Context, tx *db.Tx, account id.Account) error {
	if _, err := tx.Exec(ctx, deleteKeys, account); err != nil {
		return fmt.Errorf("delete the keys of %s: %w", account, err)
	}
	return nil
}

// Authorize returns the key of a credential, if it has not expired and its account is not disabled. Every call reads
// the row, so that a revocation takes effect at once. The hashes are compared in constant time: the prefix is not
// secret, so the lookup by it reveals nothing. Error: auth.invalid_token.
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

// Find is Authorize for a credential that was checked otherwise, such as a mailbox token with the prefix of its key.
// The secret is not checked, so the prefix must come from a source that is trusted. Error: auth.invalid_token.
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

// expired reports whether a key has expired; its expiry is the first instant at which it is invalid.
func (k *Key) expired(now time.Time) bool { return !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) }

// Admit checks that a key may be used from an address and has a scope, and records the use. The address is checked
// first, so that a leaked key does not reveal its scopes. It reads nothing from the database. k is the result of
// Authorize for the same call. Errors: auth.address_not_allowed, auth.scope_missing.
func (s *Service) Admit(k *Key, from netip.Addr, scope Scope) error {
	if err := k.AllowsFrom(from); err != nil {
		return err
	}
	if !k.Has(scope) {
		return problem.Detailf(problem.AuthScopeMissing, "the call needs a key with the scope %s", scope)
	}
	s.RecordUse(k)
	return nil
}

// AllowsFrom checks that a key, and the mailbox tokens bound to it, may be used from an address. Error: auth.address_not_allowed.
func (k *Key) AllowsFrom(from netip.Addr) error {
	if !allowed(k.Networks, from) {
		return problem.Detailf(problem.AuthAddressNotAllowed, "the call comes from %s", from.Unmap())
	}
	return nil
}

// RecordUse records that the key was used now. Admit calls it. The use is kept in memory until Flush.
func (s *Service) RecordUse(k *Key) { s.uses.record(k.Prefix, s.clock.Now()) }

// Generate returns a whole key that is not stored, for Params.Credential.
func Generate() string {
	credential, _, _ := token.MintDeveloper()
	return credential
}

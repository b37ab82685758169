package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// Registrations says who may register an account: access.registration.
type Registrations string

// The values of access.registration. The zero value is RegistrationOpen.
const (
	RegistrationOpen   Registrations = "open"   // everyone
	RegistrationInvite Registrations = "invite" // clients with an unused invitation
	RegistrationClosed Registrations = "closed" // only the operator creates accounts
)

// Invite is an invitation to register one account (docs/spec/accounts.md#invitations).
type Invite struct {
	ID        id.Invite // identifies it for the operator; it is not the code
	Note      string    // the operator's
	CreatedAt time.Time
	ExpiresAt time.Time  // zero: never
	UsedAt    time.Time  // zero: not yet
	Account   id.Account // registered with it; "": none yet
}

// noteMax is the maximum length of an invitation's note in octets.
const noteMax = 200

// Invite creates an invitation and returns it with its code, of which only a hash is stored. It expires after ttl; 0
// means never. The code is 26 characters of base32, 130 random bits, so a hash without a salt suffices. A note that is
// too long is an error without a code, since only commands call this.
func (r *Registry) Invite(ctx context.Context, note string, ttl time.Duration, now time.Time) (code string, _ *Invite, err error) {
	if len(note) > noteMax {
		return "", nil, fmt.Errorf("the note has %d octets, at most %d are allowed", len(note), noteMax)
	}
	code = rand.Text()
	i := &Invite{ID: id.New[id.Invite](now), Note: note, CreatedAt: now.Truncate(time.Microsecond)}
	if ttl > 0 {
		i.ExpiresAt = i.CreatedAt.Add(ttl)
	}
	err = r.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, insertInvite, i.ID, inviteHash(code), i.Note, i.CreatedAt.UnixMicro(), microOrNil(i.ExpiresAt))
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, now, "invite.add", string(i.ID), "")
	})
	if err != nil {
		return "", nil, fmt.Errorf("create an invitation: %w", err)
	}
	return code, i, nil
}

// Invites returns at most limit invitations, newest first. If after is not empty they are older than that one.
func (r *Registry) Invites(ctx context.Context, after id.Invite, limit int) ([]*Invite, error) {
	all, err := db.Collect(ctx, r.db, scanInvite, selectInvites, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	return all, nil
}

// RemoveInvite deletes an invitation, used or not. It is an error if there is none. An account that was registered with
// it is not affected.
func (r *Registry) RemoveInvite(ctx context.Context, invite id.Invite) error {
	return r.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, deleteInvite, invite)
		if err == nil && n == 0 {
			err = fmt.Errorf("there is no invitation %s", invite)
		}
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, r.clock.Now(), "invite.remove", string(invite), "")
	})
}

// inviteHash returns the hash of a code. Codes are typed by people: case and surrounding white space do not count.
func inviteHash(code string) []byte {
	hash := sha256.Sum256([]byte(strings.ToUpper(strings.TrimSpace(code))))
	return hash[:]
}

// admit checks, before a password is hashed, that the policy lets a client register. It only reads, so a concurrent
// call may use the invitation before this one does: useInviteTx decides. Error: access.closed.
func (s *Service) admit(ctx context.Context, invite string, now time.Time) error {
	switch s.policy.Registrations {
	case RegistrationClosed:
		return problem.Detailf(problem.AccessClosed, "accounts of this service are created by its operator")
	case RegistrationInvite:
	default:
		return nil
	}
	if invite == "" {
		return problem.Detailf(problem.AccessClosed, "registration needs an invitation; send its code as invite")
	}
	var usable bool
	if err := s.db.QueryRow(ctx, selectInviteUsable, inviteHash(invite), now.UnixMicro()).Scan(&usable); err != nil {
		return fmt.Errorf("look for an invitation: %w", err)
	}
	if !usable {
		return errInvite()
	}
	return nil
}

// useInviteTx marks an invitation as used by a new account, if the policy requires one. Error: access.closed.
func (s *Service) useInviteTx(ctx context.Context, tx *db.Tx, invite string, a *Account) error {
	if s.policy.Registrations != RegistrationInvite {
		return nil
	}
	n, err := tx.Exec(ctx, useInvite, inviteHash(invite), a.CreatedAt.UnixMicro(), a.ID)
	if err == nil && n == 0 { // a concurrent call used it
		err = errInvite()
	}
	return err
}

// errInvite is the same error for unknown, used and expired codes, so that it reveals nothing about a guessed one.
func errInvite() error {
	return problem.Detailf(problem.AccessClosed, "the invitation is unknown, used or expired; ask for another one")
}

// microOrNil returns a time as it is stored, nil for the zero time.
func microOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

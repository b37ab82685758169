package account

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/oidc"
	"github.com/gonebox/gonebox/internal/problem"
)

const (
	// ticketTTL is how long a user has to give the password or the code.
	ticketTTL = 10 * time.Minute
	// ticketTries is how often a ticket may be presented. Sign-ins to the account are limited beside it.
	ticketTries = 10
)

// ticketTx stores a ticket for an account. The identity is sealed for the ticket, so that no row can be used with another one.
func (s *Service) ticketTx(ctx context.Context, tx *db.Tx, a *Account, who *oidc.Identity, need Need, arrival *Arrival) error {
	arrival.Ticket, arrival.Need = rand.Text(), need
	text, err := json.Marshal(who) //nolint:gosec // it is sealed below
	if err != nil {
		return fmt.Errorf("encode a user of the issuer: %w", err)
	}
	_, err = tx.Exec(ctx, insertTicket, stepHash(arrival.Ticket), a.ID, s.federated.sealer.Seal(text, arrival.Ticket), s.clock.Now().Add(ticketTTL).UnixMicro())
	return err
}

// errTicket is the same error for tickets that are unknown, used, expired or were presented too often.
func errTicket() error {
	return problem.Detailf(problem.OIDCFailed, "this sign-in is over: it was completed, or took too long or too many tries; sign in again")
}

// ticketOf returns the account and the user of a ticket. Error: oidc.failed.
func (s *Service) ticketOf(ctx context.Context, q db.Queryer, ticket string) (*Account, *oidc.Identity, error) {
	if s.federated == nil {
		return nil, nil, errTicket()
	}
	var owner id.Account
	var sealed []byte
	err := q.QueryRow(ctx, selectTicket, stepHash(ticket), ticketTries, s.clock.Now().UnixMicro()).Scan(&owner, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, errTicket()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read a ticket: %w", err)
	}
	text, err := s.federated.sealer.Open(sealed, ticket)
	if err != nil {
		return nil, nil, errTicket()
	}
	var who oidc.Identity
	if err := json.Unmarshal(text, &who); err != nil {
		return nil, nil, fmt.Errorf("decode a user of the issuer: %w", err)
	}
	a, err := getAccount(ctx, q, selectByID, owner)
	if err == nil && a == nil {
		err = errTicket()
	}
	return a, &who, err
}

// TicketEmail returns the e-mail address of the account that a ticket is for, by which the caller counts tries as sign-ins. Error:
// oidc.failed.
func (s *Service) TicketEmail(ctx context.Context, ticket string) (string, error) {
	a, _, err := s.ticketOf(ctx, s.db, ticket)
	if err != nil {
		return "", err
	}
	return a.Email, nil
}

// Finish signs a user of the issuer in to the account of a ticket, with the password of the account unless it is linked to the user, and a
// code where two-factor authentication is active. It links the account. It waits for the slot's turn and releases the slot. Errors:
// oidc.failed, auth.invalid_credentials, auth.totp_required, rate.limited.
func (s *Service) Finish(ctx context.Context, slot *HashSlot, ticket string, c Credentials) (credential string, session *Session, err error) {
	defer slot.Release()
	known, who, err := s.ticketOf(ctx, s.db, ticket)
	if err != nil {
		return "", nil, err
	}
	var tries int64
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		tries, err = tx.Exec(ctx, countTry, stepHash(ticket), ticketTries, s.clock.Now().UnixMicro())
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("count a try: %w", err)
	}
	linked, err := s.linkedTx(ctx, s.db, who)
	switch {
	case err != nil:
		return "", nil, err
	case tries == 0 || linked != nil && linked.ID != known.ID:
		return "", nil, errTicket()
	case linked == nil:
		right, _, err := s.passwords.check(ctx, slot, known.password, c.Password)
		if err == nil && !right {
			err = problem.New(problem.AuthInvalidCredentials)
		}
		if err != nil {
			return "", nil, err
		}
	}
	slot.Release()
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		credential, session, err = s.finishTx(ctx, tx, known, who, ticket, c, linked == nil)
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("finish a sign-in with the issuer: %w", err)
	}
	return credential, session, nil
}

// finishTx uses up a ticket.
func (s *Service) finishTx(ctx context.Context, tx *db.Tx, known *Account, who *oidc.Identity, ticket string, c Credentials, link bool) (credential string, _ *Session, err error) {
	a, err := s.reloadTx(ctx, tx, known)
	if err != nil {
		return "", nil, err
	}
	if err := s.checkSecondFactorTx(ctx, tx, a, c.Code); err != nil {
		return "", nil, err
	}
	n, err := tx.Exec(ctx, deleteStep, stepHash(ticket))
	if err == nil && n == 0 { // another call used it meanwhile
		err = errTicket()
	}
	if err == nil && link {
		err = s.linkTx(ctx, tx, a, who)
	}
	if err != nil {
		return "", nil, err
	}
	return s.enterTx(ctx, tx, a, who, c.Client)
}

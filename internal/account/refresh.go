package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/oidc"
)

const (
	// refreshEvery is how often the issuer is asked about a user who is signed in. With the period of the job that asks it is below the hour
	// after which a user who has left the groups must be signed out.
	refreshEvery = 55 * time.Minute
	// refreshRetry is when the issuer is asked again that gave no answer.
	refreshRetry = 5 * time.Minute
	// unconfirmedMax is how long a user stays signed in whom the issuer does not confirm. Dex, for one, has no other answer than 500 for a
	// user who was removed.
	unconfirmedMax = 24 * time.Hour
	// refreshBatch is how many users are read at once, refreshFailures how many in a row without an answer end a run: the issuer is down.
	refreshBatch    = 100
	refreshFailures = 3
)

// sealed returns the refresh token of a user, whom the issuer has just confirmed, as it is stored, and when it is used; nil for none.
func (f *federation) sealed(who *oidc.Identity, now time.Time) (refresh, at any) {
	if who.RefreshToken == "" {
		return nil, nil
	}
	text := strconv.FormatInt(now.Unix(), 10) + " " + who.RefreshToken
	return f.sealer.Seal([]byte(text), who.Issuer+" "+who.Subject), now.Add(refreshEvery).UnixMicro()
}

// opened returns the refresh token of a user and when the issuer last confirmed the user. The error is that of another key.
func (f *federation) opened(l dueLink) (refreshToken string, confirmed time.Time, err error) {
	text, err := f.sealer.Open(l.refresh, l.issuer+" "+l.subject)
	if err != nil {
		return "", time.Time{}, err
	}
	seconds, refreshToken, _ := strings.Cut(string(text), " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	return refreshToken, time.Unix(at, 0), err
}

// dueLink is a user about whom the issuer is to be asked.
type dueLink struct {
	issuer, subject string
	account         id.Account
	refresh         []byte
}

// RefreshFederated asks the issuer again about the users who are signed in, each at most once in refreshEvery. Those who are no longer in an
// allowed group, or whose sign-in the issuer has ended, are signed out; roles follow the groups. An issuer that gives no answer is asked
// again later; its users stay signed in for unconfirmedMax after it last confirmed them. A periodic job calls it.
func (s *Service) RefreshFederated(ctx context.Context) error {
	if s.federated == nil {
		return nil
	}
	for failures := 0; failures < refreshFailures; {
		now := s.clock.Now().UnixMicro()
		due, err := db.Collect(ctx, s.db, func(row db.Row) (l dueLink, err error) {
			err = row.Scan(&l.issuer, &l.subject, &l.account, &l.refresh)
			return l, err
		}, selectDue, s.federated.Issuer, now, now, refreshBatch)
		if err != nil {
			return fmt.Errorf("list the users to ask the issuer about: %w", err)
		}
		for _, l := range due {
			answered, err := s.refresh(ctx, l)
			if err != nil {
				return err
			}
			if failures++; answered {
				failures = 0
			}
			if failures == refreshFailures {
				break
			}
		}
		if len(due) < refreshBatch {
			return nil
		}
	}
	return nil
}

// refresh asks the issuer about a user, outside of a transaction, and reports whether it answered.
func (s *Service) refresh(ctx context.Context, l dueLink) (answered bool, err error) {
	refreshToken, confirmed, err := s.federated.opened(l)
	if err != nil { // the key is another one: the user signs in again at the end of the session
		return true, s.storeRefresh(ctx, l, nil, nil, nil)
	}
	who, err := s.federated.Refresh(ctx, l.subject, refreshToken)
	now := s.clock.Now()
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.Is(err, oidc.ErrRefused):
		return true, s.storeRefresh(ctx, l, nil, nil, s.signOutTx(l.account, "the issuer has ended the sign-in"))
	case err != nil && now.Sub(confirmed) >= unconfirmedMax:
		return false, s.storeRefresh(ctx, l, nil, nil, s.signOutTx(l.account, "not confirmed by the issuer for a day"))
	case err != nil:
		s.federated.Logger.Warn("the issuer did not say whether a user may stay signed in, asking again later", slog.String("account", string(l.account)), slog.Any("error", err))
		return false, s.storeRefresh(ctx, l, l.refresh, now.Add(refreshRetry).UnixMicro(), nil)
	}
	followTx := func(ctx context.Context, tx *db.Tx) error {
		a, err := getAccount(ctx, tx, selectByID, l.account)
		if err != nil || a == nil {
			return err
		}
		return s.followRoleTx(ctx, tx, a, who)
	}
	if !s.federated.allows(who) {
		return true, s.storeRefresh(ctx, l, nil, nil, func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(followTx(ctx, tx), s.signOutTx(l.account, "in no allowed group")(ctx, tx))
		})
	}
	if who.RefreshToken == "" { // the one before stays valid (RFC 6749 §6)
		who.RefreshToken = refreshToken
	}
	refresh, at := s.federated.sealed(who, now)
	return true, s.storeRefresh(ctx, l, refresh, at, followTx)
}

// storeRefresh stores the refresh token of a link and runs also, unless the user has signed in meanwhile.
func (s *Service) storeRefresh(ctx context.Context, l dueLink, refresh, at any, also func(context.Context, *db.Tx) error) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, refreshLink, l.issuer, l.subject, l.refresh, refresh, at)
		if err != nil || n == 0 || also == nil {
			return err
		}
		return also(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("store the refresh of %s: %w", l.account, err)
	}
	return nil
}

// signOutTx returns a function that ends the user tokens of an account. Keys stay.
func (s *Service) signOutTx(account id.Account, reason string) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, deleteTokens, account); err != nil {
			return err
		}
		now := s.clock.Now()
		if _, err := tx.Exec(ctx, updateEnded, account, now.UnixMicro()); err != nil {
			return err
		}
		return audit.RecordTx(audit.As(ctx, string(account)), tx, now, "account.oidc-end", string(account), reason)
	}
}

// endFederated signs a user out who tries to sign in and is in no allowed group.
func (s *Service) endFederated(ctx context.Context, who *oidc.Identity) error {
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err := s.linkedTx(ctx, tx, who)
		if err != nil || a == nil {
			return err
		}
		if _, err := tx.Exec(ctx, updateLink, who.Issuer, who.Subject, nil, nil); err != nil {
			return err
		}
		if err := s.followRoleTx(ctx, tx, a, who); err != nil {
			return err
		}
		return s.signOutTx(a.ID, "in no allowed group")(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("sign a user of the issuer out: %w", err)
	}
	return nil
}

package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// generateTries is how many generated local parts are tried. The last ones are drawn from trillions, so ten collisions mean that
// something else is wrong.
const generateTries = 10

// MinTTL is the shortest time to live that may be asked for (docs/spec/mailboxes.md#creating).
const MinTTL = 60 * time.Second

// Wish is what the creator of a mailbox asks for (docs/spec/mailboxes.md#creating). The service chooses what is zero.
type Wish struct {
	Domain    string
	LocalPart string
	TTL       time.Duration
	Password  string // the PHC string of a hash; "": the token alone opens the mailbox
	Lasting   bool   // TTL may be longer than the plan's for one mailbox, but not than its lifetime
}

// Create creates a mailbox for an owner and returns it.
//
// Errors: mailbox.ttl_too_long, mailbox.domain_unavailable, mailbox.local_part_reserved, mailbox.local_part_taken,
// mailbox.limit_reached, request.invalid.
func (s *Service) Create(ctx context.Context, w Wish, o Owner) (*Mailbox, error) {
	limits, err := s.plans.MailboxLimits(ctx, o.Account)
	if err != nil {
		return nil, err
	}
	if w.Lasting {
		w.TTL = limits.lasting(w.TTL)
	} else if w.TTL, err = limits.ttl(w.TTL); err != nil {
		return nil, err
	}
	if w.LocalPart != "" {
		if err := s.checkLocalPart(w.LocalPart); err != nil {
			return nil, err
		}
	}
	if w.Domain, o.Domain, err = s.domains.Choose(ctx, w.Domain, o.Account); err != nil {
		return nil, err
	}
	for {
		var m *Mailbox
		err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			m = nil
			more, err := s.checkLiveMaxTx(ctx, tx, o, limits)
			if err != nil || more {
				return err
			}
			m, err = s.createTx(ctx, tx, w, o)
			return err
		})
		if err != nil {
			return nil, err
		}
		if m != nil {
			return m, nil
		}
	}
}

// ttl returns the time to live of a mailbox for which a client asked for wished: the default for zero, or an error if the plan does not
// allow it.
func (l Limits) ttl(wished time.Duration) (time.Duration, error) {
	switch {
	case wished == 0:
		return l.TTLDefault, nil
	case wished < MinTTL:
		return 0, problem.Invalid("/ttl", "must be at least %d seconds", int(MinTTL.Seconds()))
	case wished > l.TTLMax:
		return 0, problem.Detailf(problem.MailboxTTLTooLong, "the plan allows at most %d seconds", int(l.TTLMax.Seconds()))
	}
	return wished, nil
}

func (s *Service) createTx(ctx context.Context, tx *db.Tx, w Wish, o Owner) (*Mailbox, error) {
	now := s.clock.Now()
	m := &Mailbox{
		ID: id.New[id.Mailbox](now), Domain: w.Domain, Owner: o, Source: o.source(),
		CreatedAt: now.Truncate(time.Microsecond), ExpiresAt: now.Add(w.TTL).Truncate(time.Microsecond), epoch: 1, password: w.Password,
	}
	if err := s.checkDomainTx(ctx, tx, m); err != nil {
		return nil, err
	}
	if err := s.nameTx(ctx, tx, m, w.LocalPart, now); err != nil {
		return nil, err
	}
	if err := insert(ctx, tx, m); err != nil {
		return nil, err
	}
	if err := countLiveTx(ctx, tx, o.Account, 1); err != nil {
		return nil, err
	}
	return m, s.publishCreatedTx(ctx, tx, m)
}

// nameTx sets the address of a new mailbox: the wished local part, or a generated one that is free.
func (s *Service) nameTx(ctx context.Context, tx *db.Tx, m *Mailbox, wished string, now time.Time) error {
	var err error
	for try := range generateTries {
		if m.LocalPart = wished; wished == "" {
			m.LocalPart = generated(try)
		}
		m.Address = m.LocalPart + "@" + m.Domain
		err = s.checkAddressTx(ctx, tx, m.Address, m.Owner, now)
		if wished != "" || !problem.Has(err, problem.MailboxLocalPartTaken) {
			return err
		}
	}
	return err
}

// holderOfTx reports whether an address is in cool-down, and for which account; holder is "" for a guest's.
func (s *Service) holderOfTx(ctx context.Context, tx *db.Tx, address string, now time.Time) (holder id.Account, held bool, err error) {
	err = tx.QueryRow(ctx, selectHold, s.hold.hash(address), now.UnixMicro()).Scan(&holder)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return holder, err == nil, err
}

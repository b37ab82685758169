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

// CreateParams are the parameters of Create (docs/spec/mailboxes.md#creating). The service chooses the values of Domain,
// LocalPart and TTL that are zero.
type CreateParams struct {
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
func (s *Service) Create(ctx context.Context, p CreateParams, o Owner) (*Mailbox, error) {
	limits, err := s.plans.MailboxLimits(ctx, o.Account)
	if err != nil {
		return nil, err
	}
	if p.Lasting {
		p.TTL = limits.lasting(p.TTL)
	} else if p.TTL, err = limits.ttl(p.TTL); err != nil {
		return nil, err
	}
	if p.LocalPart != "" {
		if err := checkLocalPart(p.LocalPart); err != nil {
			return nil, err
		}
	}
	if p.Domain, o.Domain, err = s.choose(ctx, p, o); err != nil {
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
			m, err = s.createTx(ctx, tx, p, o)
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

// choose returns the domain for a new mailbox, and its id if it is a private one of the owner, who gets all of its mail whatever the local
// part. Errors: mailbox.local_part_reserved, mailbox.domain_unavailable.
func (s *Service) choose(ctx context.Context, p CreateParams, o Owner) (name string, private id.Domain, err error) {
	name, private, err = s.domains.Choose(ctx, p.Domain, o.Account)
	if private == "" {
		if reserved := s.checkReserved(p.LocalPart); reserved != nil {
			return "", "", reserved
		}
	}
	return name, private, err
}

// ttl checks a requested time to live, and returns the plan's default if it is 0. Errors: request.invalid if it is below
// MinTTL, mailbox.ttl_too_long if the plan does not allow it.
func (l Limits) ttl(requested time.Duration) (time.Duration, error) {
	switch {
	case requested == 0:
		return l.TTLDefault, nil
	case requested < MinTTL:
		return 0, problem.Invalid("/ttl", "must be at least %d seconds", int(MinTTL.Seconds()))
	case requested > l.TTLMax:
		return 0, problem.Detailf(problem.MailboxTTLTooLong, "the plan allows at most %d seconds", int(l.TTLMax.Seconds()))
	}
	return requested, nil
}

func (s *Service) createTx(ctx context.Context, tx *db.Tx, p CreateParams, o Owner) (*Mailbox, error) {
	now := s.clock.Now()
	m := &Mailbox{
		ID: id.New[id.Mailbox](now), Domain: p.Domain, Owner: o, Source: o.source(),
		CreatedAt: now.Truncate(time.Microsecond), ExpiresAt: now.Add(p.TTL).Truncate(time.Microsecond), epoch: 1, password: p.Password,
	}
	if err := s.checkDomainTx(ctx, tx, m); err != nil {
		return nil, err
	}
	if err := s.nameTx(ctx, tx, m, p.LocalPart, now); err != nil {
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

// nameTx sets the address of a new mailbox: the given local part, or if that is "" a generated one that is free.
func (s *Service) nameTx(ctx context.Context, tx *db.Tx, m *Mailbox, localPart string, now time.Time) error {
	var err error
	for try := range generateTries {
		if m.LocalPart = localPart; localPart == "" {
			m.LocalPart = generated(try)
		}
		m.Address = m.LocalPart + "@" + m.Domain
		err = s.checkAddressTx(ctx, tx, m.Address, m.Owner, now)
		if localPart != "" || !problem.Has(err, problem.MailboxLocalPartTaken) {
			return err
		}
	}
	return err
}

// predecessor is the last holder of an address.
type predecessor struct {
	account id.Account // "": a guest
	until   int64      // the end of the cool-down, in microseconds since 1970; it may have passed
}

// predecessorTx returns the last holder of an address; found is false if there was none for as long as holds are kept (see dropHolds).
func (s *Service) predecessorTx(ctx context.Context, tx *db.Tx, address string) (p predecessor, found bool, err error) {
	err = tx.QueryRow(ctx, selectHold, s.hold.hash(address)).Scan(&p.account, &p.until)
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	return p, err == nil, err
}

package domain

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// holder is who has proven a domain, as the mail path needs it; the zero value means that no account has.
type holder struct {
	id      id.Domain
	account id.Account
	status  Status
}

// Holders are cached, since every recipient of a mail asks for one: also for names that no account has proven. A change in this
// process is seen at once, and one in another process when that tells of it (OnChange), or after holdersFor if it cannot.
const (
	holdersFor = 5 * time.Second
	holdersMax = 10_000 // names; clients choose them
)

// OnChange has tell called with the name of each private domain that changed hands here: other processes are to Forget it.
// Call it before the service is used.
func (s *Service) OnChange(tell func(name string)) { s.changed = tell }

// Forget has it read again who has proven a private domain, or every one where name is "".
func (s *Service) Forget(name string) {
	if name == "" {
		s.holders.Clear()
		return
	}
	s.holders.Forget(name)
}

func (s *Service) forget(name string) {
	s.Forget(name)
	if s.changed != nil {
		s.changed(name)
	}
}

// holderOf returns who has proven a domain: one read of an index at most, however many domains there are.
func (s *Service) holderOf(ctx context.Context, name string) (holder, error) {
	now := s.clock.Now()
	h, ok, epoch := s.holders.Look(name, now)
	if ok {
		return h, nil
	}
	p, err := one(ctx, s.db, selectProven, name)
	if err != nil {
		return holder{}, err
	}
	if p != nil && p.Status != ending {
		h = holder{id: p.ID, account: p.Account, status: p.Status}
	} else {
		h = holder{}
	}
	s.holders.PutSince(epoch, name, h, 1, now.Add(holdersFor))
	return h, nil
}

// HoldersTx tells found, for each of names (lower-case A-labels) that an account has proven, whose private domain it
// is. It reads the rows: what it says cannot change before the transaction ends.
func (s *Service) HoldersTx(ctx context.Context, tx *db.Tx, names []string, found func(name string, owner id.Account, private id.Domain)) error {
	proven, err := provenTx(ctx, tx, names)
	for _, p := range proven {
		if p.Status != ending {
			found(p.Name, p.Account, p.ID)
		}
	}
	return err
}

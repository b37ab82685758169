package mailbox

import (
	"context"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
)

// At returns the live mailbox at an address, for staff. The case of the address does not matter. Error: mailbox.not_found.
func (s *Service) At(ctx context.Context, address string) (*Mailbox, error) {
	return s.at(ctx, s.db, address)
}

func (s *Service) at(ctx context.Context, q db.Queryer, address string) (*Mailbox, error) {
	m, err := one(ctx, q, selectByAddress, strings.ToLower(address))
	if err == nil && (m == nil || !m.Live(s.clock.Now())) {
		m, err = nil, problem.Detailf(problem.MailboxNotFound, "there is no live mailbox at this address")
	}
	return m, err
}

// ended is the action of EndAt in the audit log, with the mailbox as its detail.
const ended = "mailbox.end"

// EndAt ends the live mailbox at an address, as Destroy does, for staff. Error: mailbox.not_found.
func (s *Service) EndAt(ctx context.Context, address string) error {
	return s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		m, err := s.at(ctx, tx, address)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if err := s.endTx(ctx, tx, m, m.epoch+1, now); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, now, ended, m.Address, string(m.ID))
	})
}

// LiveOnTx reports whether a public domain has a live mailbox.
func (s *Service) LiveOnTx(ctx context.Context, tx *db.Tx, domain string) (live bool, err error) {
	err = tx.QueryRow(ctx, selectLiveOn, s.clock.Now().UnixMicro(), domain).Scan(&live)
	return live, err
}

// WakeEnded wakes the calls of this process that wait for mail to a mailbox that EndAt has ended after a time, maybe in another process,
// so that they notice it. At most max mailboxes are looked at, the newest first.
func (s *Service) WakeEnded(ctx context.Context, after time.Time, max int) error {
	boxes, err := audit.New(s.db).Details(ctx, ended, after, max)
	if err != nil {
		return err
	}
	for _, box := range boxes {
		s.wake.WakeHere(WakeKey(id.Mailbox(box)))
	}
	return nil
}

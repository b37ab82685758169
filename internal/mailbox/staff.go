package mailbox

import (
	"context"
	"strings"

	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/db"
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
		return audit.RecordTx(ctx, tx, now, "mailbox.end", m.Address, string(m.ID))
	})
}

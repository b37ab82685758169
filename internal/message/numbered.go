package message

import (
	"context"
	"fmt"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Numbered returns at most max summaries of a mailbox, newest first, without the first skip of them.
func (s *Service) Numbered(ctx context.Context, box id.Mailbox, skip, max int) ([]Summary, error) {
	all, err := db.Collect(ctx, s.db, scanSummary, selectNumbered, box, max, skip)
	if err != nil {
		return nil, fmt.Errorf("list messages of %s: %w", box, err)
	}
	return all, nil
}

// Size returns how many octets the messages of a mailbox had as received.
func (s *Service) Size(ctx context.Context, box id.Mailbox) (sum int64, err error) {
	if err := s.db.QueryRow(ctx, selectSize, box).Scan(&sum); err != nil {
		return 0, fmt.Errorf("sum up the messages of %s: %w", box, err)
	}
	return sum, nil
}

package message

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Examined is a message with the reason for which a list does not have it.
type Examined struct {
	Summary
	EnvelopeTo []string // of this mailbox only
	HasLinks   bool
	Lack       Lack // "": it matches
}

// Examine returns those of some messages that exist, newest first, each with the condition of the Match that it does not
// meet. refs are in that order.
func (s *Service) Examine(ctx context.Context, refs []Ref, m Match) (all []Examined, err error) {
	match := m.compile()
	err = s.each(ctx, refs, func(found *storedSummary) bool {
		all = append(all, Examined{found.Summary, found.EnvelopeTo, found.HasLinks, match.lack(found)})
		return true
	})
	return all, err
}

// Beginning returns the beginning of a message's text, at most 16 KiB, with its lines. It is "" for a message that was
// deleted or is damaged.
func (s *Service) Beginning(ctx context.Context, ref Ref) (string, error) {
	var c storedCell
	err := s.db.QueryRow(ctx, selectDetail, ref.Box, ref.Message).Scan(c.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the text of %s: %w", ref.Message, err)
	}
	var d searchedDetail
	text, _, err := s.beginning(ctx, &c, &d)
	if err != nil {
		return "", fmt.Errorf("read the text of %s: %w", ref.Message, err)
	}
	return text, nil
}

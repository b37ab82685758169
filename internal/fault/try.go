package fault

import (
	"context"
	"strconv"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// The bounds of what is remembered of mails.
const (
	triesKept = 24 * time.Hour
	triesMax  = 10_000 // of a rule, and of the greylist of an account: beyond it the oldest are forgotten
)

// greylistOf returns the scope of the tries of an account's greylist.
func greylistOf(account id.Account) string { return "greylist " + string(account) }

// Greylist reports whether a mail is taken by a greylist of a delay: from then on after the first try of its sender and recipients. It
// records the first try.
func (s *Service) Greylist(ctx context.Context, m *Mail, delay time.Duration) (ok bool, err error) {
	of := *m
	of.To = append([]string{strconv.FormatInt(int64(delay), 10), m.Project}, m.To...)
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		now := s.clock.Now()
		_, first, err := tryTx(ctx, tx, greylistOf(m.Account), of.key(), now)
		ok = now.Sub(first) >= delay
		return err
	})
	return ok, err
}

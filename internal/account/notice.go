package account

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/once"
	"github.com/gonebox/gonebox/internal/outbound"
)

// noticesMax is how many notices of one purpose an account is sent within once.Kept, whatever it does with what it has: its address may be
// that of another person, as long as it is not confirmed.
const noticesMax = 10

// Notice is a mail to the owner of an account about a change to a webhook, subscription or domain of the account.
type Notice struct {
	Purpose outbound.Purpose
	Subject string // the identifier of the thing; within once.Kept one notice about it is sent
	About   string // names the thing in the mail
	Reason  string // why, if the text depends on it
}

// NotifyTx sends a notice to the address of an account if the transaction commits. Without a relay it does nothing, and neither for an
// account that is disabled or whose address no mail can be sent to. What has happened is not held up by that, nor by noticesMax.
func (s *Service) NotifyTx(ctx context.Context, tx *db.Tx, account id.Account, n Notice) error {
	if s.letters == nil {
		return nil
	}
	a, err := getAccount(ctx, tx, selectByID, account)
	if err != nil || a == nil || a.Disabled {
		return err
	}
	to, ok := mailable(a.Email)
	if !ok {
		return nil
	}
	if ok, err := s.countNoticeTx(ctx, tx, account, n); err != nil || !ok {
		return err
	}
	return s.sendTx(ctx, tx, letter{purpose: n.Purpose, account: a.ID, locale: a.Locale, to: to, about: n.About, reason: n.Reason})
}

// countNoticeTx counts a notice. It returns false if it must not be sent.
func (s *Service) countNoticeTx(ctx context.Context, tx *db.Tx, account id.Account, n Notice) (ok bool, err error) {
	key := once.NewKey("notice", string(account), string(n.Purpose))
	subject := []once.Mark{key.Mark(n.Subject)}
	var counts []once.Mark
	for i := range noticesMax {
		counts = append(counts, key.Mark(strconv.Itoa(i)))
	}
	notices := once.New(s.db, s.clock)
	c, err := notices.CheckTx(ctx, tx, append(counts, subject...))
	if err != nil {
		return false, fmt.Errorf("count the notices to %s: %w", account, err)
	}
	if c.Has(subject) {
		return false, nil
	}
	for _, count := range counts {
		if one := []once.Mark{count}; !c.Has(one) {
			c.Add(append(one, subject...))
			return true, notices.SaveTx(ctx, tx, c)
		}
	}
	return false, nil
}

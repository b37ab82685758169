package mailbox

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// Holder is a live mailbox of an account that has received mail.
type Holder struct {
	ID        id.Mailbox
	Address   string
	CreatedAt time.Time
	LastAt    time.Time // of the newest message that it has received
	JoinedAt  time.Time // when the account became a member of it; zero: it is the account's own
	Messages  int
	Unread    int // messages
}

// HolderFilter restricts the mailboxes of an account. The zero HolderFilter restricts nothing.
type HolderFilter struct {
	Mailbox string    // an identifier, or an address in lower case; "": all
	Domain  string    // lower case; "": all
	Source  Source    // "": all
	Project string    // the address of the mailbox of a project; "": all
	After   time.Time // only those that have received a message after it
	Max     int       // at most so many; 0: all
}

// Holders returns the live mailboxes that an account owns or is a member of and that have received mail, the one with the newest message first. Messages of an
// account are committed in the order of their times, so none of these mailboxes can get a message that is not later than the newest of
// them once this has been read.
func (s *Service) Holders(ctx context.Context, account id.Account, f HolderFilter) ([]Holder, error) {
	if f.Max == 0 {
		f.Max = math.MaxInt32
	}
	all, err := db.Collect(ctx, s.db, scanHolder, selectHolders, account, s.clock.Now().UnixMicro(), micro(f.After), f.Mailbox, f.Domain, f.Source, f.Project, f.Max)
	if err != nil {
		return nil, fmt.Errorf("list the mailboxes of %s with mail: %w", account, err)
	}
	return all, nil
}

func scanHolder(row db.Row) (h Holder, err error) {
	var created, last, joined int64
	err = row.Scan(&h.ID, &h.Address, &created, &last, &h.Messages, &h.Unread, &joined)
	h.CreatedAt, h.LastAt, h.JoinedAt = timeOf(created), timeOf(last), timeOf(joined)
	return h, err
}

// UpdatePaced runs a transaction of a change that takes many of them, and then pauses while mail arrives, as sweeps do.
func (s *Service) UpdatePaced(ctx context.Context, fn func(context.Context, *db.Tx) error) error {
	var begun time.Time
	err := s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		begun = s.pace.clock.Now()
		return fn(ctx, tx)
	})
	if err != nil {
		return err
	}
	return s.pace.pause(ctx, s.pace.clock.Now().Sub(begun), 0)
}

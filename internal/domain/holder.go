package domain

import (
	"context"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// holder is the account that has verified a domain, and the domain's status. The zero value means that there is none.
// Names without a holder are cached too, since spam goes to many of them.
type holder struct {
	id      id.Domain
	account id.Account
	status  Status
}

// Holders are cached, since they are looked up for every recipient of a mail, also for unknown domains. Changes in this
// process take effect at once, and those of other processes when they notify this one (OnChange), or after holdersTTL.
const (
	holdersTTL = 5 * time.Second
	holdersMax = 10_000 // entries; they must be bounded, since clients choose the names
)

// OnChange sets a function that is called with the name of each private domain whose holder changes in this process, so
// that other processes can be made to Forget it. It must be called before the service is used. notify is called after
// the commit, on the goroutine that commits, and must return quickly.
func (s *Service) OnChange(notify func(name string)) { s.notifyChange = notify }

// Forget removes the holder of a domain from the cache, or all holders if name is "". It must be called for each
// notification of another process, and with "" after notifications may have been lost.
func (s *Service) Forget(name string) {
	if name == "" {
		s.holders.Clear()
		return
	}
	s.holders.Forget(name)
}

// holderChanged removes a holder from the cache of this process, and notifies the others.
func (s *Service) holderChanged(name string) {
	s.Forget(name)
	if s.notifyChange != nil {
		s.notifyChange(name)
	}
}

// holderOf returns the holder of a domain from the cache, or reads it with an index. If the holder changes between the read
// and PutSince, the epoch of the cache changes as well, so that the stale result is not cached.
func (s *Service) holderOf(ctx context.Context, name string) (holder, error) {
	now := s.clock.Now()
	h, ok, epoch := s.holders.Look(name, now)
	if ok {
		return h, nil
	}
	p, err := getPrivate(ctx, s.db, selectHolder, name)
	if err != nil {
		return holder{}, err
	}
	if p != nil && p.Status != deleting {
		h = holder{id: p.ID, account: p.Account, status: p.Status}
	} else {
		h = holder{}
	}
	s.holders.PutSince(epoch, name, h, 1, now.Add(holdersTTL))
	return h, nil
}

// HoldersTx calls fn with the owner of each name (lower-case A-labels) that is a verified or suspended private domain.
// It locks the rows until the transaction ends, so that no mailbox is created in a domain that another transaction
// deletes.
func (s *Service) HoldersTx(ctx context.Context, tx *db.Tx, names []string, fn func(name string, owner id.Account, private id.Domain)) error {
	holders, err := holdersTx(ctx, tx, names)
	for _, p := range holders {
		if p.Status != deleting {
			fn(p.Name, p.Account, p.ID)
		}
	}
	return err
}

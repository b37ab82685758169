package domain

import (
	"context"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/id"
)

// holder is who has proven a domain, as the mail path needs it; the zero one is nobody.
type holder struct {
	id      id.Domain
	account id.Account
	status  Status
}

// holders remembers who has proven which domain, since every recipient of a mail asks: those names too that nobody has.
// A change in this process is known at once; one in another when it tells (OnChange), and after holdersFor if it cannot.
type holders struct {
	mu    sync.Mutex
	epoch uint64 // rises with every change, so that what was read before one is not remembered after it
	known map[string]remembered
}

type remembered struct {
	holder
	at time.Time
}

const (
	holdersFor = 5 * time.Second
	holdersMax = 10_000 // names; a stranger chooses them, so beyond it all are forgotten
)

// get returns the holder of a domain if it is remembered, and else the epoch that put wants.
func (h *holders) get(name string, now time.Time) (_ holder, ok bool, epoch uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.known[name]
	return r.holder, ok && now.Sub(r.at) < holdersFor, h.epoch
}

func (h *holders) put(name string, found holder, epoch uint64, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if epoch != h.epoch {
		return
	}
	if h.known == nil || len(h.known) >= holdersMax {
		h.known = make(map[string]remembered)
	}
	h.known[name] = remembered{found, now}
}

// forget has a name read again, or all names where it is "".
func (h *holders) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	if name == "" {
		clear(h.known)
	}
	delete(h.known, name)
}

// OnChange has tell called with the name of each private domain that changed hands here: other processes are to Forget it.
// Call it before the service is used.
func (s *Service) OnChange(tell func(name string)) { s.changed = tell }

// Forget has it read again who has proven a private domain, or every one where name is "".
func (s *Service) Forget(name string) { s.holders.forget(name) }

func (s *Service) forget(name string) {
	s.holders.forget(name)
	if s.changed != nil {
		s.changed(name)
	}
}

// holderOf returns who has proven a domain: one read of an index at most, however many domains there are.
func (s *Service) holderOf(ctx context.Context, name string) (holder, error) {
	now := s.clock.Now()
	h, ok, epoch := s.holders.get(name, now)
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
	s.holders.put(name, h, epoch, now)
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

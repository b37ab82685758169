package ingress

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/db"
	"github.com/gonebox/gonebox/internal/truncate"
)

// State is what became of the mail of an ingress.
type State struct {
	Name, Kind  string
	Mails       int64     // stored, each counted once for all its recipients
	LastMailAt  time.Time // zero: there was none
	LastErrorAt time.Time // zero: there was none
	LastError   string
}

// errorMax is how many octets of an error are kept.
const errorMax = 300

// states are the changes that are not written yet. Writing each of them would cost as much as storing a mail.
type states struct {
	mu      sync.Mutex
	changed map[string]State
}

func newStates() *states { return &states{changed: map[string]State{}} }

// stored records a stored mail.
func (s *states) stored(name string, at time.Time) {
	s.change(name, func(c *State) { c.Mails, c.LastMailAt = c.Mails+1, at })
}

// failed records why a mail was not stored.
func (s *states) failed(name string, at time.Time, reason string) {
	s.change(name, func(c *State) { c.LastErrorAt, c.LastError = at, db.Storable(truncate.Octets(reason, errorMax)) })
}

func (s *states) change(name string, change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.changed[name]
	c.Name = name
	change(&c)
	s.changed[name] = c
}

// take returns the changes in the order of their names, and forgets them.
func (s *states) take() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.changed), func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	clear(s.changed)
	return all
}

// Flush writes the changes of the states.
func (s *Service) Flush(ctx context.Context) error {
	all := s.states.take()
	if len(all) == 0 {
		return nil
	}
	return s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, c := range all {
			if err := saveTx(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// States returns the state of each configured ingress, in the order of the configuration.
func (s *Service) States(ctx context.Context) ([]State, error) {
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	stored, err := list(ctx, s.DB)
	if err != nil {
		return nil, err
	}
	all := make([]State, len(s.configs))
	for i, c := range s.configs {
		all[i] = stored[c.Name]
		all[i].Name, all[i].Kind = c.Name, c.Kind
	}
	return all, nil
}

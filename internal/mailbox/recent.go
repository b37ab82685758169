package mailbox

import (
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// recent remembers mailboxes that mail came for a moment ago, as Find needs them: who sends much to one mailbox asks for
// it with every mail. It only ever speeds up a yes. What it says may be out of date where another process changed
// something, so whoever gets a no from it asks the database, and what is taken in is decided there in any case, by Intake
// (docs/decisions/0028).
type recent struct {
	mu      sync.Mutex
	epoch   uint64 // rises when a mailbox ends, so that what was read before is not remembered after it
	boxes   map[string]recentBox
	tallies map[id.Account]tally // of the accounts that boxes belong to
}

type recentBox struct {
	Mailbox
	at time.Time // when it was read or written
}

const (
	recentFor = 5 * time.Second
	recentMax = 10_000 // mailboxes; beyond it all are forgotten
)

// get returns a copy of the mailbox at an address if it is remembered, else nil; and the epoch that put wants.
func (r *recent) get(address string, now time.Time) (*Mailbox, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.boxes[address]
	if !ok || now.Sub(b.at) >= recentFor {
		return nil, r.epoch
	}
	if b.Owner.Account != "" {
		t := r.tallies[b.Owner.Account]
		b.account = &t
	}
	return &b.Mailbox, r.epoch
}

// put remembers a mailbox that was read at the given epoch.
func (r *recent) put(m *Mailbox, epoch uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch == r.epoch {
		r.keep(m, now)
	}
}

// received remembers the mailboxes that a set of mails was committed to.
func (r *recent) received(boxes []*booked, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range boxes {
		r.keep(b.Mailbox, now)
	}
}

func (r *recent) keep(m *Mailbox, now time.Time) {
	if r.boxes == nil || len(r.boxes) >= recentMax {
		r.boxes, r.tallies = make(map[string]recentBox), make(map[id.Account]tally)
	}
	b := recentBox{*m, now}
	if m.account != nil {
		r.tallies[m.Owner.Account] = *m.account
		b.account = nil
	}
	r.boxes[m.Address] = b
}

// forget forgets a mailbox that has ended.
func (r *recent) forget(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	delete(r.boxes, address)
}

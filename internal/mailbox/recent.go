package mailbox

import (
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/id"
)

// recent caches mailboxes that recently received mail, as Find needs them: a sender of many mails to one mailbox asks for it with
// each of them. The cache is only used to accept. An entry may be out of date where another process has changed the mailbox, so
// Find reads the database before it rejects, and Batch decides in any case (docs/decisions/0028).
type recent struct {
	mu        sync.Mutex
	epoch     uint64 // rises when a mailbox ends, so that put ignores what was read before that
	boxes     map[string]recentBox
	dayCounts map[id.Account]dayCount // of the accounts that boxes belong to
}

type recentBox struct {
	Mailbox
	at time.Time // when it was read or written
}

const (
	recentFor = 5 * time.Second // how long an entry is used
	recentMax = 10_000          // mailboxes; when it is reached, all are dropped
)

// get returns a copy of the cached mailbox at an address, or nil, and the epoch to pass to put.
func (r *recent) get(address string, now time.Time) (*Mailbox, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.boxes[address]
	if !ok || now.Sub(b.at) >= recentFor {
		return nil, r.epoch
	}
	if b.Owner.Account != "" {
		t := r.dayCounts[b.Owner.Account]
		b.account = &t
	}
	return &b.Mailbox, r.epoch
}

// put caches a mailbox that was read after get returned epoch.
func (r *recent) put(m *Mailbox, epoch uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch == r.epoch {
		r.keep(m, now)
	}
}

// received caches the mailboxes of a batch that was committed.
func (r *recent) received(boxes []*batchBox, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range boxes {
		r.keep(b.Mailbox, now)
	}
}

// keep stores an entry. The caller holds r.mu.
func (r *recent) keep(m *Mailbox, now time.Time) {
	if r.boxes == nil || len(r.boxes) >= recentMax {
		r.boxes, r.dayCounts = make(map[string]recentBox), make(map[id.Account]dayCount)
	}
	b := recentBox{*m, now}
	if m.account != nil {
		r.dayCounts[m.Owner.Account] = *m.account
		b.account = nil
	}
	r.boxes[m.Address] = b
}

// forget removes a mailbox that has ended.
func (r *recent) forget(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	delete(r.boxes, address)
}

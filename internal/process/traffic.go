package process

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// Minutes is how many minutes are counted, with the current one.
const Minutes = 15

// causesMax bounds the causes that are distinguished within a minute; further ones count as "other". Fault rules may make the server
// refuse with any reply.
const causesMax = 64

// The kinds of a Cause.
const (
	ByReply = "reply"
	ByBlock = "block"
	ByLimit = "limit"
)

// Cause is why mail was refused.
type Cause struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"` // such as 550 5.1.1, or the name of a limit
}

// Minute is what a process counted within a minute.
type Minute struct {
	Number   int64     `json:"minute"`   // since 1970
	Accepted int64     `json:"accepted"` // messages that were stored, one for each recipient
	Refused  int64     `json:"refused"`  // recipients whose mail was refused
	Causes   []Refusal `json:"causes,omitempty"`
}

// At returns the beginning of the minute.
func (m Minute) At() time.Time { return time.Unix(m.Number*60, 0).UTC() }

// Refusal is how often mail was refused for a cause.
type Refusal struct {
	Cause
	Count int64 `json:"count"`
}

// Traffic counts the mail of a process in the last minutes, in memory. It is safe for concurrent use.
type Traffic struct {
	clock clock.Clock
	mu    sync.Mutex
	ring  [Minutes]counted // that of a minute is at its number modulo Minutes
}

type counted struct {
	number            int64
	accepted, refused int64
	causes            map[Cause]int64
}

// NewTraffic returns a Traffic that has counted nothing.
func NewTraffic(c clock.Clock) *Traffic { return &Traffic{clock: c} }

// Accepted counts a stored message.
func (t *Traffic) Accepted() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current().accepted++
}

// Refused counts a recipient that was refused with a reply.
func (t *Traffic) Refused(reply string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.current()
	m.refused++
	m.count(Cause{ByReply, reply})
}

// Stopped counts a connection, command or call that a block or a limit stopped.
func (t *Traffic) Stopped(kind, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current().count(Cause{kind, reason})
}

// current returns the counts of this minute. The caller holds mu.
func (t *Traffic) current() *counted {
	now := minuteOf(t.clock.Now())
	m := &t.ring[now%Minutes]
	if m.number != now {
		*m = counted{number: now, causes: make(map[Cause]int64)}
	}
	return m
}

func (m *counted) count(c Cause) {
	if _, known := m.causes[c]; !known && len(m.causes) >= causesMax {
		c.Reason = "other"
	}
	m.causes[c]++
}

// minutes returns the minutes in which something was counted.
func (t *Traffic) minutes() []Minute {
	t.mu.Lock()
	defer t.mu.Unlock()
	oldest := minuteOf(t.clock.Now()) - Minutes
	var all []Minute
	for _, m := range t.ring {
		if m.number > oldest {
			all = append(all, Minute{m.number, m.accepted, m.refused, refusals(m.causes)})
		}
	}
	return all
}

// minuteOf returns the number of a minute. It is not negative.
func minuteOf(at time.Time) int64 { return max(0, at.Unix()/60) }

// refusals returns counts, the largest first.
func refusals(causes map[Cause]int64) []Refusal {
	all := make([]Refusal, 0, len(causes))
	for c, n := range causes {
		all = append(all, Refusal{c, n})
	}
	slices.SortFunc(all, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// Mail is the mail of a service in the last minutes.
type Mail struct {
	Minutes  []Minute  // all of them, the oldest first, without causes; the last one has not ended
	Refusals []Refusal // in all of them, the most frequent first
}

// Total adds up what processes have counted.
func Total(all []Process, now time.Time) Mail {
	current := minuteOf(now)
	minutes, causes := make([]Minute, Minutes), make(map[Cause]int64)
	for i := range minutes {
		minutes[i].Number = current - Minutes + 1 + int64(i)
	}
	for _, p := range all {
		for _, m := range p.minutes {
			i := m.Number - minutes[0].Number
			if i < 0 || i >= Minutes {
				continue
			}
			minutes[i].Accepted += m.Accepted
			minutes[i].Refused += m.Refused
			for _, r := range m.Causes {
				causes[r.Cause] += r.Count
			}
		}
	}
	return Mail{minutes, refusals(causes)}
}

package smtpd

import (
	"fmt"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// recipients counts the recipients of each client (ratelimit.AddrIdentity), so that a client that probes for existing
// mailboxes can be blocked (docs/decisions/0043). It does not use package ratelimit, since it needs the share of
// rejected recipients as well as their number. Its windows begin with a client's first recipient. It is safe for
// concurrent use; the counts are those of this process.
type recipients struct {
	limit ratelimit.Limit
	clock clock.Clock

	mu      sync.Mutex       // guards the fields below
	tallies map[string]tally // by client
	sweepAt int              // number of tallies at which sweep removes the expired ones
}

// tally counts the recipients of a client in each window of the limit: all of them (total), and those that got a 5yz
// reply (refused). A window ends at ends.
type tally []struct {
	ends           time.Time
	total, refused int
}

const (
	// A client is blocked only if nine in ten of its recipients were refused. This spares a large sender of which some recipients no longer
	// exist.
	blockedRefused, blockedOf = 9, 10

	firstSweep = 1 << 10 // tallies below which none are removed
	maxTallies = 1 << 16 // some 10 MiB; beyond that, the tallies of arbitrary clients are dropped
)

// newRecipients returns the counts for a limit. With an empty limit nothing is counted and no client is blocked.
func newRecipients(limit ratelimit.Limit, c clock.Clock) *recipients {
	return &recipients{limit: limit, clock: c, tallies: make(map[string]tally), sweepAt: firstSweep}
}

// count counts a recipient of a client, and of the /48 of an IPv6 client.
func (rs *recipients) count(client string, refused bool) {
	if len(rs.limit) == 0 {
		return
	}
	now := rs.clock.Now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.countLocked(client, refused, now)
	if network, ok := ratelimit.NetworkOf(client); ok {
		rs.countLocked(network, refused, now)
	}
}

// countLocked counts a recipient of a client or a network. The caller holds the lock.
func (rs *recipients) countLocked(client string, refused bool, now time.Time) {
	t := rs.tallies[client]
	if t == nil {
		rs.sweep(now)
		t = make(tally, len(rs.limit))
		rs.tallies[client] = t
	}
	for i, w := range rs.limit {
		if !now.Before(t[i].ends) {
			t[i].ends, t[i].total, t[i].refused = now.Add(w.Per), 0, 0
		}
		t[i].total++
		if refused {
			t[i].refused++
		}
	}
}

// blockedFor returns how long a client is still blocked, or 0 if it is not.
func (rs *recipients) blockedFor(client string) (wait time.Duration) {
	if len(rs.limit) == 0 {
		return 0
	}
	now := rs.clock.Now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	wait = rs.blockedLocked(client, 1, now)
	if network, ok := ratelimit.NetworkOf(client); ok {
		wait = max(wait, rs.blockedLocked(network, ratelimit.NetworkShare, now))
	}
	return wait
}

// blockedLocked returns how long a client or a network is still blocked that may have a number of times the limit. The caller holds the
// lock.
func (rs *recipients) blockedLocked(client string, times int, now time.Time) (wait time.Duration) {
	for i, w := range rs.tallies[client] {
		if w.refused > rs.limit[i].Count*times && w.refused*blockedOf >= w.total*blockedRefused {
			wait = max(wait, w.ends.Sub(now))
		}
	}
	return wait
}

// sweep makes sure that one more tally fits. It removes expired ones, and arbitrary ones if there are still too many.
// The caller holds the lock.
func (rs *recipients) sweep(now time.Time) {
	if len(rs.tallies) < rs.sweepAt {
		return
	}
	for b, t := range rs.tallies {
		if t.expired(now) {
			delete(rs.tallies, b)
		}
	}
	for b := range rs.tallies {
		if len(rs.tallies) < maxTallies {
			break
		}
		delete(rs.tallies, b)
	}
	rs.sweepAt = min(max(firstSweep, 2*len(rs.tallies)), maxTallies)
}

// expired reports whether all windows of a tally have ended.
func (t tally) expired(now time.Time) bool {
	for _, w := range t {
		if now.Before(w.ends) {
			return false
		}
	}
	return true
}

// tooManyRefused returns the reply to a blocked client. It ends the session.
func tooManyRefused(wait time.Duration) reply {
	return reply(fmt.Sprintf("421 4.7.0 Too many refused recipients from your address, try again in %d seconds", seconds(wait)))
}

// seconds returns a wait in whole seconds, at least 1.
func seconds(wait time.Duration) int64 { return max(clock.Seconds(wait), 1) }

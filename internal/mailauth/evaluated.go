package mailauth

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// client is all that a verdict depends on beside the records, as long as none of them has a macro (RFC 7208 §7).
type client struct {
	ip     netip.Addr
	domain string
}

// evaluation is what SPF came to, with the records it came from. Evaluations are cached, since few senders send most mail and reading
// the records costs more than seeing that they are the same. A verdict holds for as long as DNS has these very records: each of them
// is asked for again before the verdict is used, so it needs no expiry.
type evaluation struct {
	verdict Verdict
	records []answer // in the order they were asked for
}

// answer is what texts DNS has of a name.
type answer struct {
	name  string
	texts []string
}

// Bounds of the cached evaluations, which take 4 MiB at most. The records of a large sender take some 2 KiB.
const (
	maxEvaluations    = 1024
	maxEvaluationSize = 4 << 10
)

// recallSPF is checkSPF, of what is known.
func (c *Checker) recallSPF(known *recall, in Input, id identities) Verdict {
	from := client{in.RemoteIP.Unmap(), id.spf}
	before, found := c.evaluations.Get(from, time.Time{})
	if found && before.holds(c.ended, known) {
		return before.verdict
	}
	known.asked = 0
	now := evaluation{verdict: checkSPF(c.ended, known, in, id), records: known.records}
	if !known.failed && len(known.records) == known.asked && now.lasts() {
		c.evaluations.Put(from, now, 1, time.Time{})
	}
	return now.verdict
}

// holds tells whether DNS still gives the records that the verdict came from. Then every question would be asked again and
// answered likewise, and the verdict would be the same.
func (e *evaluation) holds(ctx context.Context, known *recall) bool {
	for _, r := range e.records {
		texts, err := known.Resolver.LookupTXT(ctx, r.name)
		known.note(err)
		if err != nil || !slices.Equal(texts, r.texts) {
			return false
		}
	}
	return true
}

// lasts tells whether another mail of the client may have the verdict: none of the records has a macro, which may stand for the
// sender's local part or the time, and they are not too long to be kept.
func (e *evaluation) lasts() bool {
	size := 0
	for _, r := range e.records {
		size += len(r.name)
		for _, text := range r.texts {
			if size += len(text); strings.IndexByte(text, '%') >= 0 {
				return false
			}
		}
	}
	return size > 0 && size <= maxEvaluationSize && e.verdict != TempError
}

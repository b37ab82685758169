package mailauth

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// client is what a verdict of SPF depends on besides the records, unless one of them has a macro (RFC 7208 §7).
type client struct {
	ip     netip.Addr
	domain string
}

// evaluation is a verdict of SPF with the records it is based on. Evaluations are cached, since few senders send most mail, and parsing the
// records costs more than comparing them. A cached verdict needs no expiry: each record is looked up again and compared before the
// verdict is used.
type evaluation struct {
	verdict Verdict
	records []answer // in the order they were asked for
}

// answer is the TXT records of a name.
type answer struct {
	name  string
	texts []string
}

// Bounds of the cached evaluations, which take 4 MiB at most. The records of a large sender take some 2 KiB.
const (
	maxEvaluations    = 1024
	maxEvaluationSize = 4 << 10
)

// recallSPF is checkSPF with cached records only. known.failed says that the verdict is not valid, since a record was
// not cached.
func (c *Checker) recallSPF(known *recall, in Input, id identities) Verdict {
	from := client{in.RemoteIP.Unmap(), id.spf}
	before, found := c.evaluations.Get(from, time.Time{})
	if found && before.holds(c.ended, known) {
		return before.verdict
	}
	// The look-ups of holds do not count.
	known.asked = 0
	now := evaluation{verdict: checkSPF(c.ended, known, in, id), records: known.records}
	if !known.failed && len(known.records) == known.asked && now.lasts() {
		c.evaluations.Put(from, now, 1, time.Time{})
	}
	return now.verdict
}

// holds reports whether DNS still has the records of the evaluation. Then evaluating them again would give the same verdict.
func (e *evaluation) holds(ctx context.Context, known *recall) bool {
	for _, r := range e.records {
		texts, err := known.Resolver.LookupTXT(ctx, r.name)
		known.count(err)
		if err != nil || !slices.Equal(texts, r.texts) {
			return false
		}
	}
	return true
}

// lasts reports whether the evaluation applies to other mails of the client and may be cached: no record has a macro, which may stand for
// the sender's local part or the time, and the records are not too long.
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

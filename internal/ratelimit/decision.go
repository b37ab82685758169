package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
)

// Decision is the result of a Take. Window, Limit, Remaining and Reset are those of one window: of a refusal the one
// that refuses longest, otherwise the one with the least remaining. A Decision is a value and may be copied.
type Decision struct {
	OK         bool
	Name       Name
	Policy     Limit // all windows
	Window     Window
	Limit      int           // the window's count
	Remaining  int           // how many more would pass at once
	Reset      time.Duration // until one more than Remaining would pass; 0 if nothing is taken
	RetryAfter time.Duration // if not OK: after exactly this time the same Take passes, unless there are other takes meanwhile
	index      int           // of Window in Policy
}

// consider updates the decision by window i of the limit, whose theoretical arrival time is tat, for a request of n at
// the time now. Window 0 must be considered first. It takes nothing yet. tat must be clamped (see rule.clamp).
func (d *Decision) consider(i int, w Window, tat, now int64, n int) {
	r := w.rule()
	v := r.take(tat, now, int64(n))
	left, retry := int(r.remaining(v.debt)), micros(v.retry)
	switch {
	case i == 0:
	case d.OK && !v.ok: // the first to refuse
	case !d.OK && !v.ok && retry > d.RetryAfter:
	case d.OK && v.ok && left < d.Remaining:
	default:
		return
	}
	d.OK, d.Window, d.index = v.ok, w, i
	d.Limit, d.Remaining, d.Reset, d.RetryAfter = int(r.count), left, micros(r.reset(v.debt)), retry
}

// Headers are the values of the response fields that describe a decision. A field whose value is empty is left out.
type Headers struct {
	RateLimit       string // draft-ietf-httpapi-ratelimit-headers-10 §4: "reads";r=299;t=1
	RateLimitPolicy string // ibidem §3: "reads";q=300;w=60
	RetryAfter      string // RFC 9110 §10.2.3, whole seconds, rounded up
}

// Headers returns the fields of a decision; all are empty for the empty limit. RateLimit has the window of the
// decision only, RateLimitPolicy has all of them.
func (d Decision) Headers() Headers {
	if len(d.Policy) == 0 {
		return Headers{}
	}
	var h Headers
	h.RateLimit = fmt.Sprintf("%q;r=%d;t=%d", d.policyName(d.index), d.Remaining, clock.Seconds(d.Reset))
	items := make([]string, len(d.Policy))
	for i, w := range d.Policy {
		items[i] = fmt.Sprintf("%q;q=%d;w=%d", d.policyName(i), w.Count, clock.Seconds(w.Per))
	}
	h.RateLimitPolicy = strings.Join(items, ", ")
	if !d.OK {
		h.RetryAfter = strconv.FormatInt(clock.Seconds(d.RetryAfter), 10)
	}
	return h
}

// policyName returns the name of window i in the header fields: that of the limit, followed by the window's duration
// if the limit has several windows, since names must differ within a field (draft-ietf-httpapi-ratelimit-headers-10
// §3).
func (d Decision) policyName(i int) string {
	if len(d.Policy) == 1 {
		return string(d.Name)
	}
	return string(d.Name) + "-" + span(d.Policy[i].Per)
}

// Problem returns rate.limited for a decision that is not OK, otherwise nil. Callers must compare it with nil before
// they convert it to an error.
func (d Decision) Problem() *problem.Problem {
	if d.OK {
		return nil
	}
	p := problem.Detailf(problem.RateLimited, "at most %d in %s; try again in %d s", d.Limit, span(d.Window.Per), clock.Seconds(d.RetryAfter))
	p.RetryAfter = d.RetryAfter
	return p
}

package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
)

// Decision is the answer to one Take. Window, Limit, Remaining and Reset speak of the window that matters most: of a
// refusal the one that refuses longest, else the one with the least left.
type Decision struct {
	OK         bool
	Name       Name
	Policy     Limit // every window that was asked
	Window     Window
	Limit      int           // the window's count
	Remaining  int           // how many more would pass at once now
	Reset      time.Duration // until one more than Remaining would pass; zero when all is free
	RetryAfter time.Duration // if not OK: waiting exactly this long makes the same Take pass, if nobody else takes meanwhile
	index      int
}

// weigh lets one window have its say. Only the verdict is kept: nothing is taken yet.
func (d *Decision) weigh(i int, w Window, tat, now int64, n int) {
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

// Headers are the values of the answer fields that tell a client where it stands. An empty one is left out.
type Headers struct {
	RateLimit       string // draft-ietf-httpapi-ratelimit-headers-10 §4: "reads";r=299;t=1
	RateLimitPolicy string // ibidem §3: "reads";q=300;w=60
	RetryAfter      string // RFC 9110 §10.2.3, whole seconds, rounded up
}

// Headers returns the fields for a decision; all are empty under the empty limit.
func (d Decision) Headers() Headers {
	if len(d.Policy) == 0 {
		return Headers{}
	}
	var h Headers
	h.RateLimit = fmt.Sprintf("%q;r=%d;t=%d", d.policyName(d.index), d.Remaining, seconds(d.Reset))
	items := make([]string, len(d.Policy))
	for i, w := range d.Policy {
		items[i] = fmt.Sprintf("%q;q=%d;w=%d", d.policyName(i), w.Count, seconds(w.Per))
	}
	h.RateLimitPolicy = strings.Join(items, ", ")
	if !d.OK {
		h.RetryAfter = strconv.FormatInt(seconds(d.RetryAfter), 10)
	}
	return h
}

// policyName is the limit's name; with several windows each has its duration behind it.
func (d Decision) policyName(i int) string {
	if len(d.Policy) == 1 {
		return string(d.Name)
	}
	return string(d.Name) + "-" + span(d.Policy[i].Per)
}

// Problem is rate.limited for a decision that is not OK, else nil.
func (d Decision) Problem() *problem.Problem {
	if d.OK {
		return nil
	}
	p := problem.Detailf(problem.RateLimited, "at most %d in %s; try again in %d s", d.Limit, span(d.Window.Per), seconds(d.RetryAfter))
	p.RetryAfter = d.RetryAfter
	return p
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

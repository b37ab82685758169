package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// limit holds a call against the limit of its operation (decisions §5), before anything else is done for it.
func (a *API) limit(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	r := request(ctx.Context())
	r.operation = o.ID
	if o.Limit == "" {
		next(ctx)
		return
	}
	d := a.Limiter.Take(o.Limit, ratelimit.AddrIdentity(r.client), a.limitOf(o.Limit), 1)
	h := d.Headers()
	setHeader(ctx, "RateLimit", h.RateLimit)
	setHeader(ctx, "RateLimit-Policy", h.RateLimitPolicy)
	if !d.OK {
		a.write(ctx, d.Problem())
		return
	}
	next(ctx)
}

func (a *API) limitOf(n ratelimit.Name) ratelimit.Limit {
	switch n {
	case ratelimit.MailboxCreate:
		return a.Settings.MailboxCreate
	case ratelimit.SessionStart:
		return a.Settings.SessionStart
	case ratelimit.Reads:
		return a.Settings.Reads
	}
	return a.Settings.Other
}

func setHeader(ctx huma.Context, name, value string) {
	if value != "" {
		ctx.SetHeader(name, value)
	}
}

// poll lets a call wait: it takes one of the client's places for open long-polls, moves the connection's write deadline
// behind the wait, and returns how long the call may wait. Error: rate.limited.
func (a *API) poll(ctx context.Context, seconds int, left time.Duration) (wait time.Duration, done func(), err error) {
	wait = min(time.Duration(seconds)*time.Second, a.Settings.WaitMax, left)
	if seconds == 0 {
		return 0, func() {}, nil
	}
	r := request(ctx)
	release, ok := a.Gauge.Acquire(ratelimit.LongPolls, ratelimit.AddrIdentity(r.client), a.Settings.LongPolls)
	if !ok {
		p := problem.Detailf(problem.RateLimited, "%d long-polls are open from your address; end one first", a.Settings.LongPolls)
		p.RetryAfter = time.Second
		return 0, nil, p
	}
	// A deadline of the machine's network: the machine's clock, whatever clock the service runs by.
	_ = http.NewResponseController(r.writer).SetWriteDeadline(clock.System().Now().Add(wait + a.Settings.WriteTimeout))
	return wait, release, nil
}

// clientAddr is the address that limits count by: the peer's, or what a trusted proxy says it forwarded for: the
// right-most entry that is not a trusted proxy itself (decisions §1).
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	client := peer.Addr().Unmap()
	if len(trusted) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && within(client, trusted); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		client = hop.Unmap().WithZone("")
	}
	return client
}

func within(a netip.Addr, networks []netip.Prefix) bool {
	for _, n := range networks {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

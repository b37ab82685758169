package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// limit holds a call against the limit of its operation (decisions §5). What counts by the client's address is counted
// before anything else is done; what counts by the credential, in authenticate, where it is known; and sign-ins, which
// count by the account that they are for, in their handler.
func (a *API) limit(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	request(ctx.Context()).operation = o.ID
	if o.Limit == "" || o.Limit == ratelimit.SignIn || o.byCredential() || a.take(ctx, a.address(ctx)) {
		next(ctx)
	}
}

// byCredential reports whether the operation's calls count by the credential (decisions §5, other calls and key calls).
func (o *Operation) byCredential() bool {
	return o.byKey() || o.Limit == ratelimit.Other && len(o.Auth) > 0
}

// byKey reports whether the operation's limit is that of a developer key, which follows the plan.
func (o *Operation) byKey() bool {
	return o.Limit == ratelimit.KeyCalls || o.Limit == ratelimit.KeyMailboxCreate
}

// address is the identity of a client without a credential.
func (a *API) address(ctx huma.Context) string {
	return ratelimit.AddrIdentity(request(ctx.Context()).client)
}

// take counts a call for an identity and tells the client where it stands. Over the limit it answers and returns false.
func (a *API) take(ctx huma.Context, identity string) bool {
	name := operation(ctx).Limit
	return a.takeOf(ctx, name, identity, a.limitOf(name))
}

// takeFor is take for the caller that a credential stands for. Where it stands for nobody the client's address counts,
// and as for other calls where the limit would be a key's.
func (a *API) takeFor(ctx huma.Context, c caller) bool {
	o := operation(ctx)
	switch {
	case !o.byKey():
		return a.take(ctx, cmp.Or(c.identity(), a.address(ctx)))
	case c.key == nil:
		return a.takeOf(ctx, ratelimit.Other, a.address(ctx), a.Settings.Other)
	case o.Limit == ratelimit.KeyMailboxCreate:
		return a.takeOf(ctx, o.Limit, c.key.Prefix, c.key.Limits.MailboxCreate)
	}
	return a.takeOf(ctx, o.Limit, c.key.Prefix, c.key.Limits.Calls)
}

func (a *API) takeOf(ctx huma.Context, name ratelimit.Name, identity string, limit ratelimit.Limit) bool {
	d := a.Limiter.Take(name, identity, limit, 1)
	h := d.Headers()
	setHeader(ctx, "RateLimit", h.RateLimit)
	setHeader(ctx, "RateLimit-Policy", h.RateLimitPolicy)
	if !d.OK {
		a.write(ctx, d.Problem())
	}
	return d.OK
}

func (a *API) limitOf(n ratelimit.Name) ratelimit.Limit {
	switch n {
	case ratelimit.MailboxCreate:
		return a.Settings.MailboxCreate
	case ratelimit.SignIn:
		return a.Settings.SignIn
	case ratelimit.SignInAccount:
		return a.Settings.SignInAccount
	case ratelimit.SignInAddress:
		return a.Settings.SignInAddress
	case ratelimit.Register:
		return a.Settings.Register
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

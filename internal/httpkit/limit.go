package httpkit

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// CountBy says by what the calls of an operation are counted against its limit, and therefore where.
type CountBy int

// The values of CountBy.
const (
	ByAddress CountBy = iota // the client's address: counted before anything else is done
	ByCaller                 // the caller: counted by API.Authenticate
	ByHandler                // counted by the operation's handler
)

// limit counts a call by the client's address, if its operation wants that.
func (k *Kit) limit(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	call := callOf(ctx.Context())
	call.operation = o.ID
	if o.Limit == "" || o.CountBy != ByAddress || k.Take(ctx, o.Limit, call.identity(), k.Limit(o.Limit)) {
		next(ctx)
	}
}

// Limit returns the configured limit of a name.
func (k *Kit) Limit(n ratelimit.Name) ratelimit.Limit {
	if limit, ok := k.Limits[n]; ok {
		return limit
	}
	return k.Limits[ratelimit.Other]
}

// Take counts a call for an identity and sets the response's RateLimit fields. Over the limit it responds with the problem
// and returns false.
func (k *Kit) Take(ctx huma.Context, name ratelimit.Name, identity string, limit ratelimit.Limit) bool {
	d := k.Count(ctx.Context(), name, identity, limit)
	ShowLimit(ctx.Context(), d)
	if !d.OK {
		k.write(ctx, d.Problem())
	}
	return d.OK
}

// Count counts a call for an identity, unless the request that ctx belongs to is local.
func (k *Kit) Count(ctx context.Context, name ratelimit.Name, identity string, limit ratelimit.Limit) ratelimit.Decision {
	if IsLocal(ctx) {
		return ratelimit.Decision{OK: true, Name: name}
	}
	return k.Limiter.Take(name, identity, limit, 1)
}

// Uncount gives back what Count has counted for a call that turned out not to count.
func (k *Kit) Uncount(ctx context.Context, name ratelimit.Name, identity string, limit ratelimit.Limit) {
	if !IsLocal(ctx) {
		k.Limiter.Return(name, identity, limit, 1)
	}
}

// Turn is a position in a queue. Wait waits until it is the caller's turn, and Release leaves the queue.
type Turn interface {
	Wait(ctx context.Context) error
	Release()
}

// AwaitTurn counts a call that is in a queue against a limit of its address, and waits for its turn. A call that gets no turn
// counts against no limit. After an error the call has left the queue. Errors: rate.limited, with a decision that is not OK; those of
// Turn.Wait.
func (k *Kit) AwaitTurn(ctx context.Context, name ratelimit.Name, t Turn) (ratelimit.Decision, error) {
	address := AddrIdentity(ctx)
	d := k.Count(ctx, name, address, k.Limit(name))
	if !d.OK {
		t.Release()
		return d, d.Problem()
	}
	err := t.Wait(ctx)
	if err != nil {
		t.Release()
		k.Uncount(ctx, name, address, k.Limit(name))
	}
	return d, err
}

// ShowLimit sets the RateLimit fields of the response to the request that ctx belongs to.
func ShowLimit(ctx context.Context, d ratelimit.Decision) {
	h, fields := callOf(ctx).writer.Header(), d.Headers()
	if fields.RateLimit != "" { // the empty limit has none
		h.Set("RateLimit", fields.RateLimit)
		h.Set("RateLimit-Policy", fields.RateLimitPolicy)
	}
}

// Poll lets a call wait for as many seconds as its client asks for, at most WaitMax and left. It takes one of the
// long-polls that an address may have open, which done gives back, and extends the connection's write deadline by the
// wait. Error: rate.limited.
func (k *Kit) Poll(ctx context.Context, seconds int, left time.Duration) (wait time.Duration, done func(), err error) {
	wait = min(time.Duration(seconds)*time.Second, k.WaitMax, left)
	if seconds == 0 {
		return 0, func() {}, nil
	}
	release, err := k.acquirePoll(ctx)
	if err != nil {
		return 0, nil, err
	}
	k.Extend(ctx, wait)
	return wait, release, nil
}

// Extend extends the write deadline of a call's connection, so that the response may begin as much later.
func (k *Kit) Extend(ctx context.Context, by time.Duration) {
	// A network deadline is on the machine's clock, whatever clock the service runs by.
	_ = http.NewResponseController(callOf(ctx).writer).SetWriteDeadline(clock.System().Now().Add(by + k.WriteTimeout))
}

// ExtendBody is Extend for a call whose body may take that much longer to arrive, too.
func (k *Kit) ExtendBody(ctx context.Context, by time.Duration) {
	_ = http.NewResponseController(callOf(ctx).writer).SetReadDeadline(clock.System().Now().Add(by))
	k.Extend(ctx, by)
}

// Challenge sets how a client may authenticate if the response has the status 401 (RFC 9110 §11.6.1).
func Challenge(ctx context.Context, challenge string) {
	callOf(ctx).writer.Header().Set("WWW-Authenticate", challenge)
}

// acquirePoll takes one of the long-polls that an address may have open. Error: rate.limited.
func (k *Kit) acquirePoll(ctx context.Context) (release func(), err error) {
	c := callOf(ctx)
	if c.notLocal == nil {
		return func() {}, nil
	}
	release, ok := k.Gauge.Acquire(ratelimit.LongPolls, c.identity(), k.LongPolls)
	if !ok {
		p := problem.Detailf(problem.RateLimited, "%d long-polls are open from your address; end one first", k.LongPolls)
		p.RetryAfter = time.Second
		return nil, p
	}
	return release, nil
}

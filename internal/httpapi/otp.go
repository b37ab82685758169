package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// otp registers the group otp (spec §4).
func (a *API) otp() {
	register(a, "otp", Operation{
		ID: "get-latest-otp", Method: http.MethodGet, Path: "/mailboxes/me/otp/latest", Summary: "Get the latest one-time code; wait for it", Status: 200,
		Text: "The code of the newest message that has one. With `wait`, the answer is held back until a code arrives, at most that many seconds.",
		Auth: []Scheme{mailboxToken}, Limit: ratelimit.Reads, Expired: problem.OTPNotFound, Codes: []problem.Code{problem.OTPNotFound},
	}, a.latestOTP)
}

func (a *API) latestOTP(ctx context.Context, in *struct {
	Newer
	From string `query:"from" maxLength:"255" doc:"Only from senders whose address contains this, in any case."`
},
) (*one[*message.OTP], error) {
	after, since, err := in.bounds()
	if err != nil {
		return nil, err
	}
	m := from(ctx).mailbox
	wait, done, err := a.poll(ctx, in.Wait, m.TTL(a.Clock.Now()))
	if err != nil {
		return nil, err
	}
	defer done()
	code, err := a.Messages.LatestCode(ctx, m.ID, message.CodeQuery{After: after, Since: since, From: in.From, Wait: wait})
	if wait > 0 && problem.Has(err, problem.OTPNotFound) {
		if ended := a.ended(ctx, m.ID, problem.OTPNotFound); ended != nil {
			return nil, ended
		}
	}
	if err != nil {
		return nil, err
	}
	return single(code), nil
}

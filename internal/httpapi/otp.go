package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/allmail"
	"github.com/gonebox/gonebox/internal/diagnosis"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
)

// otp registers the group otp (docs/spec/messages.md#codes).
func (a *API) otp() {
	register(a, "otp", httpkit.Operation{
		ID: "get-latest-otp", Method: http.MethodGet, Path: "/mailboxes/me/otp/latest", Summary: "Get the latest one-time code; wait for it", Status: 200,
		Text: "The code of the newest message that has one. With `wait`, the response is delayed until there is one, at most that many seconds.",
		Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Reads, Expired: problem.OTPNotFound, Codes: []problem.Code{problem.OTPNotFound},
	}, a.latestOTP)
}

// CodeFilter is the query for the latest code.
type CodeFilter struct {
	Newer
	SenderFilter
}

func (a *API) latestOTP(ctx context.Context, in *CodeFilter) (*httpkit.EncodedOne[resource.OTP], error) {
	m := from(ctx).mailbox
	return a.codeOf(ctx, m, *in, func() error { return a.ended(ctx, m, problem.OTPNotFound) })
}

// codeOf returns the latest code of a mailbox. After a wait without a result it calls checkLive, which returns an error if the
// mailbox ended meanwhile.
func (a *API) codeOf(ctx context.Context, m *mailbox.Mailbox, q CodeFilter, checkLive func() error) (*httpkit.EncodedOne[resource.OTP], error) {
	after, since, err := q.bounds()
	if err != nil {
		return nil, err
	}
	wait, done, err := a.kit.Poll(ctx, q.Wait, a.left(ctx, m))
	if err != nil {
		return nil, err
	}
	defer done()
	began, match := a.kit.Clock.Now(), q.match()
	code, err := a.Messages.LatestCode(ctx, m.ID, message.CodeQuery{After: after, Since: since, Match: match, Wait: wait, Credential: a.credentialCheck(ctx)})
	if wait > 0 && problem.Has(err, problem.OTPNotFound) {
		if ended := checkLive(); ended != nil {
			return nil, ended
		}
		match.Code = true
		p := problem.New(problem.OTPNotFound)
		p.Diagnosis = a.diagnose(ctx, diagnosis.Wait{Began: began, Query: allmail.Query{Query: message.Query{After: after, Since: since, Match: match}}, Box: m})
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	return httpkit.SingleEncoded[resource.OTP](string(code)), nil
}

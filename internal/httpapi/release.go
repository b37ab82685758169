package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/release"
)

// releases registers the operation that takes a message out of the service (docs/spec/relay.md#releasing-a-message).
func (a *API) releases(group string) {
	register(a, group, httpkit.Operation{
		ID: "release-message", Method: http.MethodPost, Path: "/messages/{id}/release", Summary: "Send a message on through the operator's relay", Status: 202,
		Text: "The raw message is sent as it was received, behind Resent fields, to the account's confirmed e-mail address or to one that the operator allows; never from a mailbox without an account. " +
			"The response comes before anything is sent: the list of mail deliveries shows each try, for up to 48 hours. An account releases at most `limits.release` messages. " +
			"With the token of the mailbox; or with a user token or a key (scope `" + string(apikey.MailboxesWrite) + "`), for a message in any mailbox of the account.",
		Auth: []httpkit.Scheme{mailboxToken, userToken, apiKey}, Scope: string(apikey.MailboxesWrite), Limit: ratelimit.Other, Expired: problem.MessageNotFound,
		Codes: []problem.Code{problem.MessageNotFound, problem.MessageRawExpired, problem.RelayMissing, problem.RelayNotAllowed},
	}, a.releaseMessage)
}

// messageRelease is the body of a release.
type messageRelease struct {
	_  struct{} `additionalProperties:"false"`
	To string   `json:"to" minLength:"3" maxLength:"254" doc:"One address, as it is: without a name and spaces." example:"you@example.org"`
}

// QueuedRelease is a message that was handed over for sending.
type QueuedRelease struct {
	MessageID id.Message `json:"messageId" doc:"The message." example:"msg_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	To        string     `json:"to" doc:"To whom it will be sent." example:"you@example.org"`
	Status    string     `json:"status" enum:"queued" doc:"It waits for the relay."`
}

func (a *API) releaseMessage(ctx context.Context, in *struct {
	MessagePath
	Body messageRelease
},
) (*httpkit.One[QueuedRelease], error) {
	box, m, err := a.locate(ctx, in.MessagePath)
	if err != nil {
		return nil, err
	}
	err = a.Release.Release(ctx, release.Request{
		Mailbox: box, Message: m, To: in.Body.To,
		Count:   func(account id.Account) error { return a.countRelease(ctx, account) },
		Reserve: func(octets int64) error { return a.kit.Reserve(ctx, budget.Response, octets) },
	})
	if err != nil {
		return nil, err
	}
	return httpkit.Single(QueuedRelease{MessageID: m, To: in.Body.To, Status: "queued"}), nil
}

// countRelease counts a release against the limit of its account. Error: rate.limited.
func (a *API) countRelease(ctx context.Context, account id.Account) error {
	d := a.kit.Count(ctx, ratelimit.Release, string(account), a.kit.Limit(ratelimit.Release))
	httpkit.ShowLimit(ctx, d)
	if !d.OK {
		return d.Problem()
	}
	return nil
}

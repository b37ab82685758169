package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
)

// session registers the group session (docs/spec/mailboxes.md#guest-sessions).
func (a *API) session() {
	const group = "session"
	register(a, group, httpkit.Operation{
		ID: "start-session", Method: http.MethodPost, Path: "/session", Summary: "Start a guest session", Status: 201,
		Text:  "Mailboxes that are created with the key can be listed with it. It expires 30 minutes after its last use and grants no additional quota.",
		Limit: ratelimit.SessionStart, Codes: []problem.Code{problem.AccessClosed},
	}, a.startSession)
	register(a, group, httpkit.Operation{
		ID: "get-session", Method: http.MethodGet, Path: "/session", Summary: "List the session's mailboxes", Status: 200,
		Text: "Newest first, without the expired ones, each with a new token.",
		Auth: []httpkit.Scheme{guestSession}, Limit: ratelimit.Other,
	}, a.getSession)
	register(a, group, httpkit.Operation{
		ID: "end-session", Method: http.MethodDelete, Path: "/session", Summary: "End the session", Status: 204,
		Text: "Its mailboxes live on until they expire.",
		Auth: []httpkit.Scheme{guestSession}, Limit: ratelimit.Other,
	}, a.endSession)
}

// SessionKey is a new session.
type SessionKey struct {
	Key       string      `json:"key" doc:"The guest key, shown only in this response." example:"xg_AQABhT9mZ2lRkq8nD0c3b1Yv"`
	ExpiresAt clock.Stamp `json:"expiresAt" doc:"When the session expires unless its key is used before."`
}

func (a *API) startSession(ctx context.Context, _ *struct{}) (*httpkit.One[SessionKey], error) {
	if a.GuestsOff {
		return nil, errGuestsOff()
	}
	key, s, err := a.Guests.Start(ctx)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(SessionKey{Key: key, ExpiresAt: clock.Stamp{Time: s.ExpiresAt}}), nil
}

// Session is an open session with its mailboxes.
type Session struct {
	ExpiresAt clock.Stamp        `json:"expiresAt" doc:"When the session expires unless its key is used before."`
	Mailboxes []resource.Mailbox `json:"mailboxes" nullable:"false" doc:"The live mailboxes of the session, newest first."`
}

func (a *API) getSession(ctx context.Context, _ *struct{}) (*httpkit.One[Session], error) {
	s := from(ctx).session
	boxes, err := a.Guests.Mailboxes(ctx, s, a.SessionMax)
	if err != nil {
		return nil, err
	}
	shown := Session{ExpiresAt: clock.Stamp{Time: s.ExpiresAt}, Mailboxes: []resource.Mailbox{}}
	for _, m := range boxes {
		shown.Mailboxes = append(shown.Mailboxes, a.mailboxOf(m, a.Mailboxes.Token(m, ""), false))
	}
	return httpkit.Single(shown), nil
}

func (a *API) endSession(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.Guests.End(ctx, from(ctx).session)
}

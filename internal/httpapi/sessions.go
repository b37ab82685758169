package httpapi

import (
	"context"
	"net/http"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// sessions registers the operations on the user tokens of an account (docs/spec/accounts.md#sessions).
func (a *API) sessions(group string) {
	with := func(method, id, path, summary string, status int, codes ...problem.Code) httpkit.Operation {
		return httpkit.Operation{
			ID: id, Method: method, Path: "/me/sessions" + path, Summary: summary, Status: status, Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other, Codes: codes,
		}
	}
	list := with(http.MethodGet, "list-sessions", "", "List the sessions: the user tokens of the account", 200)
	list.Text = "Newest first. `current` marks the token of this call."
	register(a, group, list, a.listSessions)
	register(a, group, with(http.MethodDelete, "end-user-session", "/{id}", "End a session", 204, problem.SessionNotFound), a.endUserSession)
	others := with(http.MethodDelete, "end-other-sessions", "", "End every session but this one", 204)
	register(a, group, others, a.endOtherSessions)
}

// clientOf returns the client of a call, as sessions store it.
func clientOf(ctx context.Context) account.Client {
	return account.Client{Address: httpkit.ClientAddr(ctx), UserAgent: httpkit.UserAgent(ctx)}
}

// UserSession is a user token as its owner sees it.
type UserSession struct {
	ID         id.Session  `json:"id" doc:"Identifies the session in paths." example:"ses_01jzq8w3v5e4t9n2k7m6x0y1dr"`
	CreatedAt  clock.Stamp `json:"createdAt" doc:"When it was opened."`
	LastUsedAt clock.Stamp `json:"lastUsedAt" doc:"When it was last used, to the hour."`
	ExpiresAt  clock.Stamp `json:"expiresAt" doc:"When it ends if it is not used again."`
	Address    *string     `json:"address" nullable:"true" doc:"The IP address of the client that signed in; null if it is not known." example:"198.51.100.7"`
	UserAgent  string      `json:"userAgent" doc:"What the client said it was; may be empty." example:"Mozilla/5.0"`
	Current    bool        `json:"current" doc:"Whether it is the session of this call."`
}

func (a *API) listSessions(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[UserSession], error) {
	after, err := httpkit.Before[id.Session](*in)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(*in)
	all, err := a.Accounts.Sessions(ctx, from(ctx).login, after, size+1)
	if err != nil {
		return nil, err
	}
	all, next := httpkit.CutPage(all, size, func(t *account.TokenInfo) string { return string(t.ID) })
	shown := make([]UserSession, len(all))
	for i, t := range all {
		shown[i] = UserSession{
			ID: t.ID, CreatedAt: clock.Stamp{Time: t.CreatedAt}, LastUsedAt: clock.Stamp{Time: t.LastUsedAt}, ExpiresAt: clock.Stamp{Time: t.ExpiresAt},
			Address: textOrNull(t.Address), UserAgent: t.UserAgent, Current: t.Current,
		}
	}
	return httpkit.Page(shown, next), nil
}

func (a *API) endUserSession(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The session's id."`
},
) (*struct{}, error) {
	session, err := id.Parse[id.Session](in.ID)
	if err != nil {
		return nil, problem.New(problem.SessionNotFound)
	}
	return nil, a.Accounts.EndSession(ctx, from(ctx).login, session)
}

func (a *API) endOtherSessions(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.Accounts.EndOtherSessions(ctx, from(ctx).login)
}

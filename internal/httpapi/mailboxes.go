package httpapi

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/gonebox/gonebox/internal/domain"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/resource"
)

// mailboxes registers the group mailboxes (docs/spec/mailboxes.md).
func (a *API) mailboxes() {
	const group = "mailboxes"
	register(a, group, httpkit.Operation{
		ID: "list-domains", Method: http.MethodGet, Path: "/domains", Summary: "List the public domains", Status: 200,
		Limit: ratelimit.Other,
	}, a.listDomains)
	register(a, group, httpkit.Operation{
		ID: "create-mailbox", Method: http.MethodPost, Path: "/mailboxes", Summary: "Create a mailbox", Status: 201,
		Text: "No account is needed. With a guest key the mailbox joins that session; with a user token it belongs to the account. Every field may be omitted: the service then chooses.",
		Auth: []httpkit.Scheme{httpkit.Public, guestSession, userToken}, Limit: ratelimit.MailboxCreate,
		Codes: []problem.Code{
			problem.MailboxLocalPartTaken, problem.MailboxLocalPartReserved, problem.MailboxDomainUnavailable,
			problem.MailboxTTLTooLong, problem.MailboxLimitReached, problem.AccessClosed,
		},
	}, a.createMailbox)
	register(a, group, httpkit.Operation{
		ID: "list-account-mailboxes", Method: http.MethodGet, Path: "/me/mailboxes", Summary: "List the account's mailboxes", Status: 200,
		Text: "Newest first, without the expired ones, each with a new token. They include those that a developer key created and those that incoming mail created on a private domain.",
		Auth: []httpkit.Scheme{userToken}, Limit: ratelimit.Other,
	}, a.listAccountMailboxes)
	register(a, group, httpkit.Operation{
		ID: "get-mailbox", Method: http.MethodGet, Path: "/mailboxes/me", Summary: "Show the mailbox and its time left", Status: 200,
		Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Reads, Fresh: true,
	}, a.getMailbox)
	register(a, group, httpkit.Operation{
		ID: "destroy-mailbox", Method: http.MethodDelete, Path: "/mailboxes/me", Summary: "Destroy the mailbox now", Status: 204,
		Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Other, Expired: problem.AuthInvalidToken, Codes: []problem.Code{problem.ProjectOwnerOnly},
	}, a.destroyMailbox)
	register(a, group, httpkit.Operation{
		ID: "extend-mailbox", Method: http.MethodPost, Path: "/mailboxes/me/extend", Summary: "Extend the mailbox's lifetime", Status: 200,
		Text: "The mailbox expires ttl seconds from now, but never earlier than before. The response has a new token; the old one is valid until its own expiry.",
		Auth: []httpkit.Scheme{mailboxToken}, Limit: ratelimit.Other, Codes: []problem.Code{problem.MailboxLifetimeExceeded},
	}, a.extendMailbox)
}

// shownMailbox returns the response with a mailbox, with a token unless that is "".
func (a *API) shownMailbox(ctx context.Context, m *mailbox.Mailbox, token string) (*httpkit.One[resource.Mailbox], error) {
	paid, err := a.Mailboxes.Paid(ctx, m.Owner.Account)
	if err != nil {
		return nil, err
	}
	return httpkit.Single(a.mailboxOf(m, token, paid)), nil
}

func (a *API) mailboxOf(m *mailbox.Mailbox, token string, paid bool) resource.Mailbox {
	shown := m.Resource(a.kit.Clock.Now(), paid)
	shown.Token = token
	return shown
}

// PublicDomain is a domain for mailboxes of every client.
type PublicDomain struct {
	Domain  string `json:"domain" doc:"The domain name." example:"gonebox.localhost"`
	Default bool   `json:"default" doc:"Whether it is used if a request names none."`
}

func (a *API) listDomains(_ context.Context, _ *struct{}) (*httpkit.Many[PublicDomain], error) {
	var all []PublicDomain
	for i, d := range a.Domains.Public() {
		all = append(all, PublicDomain{Domain: d.Name, Default: i == 0})
	}
	return httpkit.Page(all, ""), nil
}

// mailboxCreation is the body that creates a mailbox.
type mailboxCreation struct {
	_         struct{} `additionalProperties:"false"`
	Domain    *string  `json:"domain,omitempty" maxLength:"255" minLength:"1" doc:"One of GET /domains, or a domain of the sink; the default one if absent."`
	LocalPart *string  `json:"localPart,omitempty" minLength:"1" maxLength:"64" pattern:"^[a-z0-9][a-z0-9_-]*(\\.[a-z0-9_-]+)*$" doc:"Generated if absent." example:"quiet-otter-4821"`
	TTL       *int64   `json:"ttl,omitempty" minimum:"60" doc:"Seconds to live; the plan has a default and a maximum."`
}

func (c *mailboxCreation) params() mailbox.CreateParams {
	if c == nil {
		return mailbox.CreateParams{}
	}
	return mailbox.CreateParams{Domain: value(c.Domain), LocalPart: value(c.LocalPart), TTL: seconds(c.TTL)}
}

// seconds returns the duration of n seconds, 0 for nil. A number above the range of time.Duration becomes its maximum,
// which exceeds every plan's maximum.
func seconds(n *int64) time.Duration {
	return time.Duration(min(value(n), math.MaxInt64/int64(time.Second))) * time.Second
}

// value returns what a pointer points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (a *API) createMailbox(ctx context.Context, in *struct {
	Body *mailboxCreation `required:"false"`
},
) (*httpkit.One[resource.Mailbox], error) {
	var owner mailbox.Owner
	switch c := from(ctx); {
	case c.session != nil:
		owner.Session = c.session.ID
	case c.account != nil:
		owner.Account = c.account.ID
	}
	if owner.Account == "" && a.GuestsOff {
		return nil, errGuestsOff()
	}
	return a.newMailbox(ctx, in.Body.params(), owner)
}

// errGuestsOff is the response to guests where access.guests is off.
func errGuestsOff() error {
	return problem.Detailf(problem.AccessClosed, "mailboxes of this service need an account; sign in, or use a developer key")
}

func (a *API) newMailbox(ctx context.Context, p mailbox.CreateParams, o mailbox.Owner) (*httpkit.One[resource.Mailbox], error) {
	m, err := a.sinkMailbox(ctx, p, o)
	if m == nil && err == nil {
		m, err = a.Mailboxes.Create(ctx, p, o)
	}
	if err != nil {
		return nil, err
	}
	return a.shownMailbox(ctx, m, a.tokenFor(ctx, m))
}

// sinkMailbox returns the mailbox of the sink that a call asks for (docs/spec/dev.md#before-the-first-mail). It returns nil if the
// domain is not of the sink, or the caller may not use it: the call is then one for another mailbox.
func (a *API) sinkMailbox(ctx context.Context, p mailbox.CreateParams, o mailbox.Owner) (*mailbox.Mailbox, error) {
	if p.Domain == "" || a.Sink == nil {
		return nil, nil
	}
	name, err := domain.Normalize(p.Domain)
	if err != nil {
		return nil, nil //nolint:nilerr // the call that creates the mailbox reports the invalid domain
	}
	account, err := a.Sink.SinkAccount(ctx, name)
	if err != nil || account == "" {
		return nil, err
	}
	if o.Account != account && (from(ctx).key != nil || !httpkit.IsLocal(ctx)) {
		return nil, nil
	}
	return a.Mailboxes.OpenSink(ctx, account, p.LocalPart, name, p.TTL)
}

// tokenFor returns a new token for a mailbox of the caller. A token for a developer key is bound to the key, and so is one
// that replaces such a token. A key without all permissions of a token gets "".
func (a *API) tokenFor(ctx context.Context, m *mailbox.Mailbox) string {
	key := from(ctx).key
	switch {
	case key == nil:
		return a.Mailboxes.Token(m, "")
	case key.MayHoldTokens():
		return a.Mailboxes.Token(m, key.Prefix)
	}
	return ""
}

func (a *API) listAccountMailboxes(ctx context.Context, in *httpkit.Paging) (*httpkit.Many[resource.Mailbox], error) {
	return a.accountMailboxes(ctx, from(ctx).account.ID, *in)
}

// accountMailboxes returns a page of an account's live mailboxes, each with a new token if the caller may have one.
func (a *API) accountMailboxes(ctx context.Context, account id.Account, p httpkit.Paging) (*httpkit.Many[resource.Mailbox], error) {
	last, err := httpkit.Before[id.Mailbox](p)
	if err != nil {
		return nil, err
	}
	paid, err := a.Mailboxes.Paid(ctx, account)
	if err != nil {
		return nil, err
	}
	size := a.kit.PageSize(p)
	boxes, err := a.Mailboxes.OfAccount(ctx, account, last, size+1)
	if err != nil {
		return nil, err
	}
	boxes, next := httpkit.CutPage(boxes, size, func(m *mailbox.Mailbox) string { return string(m.ID) })
	shown := make([]resource.Mailbox, len(boxes))
	for i, m := range boxes {
		shown[i] = a.mailboxOf(m, a.tokenFor(ctx, m), paid)
	}
	return httpkit.Page(shown, next), nil
}

func (a *API) getMailbox(ctx context.Context, _ *struct{}) (*httpkit.One[resource.Mailbox], error) {
	return a.shownMailbox(ctx, from(ctx).mailbox, "")
}

func (a *API) destroyMailbox(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.Mailboxes.Destroy(ctx, from(ctx).mailbox.ID)
}

type extension struct {
	_   struct{} `additionalProperties:"false"`
	TTL *int64   `json:"ttl,omitempty" minimum:"60" doc:"Seconds from now; the plan's default if absent."`
}

func (a *API) extendMailbox(ctx context.Context, in *struct {
	Body *extension `required:"false"`
},
) (*httpkit.One[resource.Mailbox], error) {
	if in.Body == nil {
		in.Body = &extension{}
	}
	m, err := a.Mailboxes.Extend(ctx, from(ctx).mailbox.ID, seconds(in.Body.TTL))
	if err != nil {
		return nil, err
	}
	return a.shownMailbox(ctx, m, a.tokenFor(ctx, m))
}

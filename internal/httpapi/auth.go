package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/token"
)

// Scheme names a credential scheme (spec §5).
type Scheme string

// The schemes of the specification.
const (
	public       Scheme = "public" // in a list with others: the credential may be left out
	mailboxToken Scheme = "mailboxToken"
	guestSession Scheme = "guestSession"
	userToken    Scheme = "userToken"
	apiKey       Scheme = "apiKey"
	bankpayKey   Scheme = "bankpayApikey"
)

func securitySchemes() map[string]*huma.SecurityScheme {
	bearer := func(form, text string) *huma.SecurityScheme {
		return &huma.SecurityScheme{Type: "http", Scheme: "bearer", BearerFormat: form, Description: text}
	}
	return map[string]*huma.SecurityScheme{
		string(mailboxToken): bearer("xm_…", "A mailbox token: one mailbox, its messages and attachments, as long as it lives."),
		string(guestSession): bearer("xg_…", "A guest key: the mailboxes that a session made, for 30 minutes, extended on use."),
		string(userToken):    bearer("xu_…", "A user token from POST /auth/token: the account's own surface."),
		string(apiKey):       bearer("x_…", "A developer key, limited by its scopes. It may come in X-Api-Key as well."),
		string(bankpayKey):   {Type: "apiKey", In: "header", Name: "Authorization", Description: "`Apikey <shared secret>`, from the bank's networks alone."},
	}
}

// security is what OpenAPI says of an operation's schemes.
func security(schemes []Scheme) []map[string][]string {
	var all []map[string][]string
	for _, s := range schemes {
		if s == public {
			all = append(all, map[string][]string{})
		} else {
			all = append(all, map[string][]string{string(s): {}})
		}
	}
	return all
}

// caller is whom a request's credential stands for: a mailbox, a guest session, an account, or a developer key.
type caller struct {
	mailbox *mailbox.Mailbox
	session *guest.Session
	account *account.Account
	login   *account.Session // with account: what its user token opened
	key     *apikey.Key      // also with mailbox: the key that its token carries
}

// identity is what the caller's calls count by, or "" for a caller without a credential.
func (c caller) identity() string {
	switch {
	case c.mailbox != nil:
		return string(c.mailbox.ID)
	case c.session != nil:
		return c.session.ID
	case c.account != nil:
		return string(c.account.ID) // of all its tokens together
	case c.key != nil:
		return c.key.Prefix
	}
	return ""
}

type callerKey struct{}

// from is the caller of the request in ctx, as far as the operation's schemes tell.
func from(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// authenticate checks the credential that an operation declares, before its handler runs.
func (a *API) authenticate(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	if len(o.Auth) == 0 {
		next(ctx)
		return
	}
	if o.forBank() {
		a.authenticateBank(ctx, next)
		return
	}
	c, err := a.identify(ctx.Context(), o, credential(ctx))
	if o.byCredential() && !a.takeFor(ctx, c) {
		return
	}
	switch {
	case err != nil || c.key == nil:
	case c.mailbox != nil:
		a.Keys.NoteUse(c.key)
	default:
		err = a.Keys.Admit(c.key, request(ctx.Context()).client, o.Scope)
	}
	if err != nil {
		if problem.Has(err, problem.MailboxExpired) {
			err = problem.New(o.expired())
		}
		a.write(ctx, a.problem(ctx.Context(), err))
		return
	}
	next(huma.WithValue(ctx, callerKey{}, c))
}

// malformed stands for a credential that cannot be one: it is refused, never taken for none.
const malformed = "-"

// credential is what the request presents, or "" where it presents nothing.
func credential(ctx huma.Context) string {
	header, key := ctx.Header("Authorization"), ctx.Header("X-Api-Key")
	if header == "" && key == "" {
		return ""
	}
	if kind, text, ok := strings.Cut(header, " "); ok && strings.EqualFold(kind, "Bearer") {
		return cmp.Or(strings.TrimSpace(text), malformed)
	}
	if kind, _ := token.KindOf(key); header == "" && kind == token.Developer {
		return key // the only kind that may come like this (decisions §1)
	}
	return malformed
}

// identify finds the caller. The credential's prefix tells its kind; one that the operation does not take is invalid.
func (a *API) identify(ctx context.Context, o *Operation, credential string) (caller, error) {
	if credential == "" {
		if slices.Contains(o.Auth, public) {
			return caller{}, nil
		}
		return caller{}, problem.Detailf(problem.AuthRequired, "send Authorization: Bearer with a %s", o.Auth[0])
	}
	kind, _ := token.KindOf(credential)
	switch {
	case kind == token.Mailbox && slices.Contains(o.Auth, mailboxToken):
		return a.identifyMailbox(ctx, credential)
	case kind == token.Guest && slices.Contains(o.Auth, guestSession):
		s, err := a.Guests.Authorize(ctx, credential)
		return caller{session: s}, err
	case kind == token.User && slices.Contains(o.Auth, userToken):
		s, err := a.Accounts.Authorize(ctx, credential)
		if err != nil {
			return caller{}, err
		}
		return caller{account: s.Account, login: s}, nil
	case kind == token.Developer && slices.Contains(o.Auth, apiKey):
		k, err := a.Keys.Authorize(ctx, credential)
		return caller{key: k}, err
	}
	return caller{}, problem.New(problem.AuthInvalidToken)
}

// identifyMailbox finds the mailbox that a token opens, and the developer key that the token carries, if any. The key is
// asked first: one that has ended, or may not be used from here, learns nothing of the mailbox.
func (a *API) identifyMailbox(ctx context.Context, credential string) (c caller, err error) {
	claims, err := a.Mailboxes.Claims(credential)
	if err != nil {
		return caller{}, err
	}
	if claims.Developer != "" {
		if c.key, err = a.Keys.Find(ctx, claims.Developer); err != nil {
			return caller{}, err
		}
		if err := c.key.AllowsFrom(request(ctx).client); err != nil {
			return caller{}, err
		}
	}
	c.mailbox, err = a.Mailboxes.Open(ctx, claims)
	if err != nil {
		return caller{}, err
	}
	return c, nil
}

// challenge says how to authenticate (RFC 9110 §11.6.1) with every 401.
func challenge(h http.Header, status int) {
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", "Bearer")
	}
}

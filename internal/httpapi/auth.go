package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/account"
	"github.com/gonebox/gonebox/internal/apikey"
	"github.com/gonebox/gonebox/internal/audit"
	"github.com/gonebox/gonebox/internal/guest"
	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/token"
)

// The credential schemes.
const (
	mailboxToken httpkit.Scheme = "mailboxToken"
	guestSession httpkit.Scheme = "guestSession"
	userToken    httpkit.Scheme = "userToken"
	apiKey       httpkit.Scheme = "apiKey"
	bankpayKey   httpkit.Scheme = "bankpayApikey"
	ingressKey   httpkit.Scheme = "ingress"
)

func securitySchemes() map[httpkit.Scheme]*huma.SecurityScheme {
	bearer := func(form, text string) *huma.SecurityScheme {
		return &huma.SecurityScheme{Type: "http", Scheme: "bearer", BearerFormat: form, Description: text}
	}
	return map[httpkit.Scheme]*huma.SecurityScheme{
		mailboxToken: bearer("xm_…", "A mailbox token: one mailbox, its messages and attachments, until the mailbox expires."),
		guestSession: bearer("xg_…", "A guest key: the mailboxes created in a session, for 30 minutes, extended on use."),
		userToken:    bearer("xu_…", "A user token from POST /auth/token: everything of the account."),
		apiKey:       bearer("x_…", "A developer key, limited by its scopes. X-Api-Key is accepted too."),
		bankpayKey:   {Type: "apiKey", In: "header", Name: "Authorization", Description: "`Apikey <shared secret>`, only from the bank's networks."},
		ingressKey:   {Type: "http", Scheme: "basic", Description: "The name of the ingress and its secret. Kinds that sign their requests need no credentials."},
	}
}

// credentialCodes returns the problems that an operation's credential schemes can lead to, beside those of every scheme.
func credentialCodes(o *httpkit.Operation) (codes []problem.Code) {
	if slices.Contains(o.Auth, apiKey) {
		codes = append(codes, problem.AuthScopeMissing, problem.AuthAddressNotAllowed)
	}
	if o.Scope == staffRole {
		codes = append(codes, problem.AuthRoleMissing, problem.AuthTwoFactorMissing)
	}
	if slices.Contains(o.Auth, mailboxToken) {
		codes = append(codes, expiredCode(o), problem.AuthAddressNotAllowed) // if the token is bound to a developer key
	}
	return codes
}

// expiredCode is the problem of a token of an expired mailbox.
func expiredCode(o *httpkit.Operation) problem.Code {
	return cmp.Or(o.Expired, problem.MailboxExpired)
}

// caller is what a request's credential belongs to: a mailbox, a guest session, an account, or a developer key.
type caller struct {
	mailbox *mailbox.Mailbox // its counts may be old: see mailbox.Service.Identify
	session *guest.Session
	account *account.Account
	login   *account.Session // with account: the session of its user token
	key     *apikey.Key      // also with mailbox, if its token is bound to a key
}

// identity returns what the caller's calls are counted by, "" for a caller without a credential.
func (c caller) identity() string {
	switch {
	case c.mailbox != nil:
		return string(c.mailbox.ID)
	case c.session != nil:
		return c.session.ID
	case c.account != nil:
		return string(c.account.ID) // for all its tokens together
	case c.key != nil:
		return c.key.Prefix
	}
	return ""
}

type callerKey struct{}

// from returns the caller of the request in ctx. Only what the operation's schemes allow is set.
func from(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// authenticate checks the credential that an operation declares, before its handler runs. Calls are counted before an
// invalid credential is rejected, so that guessing credentials is limited.
func (a *API) authenticate(ctx huma.Context, o *httpkit.Operation, next func(huma.Context)) {
	switch {
	case slices.Contains(o.Auth, bankpayKey):
		a.authenticateBank(ctx, o, next)
		return
	case slices.Contains(o.Auth, ingressKey):
		next(ctx) // the handler authenticates the call, since the signature may be in the body
		return
	}
	c, err := a.identify(ctx.Context(), o, credential(ctx))
	if o.CountBy == httpkit.ByCaller && !a.take(ctx, o, c) {
		return
	}
	switch {
	case err == nil && o.Scope == staffRole:
		err = a.checkStaff(c)
		ctx = huma.WithContext(ctx, audit.As(ctx.Context(), staffName(c)))
	case err != nil || c.key == nil:
	case c.mailbox != nil:
		a.Keys.RecordUse(c.key)
	default:
		if err = a.checkLocalKey(ctx.Context(), c.key); err != nil {
			break
		}
		err = a.Keys.Admit(c.key, httpkit.ClientAddr(ctx.Context()), apikey.Scope(o.Scope))
	}
	if err != nil {
		if problem.Has(err, problem.MailboxExpired) {
			err = problem.New(expiredCode(o))
		}
		a.kit.Fail(ctx, err)
		return
	}
	next(huma.WithValue(ctx, callerKey{}, c))
}

// countsByKey reports whether the operation's limit is that of a developer key, which follows the plan.
func countsByKey(o *httpkit.Operation) bool {
	return o.Limit == ratelimit.KeyCalls || o.Limit == ratelimit.KeyMailboxCreate
}

// take counts a call by its caller. A call without a valid credential counts by the client's address, and as one of the
// other calls if the limit is a developer key's. Over the limit it writes the response and returns false.
func (a *API) take(ctx huma.Context, o *httpkit.Operation, c caller) bool {
	address := httpkit.AddrIdentity(ctx.Context())
	byKey := c.key != nil && c.mailbox == nil // a token that is bound to a key counts as any other
	switch {
	case byKey && o.Limit == ratelimit.KeyMailboxCreate:
		return a.kit.Take(ctx, o.Limit, c.key.Prefix, c.key.Limits.MailboxCreate)
	case byKey:
		return a.kit.Take(ctx, ratelimit.KeyCalls, c.key.Prefix, c.key.Limits.Calls)
	case countsByKey(o):
		return a.kit.Take(ctx, ratelimit.Other, address, a.kit.Limit(ratelimit.Other))
	case o.Limit == ratelimit.Reads:
		return a.kit.Take(ctx, o.Limit, address, a.kit.Limit(o.Limit))
	}
	return a.kit.Take(ctx, o.Limit, cmp.Or(c.identity(), address), a.kit.Limit(o.Limit))
}

// malformed is the value of a credential that cannot be parsed. It is rejected, and not treated as a missing one.
const malformed = "-"

// credential returns the credential of the request, "" if there is none.
func credential(ctx huma.Context) string {
	header, key := ctx.Header("Authorization"), ctx.Header("X-Api-Key")
	if header == "" && key == "" {
		return ""
	}
	if kind, text, ok := strings.Cut(header, " "); ok && strings.EqualFold(kind, "Bearer") {
		return cmp.Or(strings.TrimSpace(text), malformed)
	}
	if kind, _ := token.KindOf(key); header == "" && kind == token.Developer {
		return key // X-Api-Key takes developer keys only
	}
	return malformed
}

// identify finds the caller. The kind of a credential is known by its prefix; a kind that the operation does not accept is
// invalid.
func (a *API) identify(ctx context.Context, o *httpkit.Operation, credential string) (caller, error) {
	if credential == "" {
		if slices.Contains(o.Auth, httpkit.Public) {
			return caller{}, nil
		}
		return caller{}, problem.Detailf(problem.AuthRequired, "send Authorization: Bearer with a %s", o.Auth[0])
	}
	kind, _ := token.KindOf(credential)
	switch {
	case kind == token.Mailbox && slices.Contains(o.Auth, mailboxToken):
		return a.identifyMailbox(ctx, o, credential)
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

// identifyMailbox finds the mailbox of a token, and the developer key that the token is bound to, if any. The key is checked
// first, so that the response says nothing about the mailbox if the key has ended or may not be used from this address.
func (a *API) identifyMailbox(ctx context.Context, o *httpkit.Operation, credential string) (c caller, err error) {
	claims, err := a.Mailboxes.Claims(credential)
	if err != nil {
		return caller{}, err
	}
	if claims.Developer != "" {
		if c.key, err = a.Keys.Find(ctx, claims.Developer); err != nil {
			return caller{}, err
		}
		if err := cmp.Or(a.checkLocalKey(ctx, c.key), c.key.AllowsFrom(httpkit.ClientAddr(ctx))); err != nil {
			return caller{}, err
		}
	}
	open := a.Mailboxes.Identify
	if o.Fresh {
		open = a.Mailboxes.Open
	}
	c.mailbox, err = open(ctx, claims)
	if err != nil {
		return caller{}, err
	}
	return c, nil
}

// checkLocalKey checks that a key that Parts.LocalKey reports is used by a local request. The networks of the key do not suffice
// for that: behind a proxy on this machine that is not configured, every client would seem to be in them, and so does a web
// page in the browser of a developer. Error: auth.address_not_allowed.
func (a *API) checkLocalKey(ctx context.Context, k *apikey.Key) error {
	if a.LocalKey == nil || !a.LocalKey(k.Prefix) {
		return nil
	}
	err := httpkit.CheckLocal(ctx)
	if err == nil {
		return nil
	}
	p, _ := problem.From(err)
	return problem.Detailf(problem.AuthAddressNotAllowed, "the key is for local requests alone: %s", p.Reason())
}

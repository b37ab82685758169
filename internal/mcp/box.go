package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
)

// MailboxArgs are the arguments that name the mailbox of a call. They are embedded in the arguments of each tool that
// uses a mailbox, which is why the type is exported.
type MailboxArgs struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"The address of the mailbox, as create_mailbox returned it."`
	Token   string `json:"token,omitempty" jsonschema:"The token that create_mailbox returned, which suffices without the address. Not needed with a developer key."`
}

// box is a mailbox together with a credential that gives access to it.
type box struct {
	path       string // the API path of the mailbox: /mailboxes/me, or /keys/mailboxes/{id} for a key that gets no tokens; /me or /keys for all
	credential string
	isAll      bool   // whether it stands for all mailboxes of the account
	isToken    bool   // whether credential is the token of the mailbox, which operations on single messages need
	id         string // of the mailbox; "": unknown
}

// boxInfo is a mailbox as the API returns it.
type boxInfo struct {
	ID           string    `json:"id"`
	Address      string    `json:"address"`
	ExpiresAt    time.Time `json:"expiresAt"`
	Token        string    `json:"token"`
	MessageCount int       `json:"messageCount"`
	UnreadCount  int       `json:"unreadCount"`
}

// tokenStore stores the tokens of the mailboxes that the client of a process has created, the newest tokensMax of them.
// They are lost when the process ends; with a developer key, findByAddress gets them again. It is safe for concurrent
// use.
type tokenStore struct {
	// mu guards the fields below.
	mu       sync.Mutex
	tokens   map[string]stored // by address in lower case
	byClient map[string]string // addresses by clientId
	order    []string          // addresses, oldest first
}

// stored is what is stored of a mailbox.
type stored struct{ token, id string }

// tokensMax bounds the memory of a process that runs for months.
const tokensMax = 10_000

// newTokenStore returns an empty tokenStore.
func newTokenStore() *tokenStore {
	return &tokenStore{tokens: make(map[string]stored), byClient: make(map[string]string)}
}

// find returns what is stored of an address, in upper or lower case. Its token is "" if there is nothing.
func (s *tokenStore) find(address string) stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[strings.ToLower(address)]
}

// put stores the token of a mailbox, and the clientId that it was created with unless that is "". It removes the oldest
// address if there are more than tokensMax.
func (s *tokenStore) put(m boxInfo, clientID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := strings.ToLower(m.Address)
	if _, known := s.tokens[address]; !known {
		s.order = append(s.order, address)
	}
	s.tokens[address] = stored{m.Token, m.ID}
	if clientID != "" {
		s.byClient[clientID] = address
	}
	if len(s.order) > tokensMax {
		s.removeLocked(s.order[0])
	}
}

// remove removes an address and its token.
func (s *tokenStore) remove(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(strings.ToLower(address))
}

// removeLocked is remove for an address in lower case. The caller holds mu.
func (s *tokenStore) removeLocked(address string) {
	delete(s.tokens, address)
	for i, a := range s.order {
		if a == address {
			s.order = append(s.order[:i], s.order[i+1:]...)
			break
		}
	}
	for clientID, a := range s.byClient {
		if a == address {
			delete(s.byClient, clientID)
		}
	}
}

// addressOf returns the address of the mailbox that was created with a clientId, or "".
func (s *tokenStore) addressOf(clientID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byClient[clientID]
}

// do calls the API and decodes the data of the response into v, unless v is nil. Errors: those of apiclient.Data.
func (c *call) do(ctx context.Context, method, path, credential string, body, v any) error {
	return apiclient.Data(ctx, c.API, apiclient.Request{Method: method, Path: path, Credential: credential, Body: body}, v)
}

// The prefixes of credentials, by their kind.
const (
	mailboxPrefix = "xm_"
	userPrefix    = "xu_"
	keyPrefix     = "x_"
)

// open finds the mailbox that a call names.
//
// A stored token, or one in the arguments, is used first. A client with a developer key or a user token needs none: its
// account's mailboxes are searched for the address. Without any credential the error is auth.required over HTTP. Over
// stdio it is mailbox.not_found, since the process would have the token if it had created the mailbox.
func (c *call) open(ctx context.Context, args MailboxArgs) (box, error) {
	if c.tokens != nil {
		if m := c.tokens.find(args.Mailbox); m.token != "" {
			return box{path: "/mailboxes/me", credential: m.token, isToken: true, id: m.id}, nil
		}
	}
	isAccount := c.isAccount()
	switch {
	case args.Token != "":
		return c.openByToken(ctx, args.Mailbox, args.Token)
	case strings.HasPrefix(c.credential, mailboxPrefix):
		return c.openByToken(ctx, args.Mailbox, c.credential)
	case isAccount && args.Mailbox == "":
		return box{}, invalidArguments("mailbox is required.")
	case isAccount:
		return c.findByAddress(ctx, args.Mailbox)
	case c.tokens != nil:
		return box{}, newFailure("mailbox.not_found")
	}
	return box{}, newFailure("auth.required")
}

// isAccount reports whether the credential of the client is that of an account.
func (c *call) isAccount() bool {
	return strings.HasPrefix(c.credential, keyPrefix) || strings.HasPrefix(c.credential, userPrefix)
}

// openAny is open for tools that read messages: where a client with a developer key or a user token names no mailbox, it returns all
// mailboxes of the account.
func (c *call) openAny(ctx context.Context, args MailboxArgs) (box, error) {
	if args != (MailboxArgs{}) || !c.isAccount() {
		b, err := c.open(ctx, args)
		if f, ok := errors.AsType[*failure](err); ok && (f.Code == "mailbox.not_found" || f.Code == "auth.required") && args.Token == "" {
			if opened, ok := c.openSink(ctx, args.Mailbox); ok {
				return opened, nil
			}
		}
		return b, err
	}
	if strings.HasPrefix(c.credential, keyPrefix) {
		return box{path: "/keys", credential: c.credential, isAll: true}, nil
	}
	return box{path: "/me", credential: c.credential, isAll: true}, nil
}

// openSink opens a mailbox of the sink before its first mail, for local clients of a service under profile: dev.
func (c *call) openSink(ctx context.Context, address string) (box, bool) {
	local, domain, isAddress := strings.Cut(strings.ToLower(address), "@")
	if !isAddress || !c.isDev(ctx) {
		return box{}, false
	}
	public, err := apiclient.List[struct{ Domain string }](ctx, c.API, "/domains", "")
	if err != nil || slices.ContainsFunc(public.Data, func(d struct{ Domain string }) bool { return d.Domain == domain }) {
		return box{}, false // create_mailbox makes mailboxes there
	}
	path, credential := "/mailboxes", ""
	if strings.HasPrefix(c.credential, keyPrefix) {
		path, credential = "/keys/mailboxes", c.credential
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodPost, path, credential, map[string]any{"localPart": local, "domain": domain}, &m); err != nil || m.Token == "" {
		return box{}, false
	}
	if c.tokens != nil {
		c.tokens.put(m, "")
	}
	return box{path: "/mailboxes/me", credential: m.Token, isToken: true, id: m.ID}, true
}

// watched returns the mailbox as the key of the client reads it, if it can: a wait that finds nothing then also says whether mail
// went to a similar address of the account, which the token of the mailbox cannot know.
func (c *call) watched(b box) box {
	if b.id == "" || !strings.HasPrefix(c.credential, keyPrefix) {
		return b
	}
	return box{path: "/keys/mailboxes/" + b.id, credential: c.credential, id: b.id}
}

// openByToken opens the mailbox of a token that the client sent. An address beside it must be that of the mailbox: a
// client that confuses two mailboxes must not get the code of the other one, nor delete it. Errors: request.invalid, those
// of the API.
func (c *call) openByToken(ctx context.Context, address, token string) (box, error) {
	b := box{path: "/mailboxes/me", credential: token, isToken: true}
	if address == "" {
		return b, nil
	}
	own, err := c.addressOf(ctx, b)
	if err == nil && !strings.EqualFold(own, address) {
		err = invalidArguments("mailbox is " + shorten(address) + ", but the token is that of another mailbox.")
	}
	return b, err
}

// addressOf returns the address of a mailbox that was opened with a token.
func (c *call) addressOf(ctx context.Context, b box) (string, error) {
	var m boxInfo
	err := c.do(ctx, http.MethodGet, "/mailboxes/me", b.credential, nil, &m)
	return m.Address, err
}

// findByAddress finds a mailbox of the client's account. It reads the pages of the account's list until it finds the
// address. Errors: mailbox.not_found, those of the API.
func (c *call) findByAddress(ctx context.Context, address string) (box, error) {
	for cursor := ""; ; {
		page, next, err := c.mailboxPage(ctx, cursor)
		if err != nil {
			return box{}, err
		}
		for _, m := range page {
			if !strings.EqualFold(m.Address, address) {
				continue
			}
			if m.Token == "" {
				return box{path: "/keys/mailboxes/" + m.ID, credential: c.credential}, nil
			}
			if c.tokens != nil {
				c.tokens.put(m, "")
			}
			return box{path: "/mailboxes/me", credential: m.Token, isToken: true, id: m.ID}, nil
		}
		if next == "" {
			return box{}, newFailure("mailbox.not_found")
		}
		cursor = next
	}
}

// mailboxPage returns a page of the mailboxes of the client's account, and the cursor of the next page, "" if it is the
// last one.
func (c *call) mailboxPage(ctx context.Context, cursor string) (page []boxInfo, next string, err error) {
	path := "/keys/mailboxes?limit=100"
	if strings.HasPrefix(c.credential, userPrefix) {
		path = "/me/mailboxes?limit=100"
	}
	if cursor != "" {
		path += "&cursor=" + url.QueryEscape(cursor)
	}
	p, err := apiclient.List[boxInfo](ctx, c.API, path, c.credential)
	return p.Data, p.NextCursor, err
}

// openToRead is openAny for operations on single messages, which need the token of a mailbox or the credential of the account.
func (c *call) openToRead(ctx context.Context, args MailboxArgs) (box, error) {
	b, err := c.openAny(ctx, args)
	if err == nil && !b.isToken && !b.isAll {
		err = newFailure("auth.scope_missing")
	}
	return b, err
}

// openWithToken is open for operations that need the token of the mailbox. A developer key without all scopes gets no
// tokens; the error is then auth.scope_missing.
func (c *call) openWithToken(ctx context.Context, args MailboxArgs) (box, error) {
	b, err := c.open(ctx, args)
	if err == nil && !b.isToken {
		err = newFailure("auth.scope_missing")
	}
	return b, err
}

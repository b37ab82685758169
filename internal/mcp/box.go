package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// MailboxArgs are the arguments that name the mailbox of a call. They are embedded in the arguments of each tool that
// uses a mailbox, which is why the type is exported.
type MailboxArgs struct {
	Mailbox string `json:"mailbox" jsonschema:"The address of the mailbox, as create_mailbox returned it."`
	Token   string `json:"token,omitempty" jsonschema:"The token that create_mailbox returned. Not needed with a developer key."`
}

// box is a mailbox together with a credential that gives access to it.
type box struct {
	path       string // the API path of the mailbox: /mailboxes/me, or /keys/mailboxes/{id} for a key that gets no tokens
	credential string
	isToken    bool // whether credential is the token of the mailbox, which operations on single messages need
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
	tokens   map[string]string // tokens by address in lower case
	byClient map[string]string // addresses by clientId
	order    []string          // addresses, oldest first
}

// tokensMax bounds the memory of a process that runs for months.
const tokensMax = 10_000

// newTokenStore returns an empty tokenStore.
func newTokenStore() *tokenStore {
	return &tokenStore{tokens: make(map[string]string), byClient: make(map[string]string)}
}

// token returns the token of an address, in upper or lower case, or "" if there is none.
func (s *tokenStore) token(address string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[strings.ToLower(address)]
}

// put stores the token of an address, and the clientId that it was created with unless that is "". It removes the oldest
// address if there are more than tokensMax.
func (s *tokenStore) put(address, token, clientID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address = strings.ToLower(address)
	if _, known := s.tokens[address]; !known {
		s.order = append(s.order, address)
	}
	s.tokens[address] = token
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

// do calls the API and decodes the data of the response into v, unless v is nil. An error of the API is a *failure.
func (c *call) do(ctx context.Context, method, path, credential string, body, v any) error {
	r, err := c.API.Do(ctx, Request{Method: method, Path: path, Credential: credential, Body: body})
	if err != nil {
		return err
	}
	if r.Status >= http.StatusBadRequest {
		return failureOf(r)
	}
	if v == nil {
		return nil
	}
	envelope := struct{ Data any }{v}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	if err := decoder.Decode(&envelope); err != nil {
		return &failure{Code: "server.unavailable", Message: "What answers at this URL is not the API of Gonebox. Check the URL."}
	}
	return nil
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
		args.Token = c.tokens.token(args.Mailbox)
	}
	switch {
	case args.Token != "":
		return box{"/mailboxes/me", args.Token, true}, nil
	case strings.HasPrefix(c.credential, mailboxPrefix):
		return box{"/mailboxes/me", c.credential, true}, nil
	case strings.HasPrefix(c.credential, keyPrefix), strings.HasPrefix(c.credential, userPrefix):
		return c.findByAddress(ctx, args.Mailbox)
	case c.tokens != nil:
		return box{}, newFailure("mailbox.not_found")
	}
	return box{}, newFailure("auth.required")
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
				return box{"/keys/mailboxes/" + m.ID, c.credential, false}, nil
			}
			if c.tokens != nil {
				c.tokens.put(m.Address, m.Token, "")
			}
			return box{"/mailboxes/me", m.Token, true}, nil
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
	r, err := c.API.Do(ctx, Request{Method: http.MethodGet, Path: path, Credential: c.credential})
	if err != nil {
		return nil, "", err
	}
	if r.Status >= http.StatusBadRequest {
		return nil, "", failureOf(r)
	}
	var envelope struct {
		Data       []boxInfo
		NextCursor string
	}
	if err := json.Unmarshal(r.Body, &envelope); err != nil {
		return nil, "", newFailure("server.unavailable")
	}
	return envelope.Data, envelope.NextCursor, nil
}

// page is a page of a list of messages.
type page struct {
	messages  []messageSummary
	more      bool // there may be messages after it
	continued bool // pages without messages came before it
}

// messages reads the first page of a list of messages that is not empty. A search that has read a large part of a mailbox
// without a match returns an empty page and a cursor (docs/spec/messages.md#filtering-a-list); messages then continues
// from the cursor, without waiting for mail. Errors: those of the API.
func (c *call) messages(ctx context.Context, b box, q url.Values) (p page, err error) {
	for q = maps.Clone(q); ; {
		r, err := c.API.Do(ctx, Request{Method: http.MethodGet, Path: b.path + "/messages?" + q.Encode(), Credential: b.credential})
		if err != nil {
			return p, err
		}
		if r.Status >= http.StatusBadRequest {
			return p, failureOf(r)
		}
		var envelope struct {
			Data       []messageSummary
			NextCursor string
		}
		if err := json.Unmarshal(r.Body, &envelope); err != nil {
			return p, newFailure("server.unavailable")
		}
		if len(envelope.Data) > 0 || envelope.NextCursor == "" {
			p.messages, p.more = envelope.Data, envelope.NextCursor != ""
			return p, nil
		}
		p.continued = true
		q.Del("wait")
		q.Set("cursor", envelope.NextCursor)
	}
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

// openVerified is openWithToken for operations that cannot be undone. It also checks that the token is that of the
// mailbox that the arguments name, so that a call with the token of another mailbox does not delete or extend that one.
func (c *call) openVerified(ctx context.Context, args MailboxArgs) (box, error) {
	b, err := c.openWithToken(ctx, args)
	if err != nil {
		return b, err
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodGet, "/mailboxes/me", b.credential, nil, &m); err != nil {
		return b, err
	}
	if !strings.EqualFold(m.Address, args.Mailbox) {
		return b, invalidArguments("the token is that of another mailbox.")
	}
	return b, nil
}

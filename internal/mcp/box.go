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

// Named is the arguments that name the mailbox of a call. It is embedded into the arguments of each tool that uses a
// mailbox, and exported for that reason.
type Named struct {
	Mailbox string `json:"mailbox" jsonschema:"The address of the mailbox, as create_mailbox returned it."`
	Token   string `json:"token,omitempty" jsonschema:"The token that create_mailbox returned. Not needed with a developer key."`
}

// box is a mailbox together with a credential that opens it.
type box struct {
	path       string // of its messages and codes: /mailboxes/me, or /keys/mailboxes/{id} for a key that gets no tokens
	credential string
	isToken    bool // the credential is the mailbox's own token, which operations on single messages need
}

// boxInfo is a mailbox as the API shows it.
type boxInfo struct {
	ID           string    `json:"id"`
	Address      string    `json:"address"`
	ExpiresAt    time.Time `json:"expiresAt"`
	Token        string    `json:"token"`
	MessageCount int       `json:"messageCount"`
	UnreadCount  int       `json:"unreadCount"`
}

// keptBoxes holds the tokens of the mailboxes that the client of a process created, the newest keptMax of them. It is
// safe for concurrent use. The tokens are lost when the process ends; a developer key finds the mailboxes again.
type keptBoxes struct {
	// mu guards the fields below.
	mu       sync.Mutex
	tokens   map[string]string // by address
	byClient map[string]string // addresses by the client's identifier
	order    []string          // addresses, oldest first
}

// keptMax bounds the memory of a process that runs for months.
const keptMax = 10_000

// newKeptBoxes returns an empty keptBoxes.
func newKeptBoxes() *keptBoxes {
	return &keptBoxes{tokens: make(map[string]string), byClient: make(map[string]string)}
}

// token returns the token of an address in any case, or "".
func (k *keptBoxes) token(address string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tokens[strings.ToLower(address)]
}

// put keeps the token of an address, and the address for the client's identifier unless that is "".
func (k *keptBoxes) put(address, token, client string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	address = strings.ToLower(address)
	if _, known := k.tokens[address]; !known {
		k.order = append(k.order, address)
	}
	k.tokens[address] = token
	if client != "" {
		k.byClient[client] = address
	}
	if len(k.order) > keptMax {
		k.drop(k.order[0])
	}
}

// remove removes an address.
func (k *keptBoxes) remove(address string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(strings.ToLower(address))
}

// drop removes an address in lower case. The caller holds mu.
func (k *keptBoxes) drop(address string) {
	delete(k.tokens, address)
	for i, a := range k.order {
		if a == address {
			k.order = append(k.order[:i], k.order[i+1:]...)
			break
		}
	}
	for client, a := range k.byClient {
		if a == address {
			delete(k.byClient, client)
		}
	}
}

// made returns the address of the mailbox that was created with a clientId, or "".
func (k *keptBoxes) made(client string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byClient[client]
}

// do calls the API and decodes the data of its answer into v, unless that is nil. Error: a failure.
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
	whole := struct{ Data any }{v}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	if err := decoder.Decode(&whole); err != nil {
		return &failure{Code: "server.unavailable", Message: "What answers at this URL is not the API of Gonebox. Check the URL."}
	}
	return nil
}

// The first letters of credentials.
const (
	mailboxPrefix = "xm_"
	userPrefix    = "xu_"
	keyPrefix     = "x_"
)

// open finds the mailbox that a call names.
//
// A token that is kept or given comes first. A client with a developer key or a user token needs none: the mailbox is
// looked for in its account, by address. Without any credential the failure is auth.required over HTTP, and
// mailbox.not_found over stdio, where the process would have the token if it had created the mailbox. Errors: failures.
func (c *call) open(ctx context.Context, n Named) (box, error) {
	if c.kept != nil {
		n.Token = c.kept.token(n.Mailbox)
	}
	switch {
	case n.Token != "":
		return box{"/mailboxes/me", n.Token, true}, nil
	case strings.HasPrefix(c.credential, mailboxPrefix):
		return box{"/mailboxes/me", c.credential, true}, nil
	case strings.HasPrefix(c.credential, keyPrefix), strings.HasPrefix(c.credential, userPrefix):
		return c.find(ctx, n.Mailbox)
	case c.kept != nil:
		return box{}, fail("mailbox.not_found")
	}
	return box{}, fail("auth.required")
}

// find finds a mailbox of the account. It reads all pages of the list until it finds the address. Errors:
// mailbox.not_found, those of the API.
func (c *call) find(ctx context.Context, address string) (box, error) {
	for cursor := ""; ; {
		page, next, err := c.mailboxes(ctx, cursor)
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
			if c.kept != nil {
				c.kept.put(m.Address, m.Token, "")
			}
			return box{"/mailboxes/me", m.Token, true}, nil
		}
		if next == "" {
			return box{}, fail("mailbox.not_found")
		}
		cursor = next
	}
}

// mailboxes returns a page of the account's mailboxes.
func (c *call) mailboxes(ctx context.Context, cursor string) (page []boxInfo, next string, err error) {
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
	var whole struct {
		Data       []boxInfo
		NextCursor string
	}
	if err := json.Unmarshal(r.Body, &whole); err != nil {
		return nil, "", fail("server.unavailable")
	}
	return whole.Data, whole.NextCursor, nil
}

// page is a page of a list of messages.
type page struct {
	messages  []listed
	more      bool // there may be others after it
	continued bool // pages without messages came before it
}

// messages reads the first page of a list of messages that has any. A search that reads much of a mailbox answers with an
// empty page and a cursor (docs/spec/messages.md#filtering-a-list): it is continued, and none of its calls waits. Errors:
// those of the API.
func (c *call) messages(ctx context.Context, b box, q url.Values) (p page, err error) {
	for q = maps.Clone(q); ; {
		r, err := c.API.Do(ctx, Request{Method: http.MethodGet, Path: b.path + "/messages?" + q.Encode(), Credential: b.credential})
		if err != nil {
			return p, err
		}
		if r.Status >= http.StatusBadRequest {
			return p, failureOf(r)
		}
		var whole struct {
			Data       []listed
			NextCursor string
		}
		if err := json.Unmarshal(r.Body, &whole); err != nil {
			return p, fail("server.unavailable")
		}
		if len(whole.Data) > 0 || whole.NextCursor == "" {
			p.messages, p.more = whole.Data, whole.NextCursor != ""
			return p, nil
		}
		p.continued = true
		q.Del("wait")
		q.Set("cursor", whole.NextCursor)
	}
}

// full finds a mailbox for operations that need its own token. A developer key without all scopes gets no tokens; the failure is then
// auth.scope_missing.
func (c *call) full(ctx context.Context, n Named) (box, error) {
	b, err := c.open(ctx, n)
	if err == nil && !b.isToken {
		err = fail("auth.scope_missing")
	}
	return b, err
}

// named is full, and also checks that the token belongs to the address that the call names. It is for operations that
// cannot be undone. A wrong token given with another mailbox's address must not delete or extend the token's mailbox.
func (c *call) named(ctx context.Context, n Named) (box, error) {
	b, err := c.full(ctx, n)
	if err != nil {
		return b, err
	}
	var m boxInfo
	if err := c.do(ctx, http.MethodGet, "/mailboxes/me", b.credential, nil, &m); err != nil {
		return b, err
	}
	if !strings.EqualFold(m.Address, n.Mailbox) {
		return b, invalid("the token is that of another mailbox.")
	}
	return b, nil
}

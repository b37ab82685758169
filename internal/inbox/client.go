// Package inbox uses the mailboxes of any Gonebox over its HTTP API, as the commands gonebox inbox do, and keeps their
// tokens in the user's configuration folder.
//
// A Client makes the calls, through package apiclient; a Store keeps the Mailbox that New returned, so that later commands
// can use it.
package inbox

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/clock"
)

// HasEnded reports whether err is the service's statement that the mailbox of a call has expired or was destroyed. Other
// failures, such as the response of a proxy, say nothing about a mailbox.
func HasEnded(err error) bool {
	switch apiclient.Code(err) {
	case "mailbox.expired", "mailbox.not_found", "auth.invalid_token":
		return true
	}
	return false
}

// Client calls the API of the service at URL, which has no slash at its end. Key is a developer key or a
// user token; if it is empty, mailboxes are created without an account. A Client is safe for concurrent use.
type Client struct {
	URL, Key string
	Clock    clock.Clock
}

// New creates a mailbox. The service chooses the domain, local part or lifetime that is zero; ttl is rounded up to whole
// seconds. New fails with *apiclient.Error, with an error of the connection, or if Key lacks the scopes to read the mailbox.
func (c *Client) New(ctx context.Context, domain, localPart string, ttl time.Duration) (*Mailbox, error) {
	body := map[string]any{}
	if domain != "" {
		body["domain"] = domain
	}
	if localPart != "" {
		body["localPart"] = localPart
	}
	if ttl > 0 {
		body["ttl"] = clock.Seconds(ttl)
	}
	path := "/mailboxes"
	if strings.HasPrefix(c.Key, "x_") { // a developer key, whose mailboxes belong to its account
		path = "/keys/mailboxes"
	}
	m := &Mailbox{URL: c.URL}
	if err := apiclient.Data(ctx, c.api(), apiclient.Request{Method: http.MethodPost, Path: path, Credential: c.Key, Body: body}, m); err != nil {
		return nil, err
	}
	if m.Token == "" || m.Address == "" {
		return nil, errors.New("the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read")
	}
	return m, nil
}

// Refresh asks the service for a mailbox and takes over when it expires, which another client may have extended. If the
// mailbox has ended, HasEnded reports true for the error.
func (c *Client) Refresh(ctx context.Context, m *Mailbox) error {
	var current Mailbox
	if err := apiclient.Data(ctx, c.api(), apiclient.Request{Method: http.MethodGet, Path: "/mailboxes/me", Credential: m.Token}, &current); err != nil {
		return err
	}
	m.ExpiresAt = current.ExpiresAt
	return nil
}

// Wait returns the newest message that matches, whether it is already in the mailbox or arrives within timeout. Otherwise
// it fails with apiclient.ErrTimeout. While there is time left it outlives a restart of the service and rate limits, as
// apiclient.Wait does.
func (c *Client) Wait(ctx context.Context, m *Mailbox, f apiclient.Filter, timeout time.Duration) (found *Summary, err error) {
	err = c.wait(ctx, m, f, timeout, func(newest *Summary) error {
		found = newest
		return nil
	})
	return found, err
}

// WaitAndRead is Wait, but returns the whole message, which the service marks as seen.
func (c *Client) WaitAndRead(ctx context.Context, m *Mailbox, f apiclient.Filter, timeout time.Duration) (full *Message, err error) {
	err = c.wait(ctx, m, f, timeout, func(newest *Summary) (err error) {
		full, err = c.Read(ctx, m, newest.ID)
		return err
	})
	return full, err
}

// wait waits for a message that matches and calls use with the newest, again if its error may go away in time.
func (c *Client) wait(ctx context.Context, m *Mailbox, f apiclient.Filter, timeout time.Duration, use func(*Summary) error) error {
	search := apiclient.Search{API: c.api(), Mailbox: "/mailboxes/me", Credential: m.Token, Query: f.Query()}
	search.Query.Set("limit", "1")
	w := apiclient.Wait{Clock: c.Clock, Timeout: timeout, Retry: func(err error) bool {
		problem, ok := errors.AsType[*apiclient.Error](err)
		return apiclient.IsUnavailable(err) || ok && problem.Status == http.StatusTooManyRequests
	}}
	return apiclient.Messages(ctx, w, search, func(page []Summary) (apiclient.Outcome, error) {
		return apiclient.Found, use(&page[0])
	})
}

// List returns the newest messages, at most 100. It does not follow the cursor.
func (c *Client) List(ctx context.Context, m *Mailbox) ([]Summary, error) {
	page, err := apiclient.List[Summary](ctx, c.api(), "/mailboxes/me/messages?limit=100", m.Token)
	return page.Data, err
}

// Read returns a message, which the service marks as seen.
func (c *Client) Read(ctx context.Context, m *Mailbox, messageID string) (*Message, error) {
	full := &Message{}
	return full, apiclient.Data(ctx, c.api(), apiclient.Request{Method: http.MethodGet, Path: "/messages/" + url.PathEscape(messageID), Credential: m.Token}, full)
}

// Raw returns a message as it was received. Error: message.raw_expired, once the retention is over.
func (c *Client) Raw(ctx context.Context, m *Mailbox, messageID string) ([]byte, error) {
	return apiclient.Call(ctx, c.api(), apiclient.Request{Method: http.MethodGet, Path: "/messages/" + url.PathEscape(messageID) + "/raw", Credential: m.Token})
}

// End destroys a mailbox. Its messages are erased.
func (c *Client) End(ctx context.Context, m *Mailbox) error {
	return apiclient.Data(ctx, c.api(), apiclient.Request{Method: http.MethodDelete, Path: "/mailboxes/me", Credential: m.Token}, nil)
}

// api returns the API of the service.
func (c *Client) api() *apiclient.Remote {
	return &apiclient.Remote{URL: c.URL, HTTP: http.DefaultClient}
}

// Package inbox uses the mailboxes of any Gonebox over its HTTP API, as the commands gonebox inbox do, and keeps their
// tokens in the user's configuration folder.
//
// A Client makes the calls; a Store keeps the Mailbox that New returned, so that later commands can use it. The package
// imports nothing of the service but the clock, since the service may run on another machine and be of another version.
package inbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

const (
	pollMax         = 25 * time.Second       // of one long-poll: proxies close connections that are idle for longer
	pollPause       = 200 * time.Millisecond // between long-polls to which the service responds at once
	responseTimeout = 30 * time.Second       // for a whole call, in addition to the time of its long-poll
	responseMax     = 64 << 20               // octets of a response body
)

// ErrTimeout is returned by Wait when no message came in time. Commands exit with a status of its own for it.
var ErrTimeout = errors.New("no message came in time")

// Error is the problem in a response with a status of 400 or above (docs/spec/conventions.md#errors).
type Error struct {
	Code       string        // of the problem, such as rate.limited
	Status     int           // of HTTP
	RetryAfter time.Duration // 0 if the service gave none
	text       string
}

// Error returns the problem's code, its detail, and the input at fault, in one line.
func (e *Error) Error() string { return e.text }

// Client calls the API of the service at URL, which has no path and no slash at its end. Key is a developer key or a
// user token; if it is empty, mailboxes are created without an account. A Client is safe for concurrent use.
type Client struct {
	URL, Key string
	Clock    clock.Clock
}

// New creates a mailbox. The service chooses the domain, local part or lifetime that is zero; ttl is rounded up to whole
// seconds. New fails with *Error, with an error of the connection, or if Key lacks the scopes to read the mailbox.
func (c *Client) New(ctx context.Context, domain, localPart string, ttl time.Duration) (*Mailbox, error) {
	body := map[string]any{}
	if domain != "" {
		body["domain"] = domain
	}
	if localPart != "" {
		body["localPart"] = localPart
	}
	if ttl > 0 {
		body["ttl"] = int64((ttl + time.Second - 1) / time.Second)
	}
	path := "/mailboxes"
	if strings.HasPrefix(c.Key, "x_") { // a developer key, whose mailboxes belong to its account
		path = "/keys/mailboxes"
	}
	m := &Mailbox{URL: c.URL}
	if err := c.callData(ctx, http.MethodPost, path, c.Key, body, m); err != nil {
		return nil, err
	}
	if m.Token == "" || m.Address == "" {
		return nil, errors.New("the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read")
	}
	return m, nil
}

// Filter selects the messages that Wait returns. From and Subject are substrings of the sender and the subject, compared
// without regard to case; Has lists what a message must contain: code, link, attachment. The zero Filter selects all.
type Filter struct {
	From, Subject string
	Has           []string
}

// query returns the filter as query parameters of the API.
func (f Filter) query() url.Values {
	q := url.Values{"has": f.Has}
	if f.From != "" {
		q.Set("from", f.From)
	}
	if f.Subject != "" {
		q.Set("subject", f.Subject)
	}
	return q
}

// Wait returns the newest message that matches, whether it is already in the mailbox or arrives within timeout. Otherwise
// it fails with ErrTimeout.
//
// It makes long-polls of whole seconds, which is all that the API accepts, and sleeps through the remaining fraction of a
// second. If a call is rate limited (429), it waits for Retry-After and repeats the call, unless timeout passes first.
// Any other error is returned at once.
func (c *Client) Wait(ctx context.Context, m *Mailbox, f Filter, timeout time.Duration) (*Summary, error) {
	deadline := c.Clock.Now().Add(timeout)
	for {
		start := c.Clock.Now()
		left := max(0, deadline.Sub(start))
		wait := min(pollMax, left.Truncate(time.Second))
		found, err := c.newest(ctx, m, f, wait)
		pause := time.Duration(0)
		var problem *Error
		switch {
		case err == nil && found != nil:
			return found, nil
		case err == nil && left == 0:
			return nil, ErrTimeout
		case err == nil && wait == 0:
			pause = left
		case err == nil && c.Clock.Now().Sub(start) < wait/2: // the service did not wait: do not call it in a tight loop
			pause = pollPause
		case errors.As(err, &problem) && problem.Status == http.StatusTooManyRequests && problem.RetryAfter < left:
			pause = max(problem.RetryAfter, time.Second)
		case err != nil:
			return nil, err
		}
		if err := c.sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// sleep waits for d, or until ctx ends, and then returns the error of ctx.
func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := c.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// newest returns the newest message that matches, or nil. If there is none, the service waits for one, for as long as
// wait says. The service bounds how many messages one call searches and returns a cursor to continue with; a call with a
// cursor does not wait.
func (c *Client) newest(ctx context.Context, m *Mailbox, f Filter, wait time.Duration) (*Summary, error) {
	q := f.query()
	q.Set("limit", "1")
	for {
		q.Set("wait", strconv.Itoa(int(wait/time.Second)))
		var page page
		if err := c.get(ctx, "/mailboxes/me/messages?"+q.Encode(), m.Token, wait, &page); err != nil {
			return nil, err
		}
		if len(page.Data) > 0 {
			return &page.Data[0], nil
		}
		if page.NextCursor == "" {
			return nil, nil
		}
		wait = 0
		q.Set("cursor", page.NextCursor)
	}
}

// page is the response body of a list of messages. NextCursor is "" on the last page.
type page struct {
	Data       []Summary `json:"data"`
	NextCursor string    `json:"nextCursor"`
}

// List returns the newest messages, at most 100. It does not follow the cursor.
func (c *Client) List(ctx context.Context, m *Mailbox) ([]Summary, error) {
	var page page
	err := c.get(ctx, "/mailboxes/me/messages?limit=100", m.Token, 0, &page)
	return page.Data, err
}

// Read returns a message, which the service marks as seen.
func (c *Client) Read(ctx context.Context, m *Mailbox, messageID string) (*Message, error) {
	full := &Message{}
	return full, c.callData(ctx, http.MethodGet, "/messages/"+url.PathEscape(messageID), m.Token, nil, full)
}

// Raw returns a message as it was received. Error: message.raw_expired, once the retention is over.
func (c *Client) Raw(ctx context.Context, m *Mailbox, messageID string) ([]byte, error) {
	return c.call(ctx, http.MethodGet, "/messages/"+url.PathEscape(messageID)+"/raw", m.Token, nil, 0)
}

// End destroys a mailbox. Its messages are erased.
func (c *Client) End(ctx context.Context, m *Mailbox) error {
	_, err := c.call(ctx, http.MethodDelete, "/mailboxes/me", m.Token, nil, 0)
	return err
}

// callData makes a call and decodes the member data of the response body into result.
func (c *Client) callData(ctx context.Context, method, path, credential string, body map[string]any, result any) error {
	content, err := c.call(ctx, method, path, credential, body, 0)
	if err != nil {
		return err
	}
	return c.decode(content, &struct {
		Data any `json:"data"`
	}{result})
}

// get makes a GET call and decodes the whole response body, with the cursor beside its data. wait is how long the service
// may hold the call open.
func (c *Client) get(ctx context.Context, path, credential string, wait time.Duration, result any) error {
	content, err := c.call(ctx, http.MethodGet, path, credential, nil, wait)
	if err != nil {
		return err
	}
	return c.decode(content, result)
}

// decode decodes a response body. If it is not JSON, the URL is most likely that of another program, as the error says.
func (c *Client) decode(content []byte, result any) error {
	if err := json.Unmarshal(content, result); err != nil {
		return fmt.Errorf("%s does not answer as Gonebox does, check the URL: %w", c.URL, err)
	}
	return nil
}

// call sends a request and returns the response body, of which it reads responseMax octets at most. It fails with *Error
// if the status is 400 or above. The call takes at most wait, the time of its long-poll, plus responseTimeout.
func (c *Client) call(ctx context.Context, method, path, credential string, body map[string]any, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+responseTimeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		octets, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(octets)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+"/api/v1"+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if credential != "" {
		request.Header.Set("Authorization", "Bearer "+credential)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf(`no Gonebox answers at %s; start one with "gonebox serve", or name it with --url: %w`, c.URL, err)
	}
	defer response.Body.Close()
	octets, err := io.ReadAll(io.LimitReader(response.Body, responseMax))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", c.URL, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, c.problem(response, octets)
	}
	return octets, nil
}

// problem returns the *Error that a response with the body octets describes. Something other than Gonebox, such as a
// proxy, may have sent it: then it returns another error, which says so.
func (c *Client) problem(response *http.Response, octets []byte) error {
	var p struct {
		Code, Title, Detail string
		Errors              []struct{ Pointer, Message string }
	}
	if err := json.Unmarshal(octets, &p); err != nil || p.Code == "" {
		return fmt.Errorf("%s answered with status %d, not as Gonebox does: check the URL", c.URL, response.StatusCode)
	}
	text := p.Code + ": " + cmp.Or(p.Detail, p.Title)
	for _, e := range p.Errors {
		text += "; " + strings.TrimPrefix(e.Pointer, "/") + " " + e.Message
	}
	e := &Error{Code: p.Code, Status: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
		text += fmt.Sprintf("; try again in %d s", seconds)
	}
	e.text = text
	return e
}

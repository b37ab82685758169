// Package inbox uses the mailboxes of any Gonebox over its HTTP API, as the commands gonebox inbox do, and keeps their
// tokens in the user's configuration folder.
//
// A Client makes the calls; a Store keeps what New returned, so that later commands find the mailbox. The package
// imports nothing of the service but the clock: it works as any client on another machine does, also with another
// version.
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
	// longestPoll bounds one long-poll; Wait makes several.
	longestPoll   = 25 * time.Second // shorter than the idle limit of proxies
	answerTimeout = 30 * time.Second // for an answer, beyond what the call itself waits
	answerMax     = 64 << 20         // octets of an answer
)

// ErrTimeout is returned by Wait when no message came in time. Commands exit with a status of its own for it.
var ErrTimeout = errors.New("no message came in time")

// Error is a problem that the service answered a call with (docs/spec/conventions.md#errors).
type Error struct {
	Code       string        // of the problem, such as rate.limited
	Status     int           // of HTTP
	RetryAfter time.Duration // 0 if the service gave none
	text       string
}

// Error returns the code and what it means.
func (e *Error) Error() string { return e.text }

// Client calls the service at URL. Key is a developer key or a user token; without one, mailboxes are anonymous. It is
// safe for concurrent use. URL has no path and no slash at its end.
type Client struct {
	URL, Key string
	Clock    clock.Clock
}

// New creates a mailbox; zero values are chosen by the service. ttl is rounded up to whole seconds. Errors: *Error, and
// those of the connection.
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
	if strings.HasPrefix(c.Key, "x_") {
		path = "/keys/mailboxes"
	}
	m := &Mailbox{URL: c.URL}
	if err := c.data(ctx, http.MethodPost, path, c.Key, body, m); err != nil {
		return nil, err
	}
	if m.Token == "" || m.Address == "" {
		return nil, errors.New("the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read")
	}
	return m, nil
}

// Filter restricts what is waited for. From and Subject are parts of the sender and subject in any case; Has lists code, link and
// attachment.
type Filter struct {
	From, Subject string
	Has           []string
}

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

// Wait returns the newest message that matches; what is already there counts.
//
// Each long-poll waits in whole seconds and at most longestPoll; the last part of a second is slept. A 429 with a
// Retry-After before the end is waited out. Other errors end it. Error: ErrTimeout after the timeout.
func (c *Client) Wait(ctx context.Context, m *Mailbox, f Filter, timeout time.Duration) (*Summary, error) {
	deadline := c.Clock.Now().Add(timeout)
	for {
		asked := c.Clock.Now()
		left := max(0, deadline.Sub(asked))
		wait := min(longestPoll, left.Truncate(time.Second))
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
		case err == nil && c.Clock.Now().Sub(asked) < wait/2: // the service did not wait
			pause = time.Second / 5
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

// sleep waits for a time, or returns the error of ctx.
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

// newest returns the newest message that matches, or nil. A search that reads much continues with a cursor. Only its
// first call waits.
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

// page is a page of a list of messages.
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
	return full, c.data(ctx, http.MethodGet, "/messages/"+url.PathEscape(messageID), m.Token, nil, full)
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

// data decodes the data of an answer.
func (c *Client) data(ctx context.Context, method, path, credential string, body map[string]any, result any) error {
	answer, err := c.call(ctx, method, path, credential, body, 0)
	if err != nil {
		return err
	}
	return c.decode(answer, &struct {
		Data any `json:"data"`
	}{result})
}

// get decodes a whole answer, not only its data. wait is how long the service may hold the call open.
func (c *Client) get(ctx context.Context, path, credential string, wait time.Duration, result any) error {
	answer, err := c.call(ctx, http.MethodGet, path, credential, nil, wait)
	if err != nil {
		return err
	}
	return c.decode(answer, result)
}

// decode decodes an answer. An answer that is not JSON comes from something else than Gonebox, mostly a wrong URL.
func (c *Client) decode(answer []byte, result any) error {
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("%s does not answer as Gonebox does, check the URL: %w", c.URL, err)
	}
	return nil
}

// call sends a call and returns the content of its answer. It fails with *Error for a status of 400 and above. The
// whole call is bounded by wait and answerTimeout.
func (c *Client) call(ctx context.Context, method, path, credential string, body map[string]any, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+answerTimeout)
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
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf(`no Gonebox answers at %s; start one with "gonebox serve", or name it with --url: %w`, c.URL, err)
	}
	defer answer.Body.Close()
	octets, err := io.ReadAll(io.LimitReader(answer.Body, answerMax))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", c.URL, err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return nil, c.problem(answer, octets)
	}
	return octets, nil
}

// problem returns the error of an answer with a status of 400 and above.
func (c *Client) problem(answer *http.Response, octets []byte) error {
	var p struct {
		Code, Title, Detail string
		Errors              []struct{ Pointer, Message string }
	}
	if err := json.Unmarshal(octets, &p); err != nil || p.Code == "" {
		return fmt.Errorf("%s answered with status %d, not as Gonebox does: check the URL", c.URL, answer.StatusCode)
	}
	text := p.Code + ": " + cmp.Or(p.Detail, p.Title)
	for _, e := range p.Errors {
		text += "; " + strings.TrimPrefix(e.Pointer, "/") + " " + e.Message
	}
	e := &Error{Code: p.Code, Status: answer.StatusCode}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
		text += fmt.Sprintf("; try again in %d s", seconds)
	}
	e.text = text
	return e
}

// Package gonebox is a client of Gonebox, a disposable mailbox service. It uses the standard library alone.
//
// New returns a client of a service, CreateMailbox a mailbox. A test gives the mailbox's address to the application
// under test and then waits: WaitForCode, WaitForLink and WaitForMessage return as soon as a message matches, and count
// one that has arrived already. ExpectNoMessage checks that none comes, Messages lists what is there, and On calls a
// function for each event. Request reaches every operation of the API that has no method.
//
// All methods take a context and end with it. Errors of the service are of type *Error and have the stable code of the
// problem and a message that says what to do. Waits poll the service with calls of at most 25 seconds and wait out a
// 429. Package goneboxtest starts a service for tests.
package gonebox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The timeouts of waits that state none.
const (
	DefaultTimeout = 30 * time.Second
	DefaultQuiet   = 3 * time.Second // of ExpectNoMessage

	longestPoll     = 25 * time.Second                 // shorter than the idle limit of proxies
	responseTimeout = time.Minute                      // for a whole call, of which the service may wait longestPoll
	silence         = 45 * time.Second                 // three comment lines of an event stream that did not come
	slowestRetry    = 10 * time.Second                 // the longest pause between two connections of an event stream
	first           = "msg_00000000000000000000000001" // sorts before every message
)

// action matches the links that sign in, confirm or reset. It is applied to the whole address.
var action = regexp.MustCompile(`(?i)reset|verif|confirm|activat|token|magic|sign-?in|log-?in|invit|auth|code=`)

// Gonebox is a service. It may be used by several goroutines. Connections are those of http.DefaultClient.
type Gonebox struct {
	URL  string
	call caller
}

// New returns the client of the service at url, such as http://localhost:8080. key is a developer key (x_…) or a user
// token (xu_…); without one, mailboxes are anonymous. An invalid url is reported by the first call. At most one key may
// be given.
func New(url string, key ...string) *Gonebox {
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), "/api/v1")
	return &Gonebox{URL: url, call: caller{url, one(key)}}
}

// MailboxOptions say how a mailbox is made. What is zero is chosen by the service. The zero value is a random address
// on the default domain with the plan's default TTL.
type MailboxOptions struct {
	Domain, LocalPart string
	TTL               time.Duration // in whole seconds, a minute at least
}

// CreateMailbox makes a mailbox. It ends by itself after its TTL, or with Destroy. At most one options may be given.
// With a developer key the mailbox belongs to its account. Errors: *Error, such as mailbox.local_part_taken,
// mailbox.limit_reached and client.scope_missing.
func (g *Gonebox) CreateMailbox(ctx context.Context, options ...MailboxOptions) (*Mailbox, error) {
	o := one(options)
	path := "/mailboxes"
	if strings.HasPrefix(g.call.key, "x_") {
		path = "/keys/mailboxes"
	}
	m := &Mailbox{}
	if err := g.call.data(ctx, http.MethodPost, path, mailboxBody{o.Domain, o.LocalPart, wholeSeconds(o.TTL)}, m); err != nil {
		return nil, err
	}
	if m.Token == "" {
		return nil, &Error{Code: "client.scope_missing", Message: "the key cannot read what it creates: give it the scopes mailboxes:write, messages:read and otp:read"}
	}
	m.url = g.URL
	return m, nil
}

// OpenMailbox opens the mailbox that a mailbox token (xm_…) belongs to. Errors: *Error, such as auth.invalid_token and
// mailbox.expired.
func (g *Gonebox) OpenMailbox(ctx context.Context, token string) (*Mailbox, error) {
	m := &Mailbox{url: g.URL, Token: token}
	return m, m.api().data(ctx, http.MethodGet, "/mailboxes/me", nil, m)
}

// Request calls any other operation of the API, such as POST /me/webhooks. It decodes the data of the response into
// result, which may be nil, as package json does. path begins below /api/v1. body is encoded as JSON; nil means none,
// and a []byte is sent as a message (message/rfc822).
func (g *Gonebox) Request(ctx context.Context, method, path string, body, result any) error {
	return g.call.data(ctx, method, path, body, result)
}

// Mailbox is a mailbox, as CreateMailbox returns it. It may be used by several goroutines, but Extend by one alone.
type Mailbox struct {
	ID, Address string
	Token       string // opens this mailbox and nothing else
	ExpiresAt   time.Time
	url         string
}

// WaitOptions restrict messages; what is zero restricts nothing. Limit is for Messages alone, Timeout for waits alone,
// where zero means DefaultTimeout. A deadline of the context ends a wait earlier, with the error of the context.
type WaitOptions struct {
	From, Subject string   // parts of the sender and of the subject, in any case
	Has           []string // all of them: "code", "link", "attachment"
	Unseen        bool
	After         string // the id of a message: only messages after it
	Limit         int
	Timeout       time.Duration
}

// Filter restricts the messages of a list.
type Filter = WaitOptions

// WaitForCode waits for a message with a one-time code and returns the code. A message that is already there counts.
// Error: wait.timeout, whose message lists what else the mailbox has.
func (m *Mailbox) WaitForCode(ctx context.Context, options ...WaitOptions) (string, error) {
	found, err := m.wait(ctx, one(options), "code")
	if err != nil {
		return "", err
	}
	return found.OTP.Code, nil
}

// WaitForLink waits for a message with a link and returns the link: the one that signs in, confirms or resets, else the
// first. It marks the message as seen. Error: wait.timeout.
func (m *Mailbox) WaitForLink(ctx context.Context, options ...WaitOptions) (string, error) {
	o := one(options)
	o.Has = append([]string{"link"}, o.Has...)
	full, err := m.WaitForMessage(ctx, o)
	if err != nil {
		return "", err
	}
	if full.OTP != nil && len(full.OTP.Links) > 0 {
		return full.OTP.Links[0], nil
	}
	return full.Links[max(0, slices.IndexFunc(full.Links, action.MatchString))], nil
}

// WaitForMessage waits for a message that matches and returns it whole. A message that is already there counts; the
// newest wins. It marks the message as seen. Error: wait.timeout.
func (m *Mailbox) WaitForMessage(ctx context.Context, options ...WaitOptions) (*Message, error) {
	found, err := m.wait(ctx, one(options))
	if err != nil {
		return nil, err
	}
	return m.Message(ctx, found.ID)
}

// ExpectNoMessage returns an error if a message that matches is there or comes within the timeout, DefaultQuiet if it
// is zero. Error: wait.unexpected_message.
func (m *Mailbox) ExpectNoMessage(ctx context.Context, options ...WaitOptions) error {
	o := one(options)
	o.Timeout = cmp.Or(o.Timeout, DefaultQuiet)
	found, err := m.next(ctx, o)
	if err != nil || found == nil {
		return err
	}
	return &Error{Code: "wait.unexpected_message", Message: fmt.Sprintf("%s has a message%s: %s. To ignore earlier ones, set After to the id of the last", m.Address, o, found)}
}

// Messages lists the messages that match, newest first. It reads all pages, 100 messages in a call. A page may be empty
// and still have a next one, where a search has read much. Limit 0 means all.
func (m *Mailbox) Messages(ctx context.Context, filter ...Filter) ([]Summary, error) {
	f := one(filter)
	q := f.query()
	var found []Summary
	for {
		q.Set("limit", strconv.Itoa(min(100, cmp.Or(f.Limit, 1<<30)-len(found))))
		page, err := m.list(ctx, q, 0)
		if err != nil {
			return nil, err
		}
		found = append(found, page.Data...)
		if page.NextCursor == "" || f.Limit > 0 && len(found) >= f.Limit {
			return found, nil
		}
		q.Set("cursor", page.NextCursor)
	}
}

// Message reads a message, which marks it as seen. Error: message.not_found.
func (m *Mailbox) Message(ctx context.Context, messageID string) (*Message, error) {
	return get[Message](ctx, m, http.MethodGet, "/messages/"+messageID, nil)
}

// DeleteMessage deletes a message.
func (m *Mailbox) DeleteMessage(ctx context.Context, messageID string) error {
	return m.api().data(ctx, http.MethodDelete, "/messages/"+messageID, nil, nil)
}

// Attachment reads the octets of an attachment. The whole content is in memory. Errors: attachment.not_found,
// attachment.not_retained.
func (m *Mailbox) Attachment(ctx context.Context, messageID, attachmentID string) ([]byte, error) {
	return m.api().read(ctx, http.MethodGet, "/messages/"+messageID+"/attachments/"+attachmentID, nil)
}

// Raw reads a message as it was received. The service keeps this for a short time only. Error: message.raw_expired.
func (m *Mailbox) Raw(ctx context.Context, messageID string) ([]byte, error) {
	return m.api().read(ctx, http.MethodGet, "/messages/"+messageID+"/raw", nil)
}

// Inject puts a message into the mailbox as if it had been received. It works only where the service allows it, as with
// --dev. Error: inject.disabled.
func (m *Mailbox) Inject(ctx context.Context, draft Draft) (*Message, error) {
	draft.From = cmp.Or(draft.From, "test@gonebox.localhost")
	return get[Message](ctx, m, http.MethodPost, "/mailboxes/me/messages", draft)
}

// InjectRaw puts a whole message of RFC 5322 into the mailbox as if it had been received.
func (m *Mailbox) InjectRaw(ctx context.Context, eml []byte) (*Message, error) {
	return get[Message](ctx, m, http.MethodPost, "/mailboxes/me/messages", eml)
}

// Extend lets the mailbox live for ttl from now, or for the default time of its plan. It sets m.ExpiresAt and m.Token,
// so no other goroutine may use m meanwhile.
func (m *Mailbox) Extend(ctx context.Context, ttl ...time.Duration) error {
	return m.api().data(ctx, http.MethodPost, "/mailboxes/me/extend", mailboxBody{TTL: wholeSeconds(one(ttl))}, m)
}

// Destroy ends the mailbox and erases its messages. Its address is not given to others for some time.
func (m *Mailbox) Destroy(ctx context.Context) error {
	return m.api().data(ctx, http.MethodDelete, "/mailboxes/me", nil, nil)
}

// api returns what sends calls with the mailbox's own token.
func (m *Mailbox) api() caller { return caller{m.url, m.Token} }

// get sends a call and decodes the data of its response.
func get[T any](ctx context.Context, m *Mailbox, method, path string, body any) (*T, error) {
	result := new(T)
	return result, m.api().data(ctx, method, path, body, result)
}

// wait waits for a message that matches and has all of has. Error: wait.timeout.
func (m *Mailbox) wait(ctx context.Context, o WaitOptions, has ...string) (*Summary, error) {
	o.Has = append(has, o.Has...)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	found, err := m.next(ctx, o)
	if err != nil || found != nil {
		return found, err
	}
	there := "The mailbox is empty: check that the application sends to this address and to this service"
	if others, err := m.Messages(ctx, Filter{Limit: 5}); err == nil && len(others) > 0 {
		there = fmt.Sprintf("It has other messages: %v", others)
	}
	return nil, &Error{Code: "wait.timeout", Message: fmt.Sprintf("no message%s came to %s within %v. %s", o, m.Address, o.Timeout, there)}
}

// next returns the newest message that matches, or nil at the end of the timeout.
//
// The service waits in whole seconds, so the last part of a second is slept here. A service that is shutting down
// responds early, hence the pause before the next call.
func (m *Mailbox) next(ctx context.Context, o WaitOptions) (*Summary, error) {
	deadline := time.Now().Add(o.Timeout)
	q := o.query()
	q.Set("limit", "1")
	for {
		asked := time.Now()
		left := max(0, deadline.Sub(asked))
		wait := min(longestPoll, left.Truncate(time.Second))
		found, err := m.newest(ctx, q, wait)
		var problem *Error
		switch {
		case err == nil && (found != nil || left == 0):
			return found, nil
		case err == nil && wait == 0:
			err = pause(ctx, left)
		case err == nil && time.Since(asked) < wait/2: // it did not wait
			err = pause(ctx, time.Second/5)
		case errors.As(err, &problem) && problem.Code == "rate.limited" && problem.RetryAfter <= left:
			err = pause(ctx, max(problem.RetryAfter, time.Second))
		}
		if err != nil {
			return nil, err
		}
	}
}

// newest returns the newest message that matches, searching all pages. Only the first page waits.
func (m *Mailbox) newest(ctx context.Context, q url.Values, wait time.Duration) (*Summary, error) {
	q.Del("cursor")
	for {
		page, err := m.list(ctx, q, wait)
		if len(page.Data) > 0 {
			return &page.Data[0], nil
		}
		if err != nil || page.NextCursor == "" {
			return nil, err
		}
		q.Set("cursor", page.NextCursor)
		wait = 0
	}
}

// page is a page of a list of messages; NextCursor is "" for the last one.
type page struct {
	Data       []Summary
	NextCursor string
}

// list reads a page. wait is how long the service may hold the call open until a message matches.
func (m *Mailbox) list(ctx context.Context, q url.Values, wait time.Duration) (page, error) {
	var p page
	q.Set("wait", strconv.Itoa(int(wait/time.Second)))
	return p, m.api().json(ctx, http.MethodGet, "/mailboxes/me/messages?"+q.Encode(), nil, &p)
}

// query returns the parameters of a list that matches.
func (o WaitOptions) query() url.Values {
	q := url.Values{"has": o.Has}
	for name, value := range map[string]string{"from": o.From, "subject": o.Subject, "after": o.After} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.Unseen {
		q.Set("unseen", "true")
	}
	return q
}

// String describes what is waited for, beginning with a space, or is empty.
func (o WaitOptions) String() (text string) {
	for _, part := range [][2]string{{"from", o.From}, {"with subject", o.Subject}, {"with", strings.Join(o.Has, " and ")}} {
		if part[1] != "" {
			text += fmt.Sprintf(" %s %q", part[0], part[1])
		}
	}
	return text
}

// mailboxBody is the body of calls that create or extend a mailbox. TTL is in seconds; zero values are left to the
// service.
type mailboxBody struct {
	Domain    string `json:"domain,omitempty"`
	LocalPart string `json:"localPart,omitempty"`
	TTL       int64  `json:"ttl,omitempty"`
}

// wholeSeconds rounds up to seconds.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// one returns the first of optional arguments, or the zero value.
func one[T any](options []T) (o T) {
	if len(options) > 0 {
		o = options[0]
	}
	return o
}

// pause waits for a time, or returns the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

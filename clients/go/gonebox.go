// Package gonebox is a client of Gonebox, a disposable mailbox service. It uses the standard library alone.
//
// New returns a client of a service, CreateMailbox a mailbox. A test gives the mailbox's address to the application
// under test and then waits: WaitForCode, WaitForLink and WaitForMessage return as soon as a message matches, and count
// one that has arrived already. ExpectNoMessage checks that none comes, Messages lists what is there, and On calls a
// function for each event. Request reaches every operation of the API that has no method.
//
// All methods take a context and end with it. Errors of the service are of type *Error and have the stable code of the
// problem and a message that says what to do. Waits poll the service with calls of at most 25 seconds. While they have
// time left, they wait out a 429, a 503, and a service that refuses or resets connections. Package goneboxtest starts a service for tests.
package gonebox

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
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

// Gonebox is a service. It may be used by several goroutines. Connections are those of http.DefaultClient.
type Gonebox struct {
	URL  string
	call caller
}

// New returns the client of the service at url, such as http://localhost:8080. key is a developer key (x_…) or a user
// token (xu_…); without one, mailboxes are anonymous. An invalid url or key is reported by the first call. At most one
// key may be given.
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

// OpenMailbox opens the mailbox that a mailbox token (xm_…) belongs to, or the one at an address of the sink, where it can be
// waited for the first mail: under "gonebox serve --dev" any address that the application under test writes to, otherwise with a
// key of the sink's account. Errors: *Error, such as auth.invalid_token, mailbox.expired and mailbox.domain_unavailable.
func (g *Gonebox) OpenMailbox(ctx context.Context, token string) (*Mailbox, error) {
	if at := strings.LastIndexByte(token, '@'); at >= 0 {
		return g.CreateMailbox(ctx, MailboxOptions{LocalPart: token[:at], Domain: token[at+1:]})
	}
	m := &Mailbox{url: g.URL, Token: token}
	return m, m.api().data(ctx, http.MethodGet, "/mailboxes/me", nil, m)
}

// Messages lists the messages of all mailboxes of the account that match, newest first; Address of each is that of its mailbox. It needs a
// developer key with messages:read, or a user token. Like Mailbox.Messages it reads all pages.
func (g *Gonebox) Messages(ctx context.Context, filter ...Filter) ([]Summary, error) {
	return g.account().Messages(ctx, filter...)
}

// WaitForCode is Mailbox.WaitForCode for a message in any mailbox of the account: To says for which recipient.
func (g *Gonebox) WaitForCode(ctx context.Context, options ...WaitOptions) (string, error) {
	return g.account().WaitForCode(ctx, options...)
}

// WaitForLink is Mailbox.WaitForLink for a message in any mailbox of the account.
func (g *Gonebox) WaitForLink(ctx context.Context, options ...WaitOptions) (string, error) {
	return g.account().WaitForLink(ctx, options...)
}

// WaitForMessage is Mailbox.WaitForMessage for a message in any mailbox of the account.
func (g *Gonebox) WaitForMessage(ctx context.Context, options ...WaitOptions) (*Message, error) {
	return g.account().WaitForMessage(ctx, options...)
}

// account returns all mailboxes of the account as one that messages are read from.
func (g *Gonebox) account() *Mailbox {
	m := &Mailbox{Address: "the account", Token: g.call.key, url: g.URL, messages: "/me/messages"}
	if strings.HasPrefix(g.call.key, "x_") {
		m.messages = "/keys/messages"
	}
	return m
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
	messages    string // the path of the list; "": that of one mailbox
}

// WaitOptions restrict messages; what is zero restricts nothing. Limit is for Messages alone, Timeout for waits alone,
// where zero means DefaultTimeout. A deadline of the context ends a wait earlier, with the error of the context.
type WaitOptions struct {
	From, Subject string   // parts of the sender and of the subject, in any case
	To            string   // a part of a recipient: of the envelope, or in To or Cc
	Has           []string // all of them: "code", "link", "attachment"
	Unseen        bool
	After         string // the id of a message: only messages after it
	Limit         int
	Timeout       time.Duration

	// Of the methods of Gonebox alone: a search, the id or address of a mailbox, a domain, and how mailboxes were created.
	Q, Mailbox, Domain, Source string
}

// Filter restricts the messages of a list.
type Filter = WaitOptions

// WaitForCode waits for a message with a one-time code and returns the code. A message that is already there counts.
// Error: wait.timeout, whose message says what happened instead.
func (m *Mailbox) WaitForCode(ctx context.Context, options ...WaitOptions) (string, error) {
	o := one(options)
	found, err := m.wait(ctx, m.startWait("WaitForCode", cmp.Or(o.Timeout, DefaultTimeout)), o, "code")
	if err != nil {
		return "", err
	}
	return found.OTP.Code, nil
}

// bestLink is what a message has that WaitForLink waits for.
const bestLink = "bestLink"

// WaitForLink waits for a message with a link to follow and returns the link: the one that the message asks to open
// (Message.Action), else the first that is none to avoid, such as one that unsubscribes. It marks the message as seen.
// Error: wait.timeout.
func (m *Mailbox) WaitForLink(ctx context.Context, options ...WaitOptions) (string, error) {
	full, err := m.waitWhole(ctx, "WaitForLink", one(options), bestLink)
	if err != nil {
		return "", err
	}
	return full.BestLink, nil
}

// WaitForMessage waits for a message that matches and returns it whole. A message that is already there counts; the
// newest wins. It marks the message as seen. Error: wait.timeout.
func (m *Mailbox) WaitForMessage(ctx context.Context, options ...WaitOptions) (*Message, error) {
	return m.waitWhole(ctx, "WaitForMessage", one(options))
}

// ExpectNoMessage returns an error if a message that matches is there or comes within the timeout, DefaultQuiet if it
// is zero. Error: wait.unexpected_message.
func (m *Mailbox) ExpectNoMessage(ctx context.Context, options ...WaitOptions) error {
	o := one(options)
	found, err := m.next(ctx, m.startWait("ExpectNoMessage", cmp.Or(o.Timeout, DefaultQuiet)), o)
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

// Checks checks which mail clients lack what the HTML of a message uses, and what its parts and header miss. Nothing is
// fetched. Error: message.not_found.
func (m *Mailbox) Checks(ctx context.Context, messageID string) (*Checks, error) {
	return get[Checks](ctx, m, http.MethodGet, "/messages/"+messageID+"/checks", nil)
}

// Transcript reads the SMTP dialog of a message for the sink or a project, for a day. Error: transcript.not_found.
func (m *Mailbox) Transcript(ctx context.Context, messageID string) (*Transcript, error) {
	return get[Transcript](ctx, m, http.MethodGet, "/messages/"+messageID+"/transcript", nil)
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
func (m *Mailbox) wait(ctx context.Context, w *waiting, o WaitOptions, has ...string) (*Summary, error) {
	o.Has = append(has, o.Has...)
	found, err := m.next(ctx, w, o)
	if err != nil || found != nil {
		return found, err
	}
	there := "The mailbox is empty: check that the application sends to this address and to this service"
	if w.diagnosis != nil {
		there = strings.TrimSuffix(w.diagnosis.Summary, ".")
	} else if others, err := m.Messages(ctx, Filter{Limit: 5}); err != nil {
		there = fmt.Sprintf("What it has instead cannot be read: %v", err)
	} else if len(others) > 0 {
		there = fmt.Sprintf("It has other messages: %v", others)
	}
	return nil, &Error{Code: "wait.timeout", Message: fmt.Sprintf("no message%s came to %s within %v. %s", o, m.Address, w.timeout, there), Diagnosis: w.diagnosis}
}

// waitWhole is wait for the whole message.
func (m *Mailbox) waitWhole(ctx context.Context, name string, o WaitOptions, has ...string) (full *Message, err error) {
	w := m.startWait(name, cmp.Or(o.Timeout, DefaultTimeout))
	found, err := m.wait(ctx, w, o, has...)
	if err != nil {
		return nil, err
	}
	err = w.call(ctx, func(ctx context.Context) error {
		full, err = m.Message(ctx, found.ID)
		return err
	})
	return full, err
}

// next returns the newest message that matches, or nil at the end of the wait.
//
// The service waits in whole seconds, so the last part of a second is slept here. A service that is shutting down
// responds early, hence the pause before the next call.
func (m *Mailbox) next(ctx context.Context, w *waiting, o WaitOptions) (found *Summary, err error) {
	q := o.query()
	q.Set("limit", "1")
	for {
		asked, left := time.Now(), w.left()
		poll := min(longestPoll, left.Truncate(time.Second))
		err := w.call(ctx, func(ctx context.Context) error {
			found, err = m.newest(ctx, w, q, min(poll, w.left().Truncate(time.Second)))
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case found != nil || left == 0:
			return found, nil
		case poll == 0:
			err = w.pause(ctx, left)
		case time.Since(asked) < poll/2: // it did not wait
			err = w.pause(ctx, time.Second/5)
		}
		if err != nil {
			return nil, err
		}
	}
}

// newest returns the newest message that matches, searching all pages. Only the first page waits.
func (m *Mailbox) newest(ctx context.Context, w *waiting, q url.Values, wait time.Duration) (*Summary, error) {
	q.Del("cursor")
	for {
		page, err := m.list(ctx, q, wait)
		if err != nil {
			return nil, err
		}
		w.learn(page.Diagnosis)
		if len(page.Data) > 0 {
			return &page.Data[0], nil
		}
		if page.NextCursor == "" {
			return nil, nil
		}
		q.Set("cursor", page.NextCursor)
		wait = 0
	}
}

// page is a page of a list of messages; NextCursor is "" for the last one.
type page struct {
	Data       []Summary
	NextCursor string
	Diagnosis  *Diagnosis
}

// list reads a page. wait is how long the service may hold the call open until a message matches.
func (m *Mailbox) list(ctx context.Context, q url.Values, wait time.Duration) (page, error) {
	var p page
	q.Set("wait", strconv.Itoa(int(wait/time.Second)))
	return p, m.api().json(ctx, http.MethodGet, cmp.Or(m.messages, "/mailboxes/me/messages")+"?"+q.Encode(), nil, &p)
}

// query returns the parameters of a list that matches.
func (o WaitOptions) query() url.Values {
	q := url.Values{"has": o.Has}
	for name, value := range map[string]string{
		"from": o.From, "subject": o.Subject, "to": o.To, "after": o.After, "q": o.Q, "mailbox": o.Mailbox, "domain": o.Domain, "source": o.Source,
	} {
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
	for _, part := range [][2]string{{"from", o.From}, {"with subject", o.Subject}, {"to", o.To}, {"that finds", o.Q}, {"with", strings.Replace(strings.Join(o.Has, " and "), bestLink, "link", 1)}} {
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

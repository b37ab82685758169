package gonebox

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Error is an error of the service or of this client, whose codes begin with "client." or "wait.". RetryAfter is zero
// unless the service gave a time. Diagnosis is set for wait.timeout, unless the wait was below a second or the service is
// older. Use errors.As to find it.
type Error struct {
	Code       string
	Message    string // says what to do
	Status     int    // of the response, if the service gave one
	TraceID    string // finds the call in the log of the service
	RetryAfter time.Duration
	Err        error
	Diagnosis  *Diagnosis // why a wait found nothing
}

// Error returns Message, which begins with the code for errors of the service.
func (e *Error) Error() string { return e.Message }

// Unwrap returns what caused the error on the way to the service.
func (e *Error) Unwrap() error { return e.Err }

// advice is what to do about the errors that test suites meet. It is appended to the message.
var advice = map[string]string{
	"auth.required":            ". Pass a key: gonebox.New(url, key)",
	"auth.invalid_token":       ". The key or the mailbox has ended, or the token is of another service",
	"auth.scope_missing":       ". Give the key this scope",
	"mailbox.expired":          ". Create the mailbox with a longer TTL, or extend it in time",
	"mailbox.local_part_taken": ". The address is in use or was used recently; leave out LocalPart to get a fresh one",
	"mailbox.limit_reached":    ". Destroy mailboxes after each test",
	"rate.limited":             `. Run "gonebox serve --dev" for tests, or raise the limits (docs/testing.md)`,
	"inject.disabled":          `. Set "inject: on" on the service, or send the message by SMTP`,
}

// caller sends calls with one credential. The credential may be "".
type caller struct{ url, key string }

// data decodes the data of a response.
func (c caller) data(ctx context.Context, method, path string, body, result any) error {
	return c.json(ctx, method, path, body, &struct{ Data any }{result})
}

// json sends a call and decodes its whole response. An empty response decodes nothing. Error: client.unexpected_answer, if
// it is not JSON.
func (c caller) json(ctx context.Context, method, path string, body, result any) error {
	octets, err := c.read(ctx, method, path, body)
	if err != nil || len(octets) == 0 {
		return err
	}
	if err := json.Unmarshal(octets, result); err != nil {
		return &Error{Code: "client.unexpected_answer", Message: c.url + " does not answer as Gonebox does: check the URL", Err: err}
	}
	return nil
}

// read sends a call and returns the body of its response, all within responseTimeout.
func (c caller) read(ctx context.Context, method, path string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, responseTimeout, slowError(responseTimeout))
	defer cancel()
	response, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	octets, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.unreachable(ctx, nameOf(method, path), err)
	}
	return octets, nil
}

// send sends a call and returns its response, or what the service says against it. The caller closes the body. A []byte
// is sent as it is, anything else as JSON. Errors: those of the service, client.invalid_url, client.invalid_key,
// client.unreachable, client.unexpected_answer, that of ctx.
func (c caller) send(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	var content io.Reader
	media := "application/json"
	if eml, raw := body.([]byte); raw {
		content, media = bytes.NewReader(eml), "message/rfc822"
	} else if body != nil {
		octets, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(octets)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+"/api/v1"+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if content != nil {
		request.Header.Set("Content-Type", media)
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	maps.Copy(request.Header, header)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, nameOf(method, path), err)
	}
	if response.StatusCode >= 400 {
		defer response.Body.Close()
		return nil, c.problem(response, nameOf(method, path))
	}
	return response, nil
}

// nameOf returns the method and the path of a call without its query, for messages.
func nameOf(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	return method + " " + path
}

// check returns the error of a URL or a key that cannot be sent. It never shows a key, also where one was passed as the
// URL.
func (c caller) check() error {
	if !strings.HasPrefix(c.url, "http://") && !strings.HasPrefix(c.url, "https://") {
		shown := strconv.Quote(c.url)
		if keyLike.MatchString(c.url) {
			shown = "a key"
		}
		return &Error{Code: "client.invalid_url", Message: shown + " is not the URL of a Gonebox: pass one such as http://localhost:8080"}
	}
	if strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &Error{Code: "client.invalid_key", Message: "the key has characters that no key has, such as a line break at its end: pass it as the service showed it"}
	}
	return nil
}

// keyLike matches what may be a key or a token.
var keyLike = regexp.MustCompile("x[a-z]?_")

// unreachable returns the error of a call that got no response, or not all of it. If the caller has ended ctx, that is
// the error, and not the service's.
func (c caller) unreachable(ctx context.Context, call string, err error) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the dialer ends at the deadline, which may be a moment earlier
	}
	if slow, ok := context.Cause(ctx).(slowError); ok { // it is never wrapped
		return &Error{Code: "client.unreachable", Err: err, Message: fmt.Sprintf("%s did not answer %s within %v", c.url, call, time.Duration(slow))}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", call, ctx.Err())
	}
	reason := err
	if u, ok := err.(*url.Error); ok { // its text would show the URL twice
		reason = u.Err
	}
	return &Error{Code: "client.unreachable", Err: err, Message: fmt.Sprintf(`no Gonebox answers at %s (%s: %v). Start one with "gonebox serve --dev", or correct the URL`, c.url, call, reason)}
}

// problem returns the error of a response with a status of 400 and above. call is the method and the path, for the
// message.
func (c caller) problem(response *http.Response, call string) error {
	var p struct {
		Code, Title, Detail, TraceID string
		Errors                       []struct{ Pointer, Message string }
	}
	e := &Error{Status: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds < 1<<30 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	if err := json.NewDecoder(response.Body).Decode(&p); err != nil || p.Code == "" {
		e.Code, e.Message = "client.unexpected_answer", fmt.Sprintf("%s answered %s with %d, not as Gonebox does: check the URL", c.url, call, response.StatusCode)
		return e
	}
	e.Code, e.TraceID = p.Code, p.TraceID
	text := cmp.Or(p.Detail, p.Title)
	for _, field := range p.Errors {
		text += "; " + field.Pointer + " " + field.Message
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; try again in %d s", e.RetryAfter/time.Second)
	}
	e.Message = fmt.Sprintf("%s: %s (%s)%s", p.Code, text, call, advice[p.Code])
	return e
}

// On calls f on a goroutine of its own for each event of that name from now on, until ctx ends or stop is called.
// Interruptions of the connection lose nothing.
//
// Events are called one after the other; f delays those that follow. The names are those of Event. The goroutine ends
// with ctx, with stop, with the mailbox, or when the service refuses the token.
func (m *Mailbox) On(ctx context.Context, event string, f func(Event)) (stop func(), err error) {
	newest, err := m.list(ctx, Filter{}.query(), 0)
	if err != nil {
		return nil, err
	}
	last := first
	if len(newest.Data) > 0 {
		last = newest.Data[0].ID
	}
	ctx, cancel := context.WithCancel(ctx)
	go m.follow(ctx, cancel, last, func(e Event) {
		if e.Name == event && ctx.Err() == nil {
			f(e)
		}
	})
	return cancel, nil
}

// follow reads events until the mailbox or ctx ends, and reconnects after the last event it has read. The pause between
// connections doubles from 250 ms to slowestRetry, and starts anew after each event.
func (m *Mailbox) follow(ctx context.Context, cancel func(), last string, emit func(Event)) {
	defer cancel()
	for delay := time.Second / 4; ctx.Err() == nil; delay = min(2*delay, slowestRetry) {
		over, err := m.readEvents(ctx, &last, func(e Event) { delay = time.Second / 4; emit(e) })
		var problem *Error
		ended := errors.As(err, &problem) && problem.Status >= 400 && problem.Status < 500 && problem.Status != http.StatusTooManyRequests
		if over || ended || pause(ctx, delay) != nil {
			return
		}
	}
}

// readEvents reads one connection; over is true after the last event of the mailbox. *last is set to the identifier of
// each event, so that the next connection continues there. A stream that is silent for too long is given up: the
// service sends a comment every 15 seconds. An end that is due to a shutdown of the service is not passed on, since
// another connection continues.
func (m *Mailbox) readEvents(ctx context.Context, last *string, emit func(Event)) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alarm := time.AfterFunc(silence, cancel)
	defer alarm.Stop()
	response, err := m.api().send(ctx, http.MethodGet, "/mailboxes/me/events", nil, http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {*last}})
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var e Event
	for !over && lines.Scan() {
		alarm.Reset(silence)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "event":
			e.Name = value
		case field == "data":
			e.Data = append(e.Data, value...)
		case field == "id":
			*last = value
		case lines.Text() == "" && e.Data != nil:
			if e.Name == "message" {
				_ = json.Unmarshal(e.Data, &e.Message) // the event is passed on as it is
			}
			if e.Name != "end" || !strings.Contains(string(e.Data), `"shutdown"`) {
				emit(e)
				over = e.Name == "end"
			}
			e = Event{}
		}
	}
	return over, lines.Err()
}

package gonebox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is an error of the service or of this client, whose codes begin with "client." or "wait.".
type Error struct {
	Code       string
	Message    string // says what to do
	Status     int    // of the answer, if the service gave one
	TraceID    string // finds the call in the log of the service
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns what caused the error on the way to the service.
func (e *Error) Unwrap() error { return e.Err }

func advice(code string) string {
	switch code {
	case "auth.required":
		return ". Pass a key: gonebox.New(url, key)"
	case "auth.invalid_token":
		return ". The key or the mailbox has ended, or the token is of another service"
	case "auth.scope_missing":
		return ". Give the key this scope"
	case "mailbox.expired":
		return ". Create the mailbox with a longer TTL, or extend it in time"
	case "mailbox.local_part_taken":
		return ". The address is in use or was used recently; leave out LocalPart to get a fresh one"
	case "mailbox.limit_reached":
		return ". Destroy mailboxes after each test"
	case "rate.limited":
		return `. Run "gonebox serve --dev" for tests, or raise the limits (docs/testing.md)`
	case "inject.disabled":
		return `. Set "inject: on" on the service, or send the message by SMTP`
	}
	return ""
}

// caller sends calls with one credential.
type caller struct{ url, key string }

// patience bounds how long an answer may take, beyond what the call itself waits, 25 seconds at most.
const patience = time.Minute

// data decodes the data of an answer.
func (c caller) data(ctx context.Context, method, path string, body, result any) error {
	return c.json(ctx, method, path, body, &struct {
		Data any `json:"data"`
	}{result})
}

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

func (c caller) octets(ctx context.Context, path string) ([]byte, error) {
	return c.read(ctx, http.MethodGet, path, nil)
}

func (c caller) read(ctx context.Context, method, path string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	octets, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return octets, nil
}

// send sends a call and returns its answer, or what the service says against it.
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
	if !strings.HasPrefix(c.url, "http://") && !strings.HasPrefix(c.url, "https://") {
		return nil, &Error{Code: "client.invalid_url", Message: fmt.Sprintf("%q is not the URL of a Gonebox: pass one such as http://localhost:8080", c.url)}
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
	for name := range header {
		request.Header.Set(name, header.Get(name))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if answer.StatusCode >= 400 {
		defer answer.Body.Close()
		before, _, _ := strings.Cut(path, "?")
		return nil, c.problem(answer, method+" "+before)
	}
	return answer, nil
}

func (c caller) unreachable(err error) error {
	return &Error{Code: "client.unreachable", Err: err, Message: fmt.Sprintf(`no Gonebox answers at %s (%v). Start one with "gonebox serve --dev", or correct the URL`, c.url, err)}
}

func (c caller) problem(answer *http.Response, call string) error {
	var p struct {
		Code, Title, Detail, TraceID string
		Errors                       []struct{ Pointer, Message string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || p.Code == "" {
		return &Error{Code: "client.unexpected_answer", Status: answer.StatusCode, Message: fmt.Sprintf("%s answered %s with %d, not as Gonebox does: check the URL", c.url, call, answer.StatusCode)}
	}
	e := &Error{Code: p.Code, Status: answer.StatusCode, TraceID: p.TraceID}
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	for _, field := range p.Errors {
		text += "; " + field.Pointer + " " + field.Message
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
		text += fmt.Sprintf("; try again in %d s", seconds)
	}
	e.Message = fmt.Sprintf("%s: %s (%s)%s", p.Code, text, call, advice(p.Code))
	return e
}

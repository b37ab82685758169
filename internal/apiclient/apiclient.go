// Package apiclient calls the HTTP API of a Gonebox and waits for mail, for the commands gonebox inbox and the tools of
// package mcp. It imports nothing of the service but the clock, since the service may run on another machine and be of
// another version.
//
// An API sends requests: a Remote over the network, that of package mcp to the handler in this process. Data, List and Find
// make a call and decode its response. Wait is the one loop that waits for mail, and Messages uses it for a list.
//
// Programs of others use the module clients/go instead. This module cannot: it would need a published version of it, or a
// replace directive, with which go install refuses a version of this module.
package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	responseTimeout = time.Minute // for a whole call, in addition to the time of its long-poll
	responseMax     = 64 << 20    // octets that are read of a response body, more than the largest attachment
)

// Request is a request to the HTTP API.
type Request struct {
	Method     string
	Path       string        // below the API's base path, with the query
	Credential string        // a bearer token; "": none
	Body       any           // encoded as JSON; nil: none
	Wait       time.Duration // how long the query lets the service hold the request open
}

// Response is the response to a Request. The whole body is in memory.
type Response struct {
	URL        string // of the service, for messages; "" if it is this process
	Status     int    // the HTTP status code
	RetryAfter string // the Retry-After header field; "": none
	Body       []byte
}

// API sends requests to the HTTP API. Implementations must be safe for concurrent use.
type API interface {
	// Do sends a request and returns the whole response, whatever its status.
	Do(ctx context.Context, r Request) (*Response, error)
}

// Remote is the API of another process. It is safe for concurrent use.
type Remote struct {
	URL  string // of the service, without a slash at the end
	HTTP *http.Client
}

// Do sends a request. Errors: that of ctx; *ConnectionError, if there is no response, or not all of it, within a minute and
// the time of the long-poll.
func (r *Remote) Do(ctx context.Context, q Request) (*Response, error) {
	limited, cancel := context.WithTimeout(ctx, q.Wait+responseTimeout)
	defer cancel()
	request, err := NewRequest(limited, r.URL, q)
	if err != nil {
		return nil, fmt.Errorf("the URL %s is not valid: %w", r.URL, err)
	}
	response, err := r.HTTP.Do(request)
	var body []byte
	if err == nil {
		defer response.Body.Close()
		body, err = io.ReadAll(io.LimitReader(response.Body, responseMax))
	}
	switch {
	case err == nil:
		return &Response{URL: r.URL, Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: body}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, &ConnectionError{URL: r.URL, IsSlow: limited.Err() != nil, Err: err}
}

// NewRequest returns the HTTP request for q to the service at a URL.
func NewRequest(ctx context.Context, base string, q Request) (*http.Request, error) {
	var body io.Reader = http.NoBody
	if q.Body != nil {
		text, err := json.Marshal(q.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, base+"/api/v1"+q.Path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Credential != "" {
		r.Header.Set("Authorization", "Bearer "+q.Credential)
	}
	return r, nil
}

// ConnectionError is the error of a call that got no response, or not all of it.
type ConnectionError struct {
	URL    string
	IsSlow bool // the time for the response was over
	Err    error
}

// Error says what to do.
func (e *ConnectionError) Error() string {
	if e.IsSlow {
		return e.URL + " did not answer in time"
	}
	reason := e.Err
	if u, ok := errors.AsType[*url.Error](reason); ok { // its text would show the URL twice
		reason = u.Err
	}
	return fmt.Sprintf(`no Gonebox answers at %s; start one with "gonebox serve", or name it with --url: %v`, e.URL, reason)
}

// Unwrap returns the error of the connection.
func (e *ConnectionError) Unwrap() error { return e.Err }

// Call makes a call and returns the body of the response. Errors: those of api; *Error, if the status is 400 or above.
func Call(ctx context.Context, api API, r Request) ([]byte, error) {
	response, err := api.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return response.Body, response.Err()
}

// Data makes a call and decodes the member data of the response body into v, unless v is nil. Errors: those of Call; *Error
// without a code, if the body is not JSON.
func Data(ctx context.Context, api API, r Request, v any) error {
	if v == nil {
		_, err := Call(ctx, api, r)
		return err
	}
	return decode(ctx, api, r, &struct{ Data any }{v})
}

// Page is the response body of a list. NextCursor is "" on the last page, and Diagnosis nil unless a wait found nothing.
type Page[T any] struct {
	Data       []T
	NextCursor string
	Diagnosis  *Diagnosis
}

// List reads a page of a list. Errors: those of Data.
func List[T any](ctx context.Context, api API, path, credential string) (p Page[T], err error) {
	return p, decode(ctx, api, Request{Method: http.MethodGet, Path: path, Credential: credential}, &p)
}

// decode makes a call and decodes the whole response body.
func decode(ctx context.Context, api API, r Request, v any) error {
	response, err := api.Do(ctx, r)
	if err == nil {
		err = response.Err()
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(response.Body, v) != nil {
		return &Error{URL: response.URL, Status: response.Status}
	}
	return nil
}

package apiclient

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is the problem in a response (docs/spec/conventions.md#errors), or a response that is not one of Gonebox.
type Error struct {
	URL           string // of the service
	Status        int    // of HTTP
	Code          string // of the problem, such as rate.limited; "" if the response is not one of Gonebox
	Title, Detail string
	Errors        []FieldError
	RetryAfter    time.Duration // 0 if the service gave none
	Diagnosis     *Diagnosis    // of a wait that found nothing; nil otherwise
}

// FieldError says what is wrong with one field or query parameter, which Pointer names.
type FieldError struct{ Pointer, Message string }

// Error returns the problem's code, its detail, and the input at fault, in one line.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s answered with status %d, not as Gonebox does: check the URL", e.URL, e.Status)
	}
	text := e.Code + ": " + cmp.Or(e.Detail, e.Title)
	for _, field := range e.Errors {
		text += "; " + strings.TrimPrefix(field.Pointer, "/") + " " + field.Message
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; try again in %d s", e.RetryAfter/time.Second)
	}
	return text
}

// Err returns nil if the status is below 400, and otherwise the *Error that the response describes. Something other than
// Gonebox, such as a proxy, may have sent it: then the error has no code.
func (r *Response) Err() error {
	if r.Status < http.StatusBadRequest {
		return nil
	}
	var p struct {
		Code, Title, Detail string
		Errors              []FieldError
		Diagnosis           *Diagnosis
	}
	e := &Error{URL: r.URL, Status: r.Status}
	if json.Unmarshal(r.Body, &p) == nil {
		e.Code, e.Title, e.Detail, e.Errors, e.Diagnosis = p.Code, p.Title, p.Detail, p.Errors, p.Diagnosis
	}
	if seconds, err := strconv.Atoi(r.RetryAfter); err == nil && seconds > 0 && seconds < 1<<30 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// Code returns the problem code of an error, "" if it has none.
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// IsUnavailable reports whether an error is that of a service that restarts: a connection that is refused or breaks, or a
// service or a proxy that is not ready (502, 503, 504).
func IsUnavailable(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout
	}
	_, broken := errors.AsType[*ConnectionError](err)
	return broken
}

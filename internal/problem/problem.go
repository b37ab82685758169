// Package problem is the one list of errors that the service tells its callers. It refuses to carry causes:
// what went wrong inside is logged where it happened and never shown.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Problem is an error meant for the caller: HTTP shows it as RFC 9457 problem details, SMTP as a reply.
type Problem struct {
	Code       Code          // stable; clients branch on it
	Detail     string        // what happened this time and what to do; may be empty
	Fields     []Field       // which parts of the input are at fault
	RetryAfter time.Duration // when a further try makes sense; zero: not said
}

// Field says what is wrong with one part of the input.
type Field struct {
	Pointer string `json:"pointer" doc:"An RFC 6901 pointer into the body; empty for the whole body, ?name for a query parameter." example:"/ttl"` // RFC 6901; "" is the whole body, and a query parameter is named "?name"
	Message string `json:"message" doc:"What is wrong." example:"must be at most 86400"`
}

// New returns a problem of the given code.
func New(c Code) *Problem { return &Problem{Code: c} }

// Detailf returns a problem of the given code with a formatted detail. The detail never repeats a secret.
func Detailf(c Code, format string, args ...any) *Problem {
	return &Problem{Code: c, Detail: fmt.Sprintf(format, args...)}
}

// Invalid returns request.invalid for one part of the input.
func Invalid(pointer, format string, args ...any) *Problem {
	return &Problem{Code: RequestInvalid, Fields: []Field{{Pointer: pointer, Message: fmt.Sprintf(format, args...)}}}
}

// Error makes a Problem an error.
func (p *Problem) Error() string {
	parts := []string{string(p.Code)}
	if p.Detail != "" {
		parts[0] += ": " + p.Detail
	}
	for _, f := range p.Fields {
		parts = append(parts, f.Pointer+" "+f.Message)
	}
	return strings.Join(parts, "; ")
}

// Status is the HTTP status of the problem's code.
func (p *Problem) Status() int { return p.Code.Status() }

// Title is the short human text of the problem's code.
func (p *Problem) Title() string { return p.Code.Title() }

// Is lets errors.Is compare problems by code.
func (p *Problem) Is(target error) bool {
	other, ok := target.(*Problem)
	return ok && other.Code == p.Code
}

// From finds the problem in err's chain. An error that is none is a fault of ours: server.internal, and known is false.
func From(err error) (p *Problem, known bool) {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p, true
	}
	return New(ServerInternal), false
}

// Has reports whether err carries a problem of code c.
func Has(err error, c Code) bool {
	p, known := From(err)
	return known && p.Code == c
}

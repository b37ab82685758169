// Package problem defines the errors that the service shows to its clients. A Problem wraps no other error: the causes
// of internal errors are logged where they occur and never shown.
//
// Domains return a *Problem wherever the client can do something about an error: it has a stable Code, and a Detail or
// Fields that say what is wrong with this call and what to do. All other errors are the service's own and become
// server.internal where a response is written. Errors may be wrapped with fmt.Errorf on their way; From and Has find the problem in the
// chain. Doc comments list the codes of a function as "Error: …".
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/resource"
)

// Problem is an error for the client: HTTP shows it as RFC 9457 problem details, SMTP as a reply. Only
// the function that created it may change it, before it returns it.
type Problem struct {
	Code       Code          // stable; clients branch on it
	Detail     string        // what happened this time and what to do; may be empty
	Fields     []Field       // which parts of the input are at fault
	RetryAfter time.Duration // when to retry; zero: unknown

	Diagnosis *resource.Diagnosis // why a wait found nothing; nil: it is not about a wait
}

// Field says what is wrong with one part of the input.
type Field struct {
	Pointer string `json:"pointer" doc:"An RFC 6901 pointer into the body; empty for the whole body, ?name for a query parameter." example:"/ttl"` // RFC 6901; "" is the whole body, and a query parameter is named "?name"
	Message string `json:"message" doc:"What is wrong." example:"must be at most 86400"`
}

// New returns a problem of the given code.
func New(c Code) *Problem { return &Problem{Code: c} }

// Detailf returns a problem of the given code with a formatted detail. The detail must not contain secrets.
func Detailf(c Code, format string, args ...any) *Problem {
	return &Problem{Code: c, Detail: fmt.Sprintf(format, args...)}
}

// Invalid returns a request.invalid problem with one Field, whose Pointer is pointer.
func Invalid(pointer, format string, args ...any) *Problem {
	return &Problem{Code: RequestInvalid, Fields: []Field{{Pointer: pointer, Message: fmt.Sprintf(format, args...)}}}
}

// Error returns the code, the detail and the fields in one line, for logs and for wrapping. HTTP clients get the parts
// separately.
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

// Line returns the problem on one line for a terminal: the field and what is wrong with it, or the title and the detail
// if no field is at fault. Unlike Error it omits the code, and the slash of a top-level field's pointer.
func (p *Problem) Line() string {
	if len(p.Fields) == 0 {
		title := p.Title()
		return strings.TrimSuffix(strings.ToLower(title[:1])+title[1:]+": "+p.Detail, ": ")
	}
	var parts []string
	for _, f := range p.Fields {
		parts = append(parts, strings.TrimPrefix(f.Pointer, "/")+" "+f.Message)
	}
	return strings.Join(parts, "; ")
}

// Reason returns the problem as a single text, for an API whose errors have no fields: the detail, or the title if there is
// none. If fields are invalid, it is about the last one, without the leading signs of its pointer.
func (p *Problem) Reason() string {
	if n := len(p.Fields); n > 0 {
		f := p.Fields[n-1]
		return strings.TrimLeft(f.Pointer, "/?") + " " + f.Message
	}
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title()
}

// Status returns the HTTP status of the problem's code.
func (p *Problem) Status() int { return p.Code.Status() }

// Title returns the short text of the problem's code for people.
func (p *Problem) Title() string { return p.Code.Title() }

// Is lets errors.Is compare problems by code. The details are not compared.
func (p *Problem) Is(target error) bool {
	other, ok := target.(*Problem)
	return ok && other.Code == p.Code
}

// From returns the problem in err's chain. If there is none it returns server.internal, and known is false. The caller
// must log such an err, since the client does not see it.
func From(err error) (p *Problem, known bool) {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p, true
	}
	return New(ServerInternal), false
}

// Has reports whether err's chain has a problem with code c.
func Has(err error, c Code) bool {
	p, known := From(err)
	return known && p.Code == c
}

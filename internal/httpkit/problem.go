package httpkit

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
)

const problemType = "application/problem+json"

// Problem is an error as a client sees it (RFC 9457).
type Problem struct {
	Type    string          `json:"type" format:"uri" doc:"Where the problem is described."`
	Title   string          `json:"title" doc:"What happened, for people." example:"The request is not valid."`
	Status  int             `json:"status" doc:"The status of the response."`
	Code    string          `json:"code" doc:"What happened, for programs: it never changes." example:"request.invalid"`
	TraceID string          `json:"traceId" doc:"The W3C trace id of the request, also in the server's log." example:"4bf92f3577b34da6a3ce929d0e0e4736"`
	Detail  string          `json:"detail,omitempty" doc:"What happened this time and what to do." example:"The body has one fault."`
	Errors  []problem.Field `json:"errors,omitempty" doc:"Which parts of the input are at fault."`

	Diagnosis *resource.Diagnosis `json:"diagnosis,omitempty" doc:"After a wait, why it found nothing."`

	retryAfter string
}

// Error, GetStatus and ContentType make it an error that the library writes as it is.
func (p *Problem) Error() string               { return p.Code }
func (p *Problem) GetStatus() int              { return p.Status }
func (p *Problem) ContentType(_ string) string { return problemType }

// GetHeaders returns Retry-After, if the problem says when a retry may succeed.
func (p *Problem) GetHeaders() http.Header {
	if p.retryAfter == "" {
		return nil
	}
	return http.Header{"Retry-After": {p.retryAfter}}
}

func problemSchema(api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
}

// typeOf returns the address of a problem's description.
func typeOf(base string, c problem.Code) string { return base + problemsPath + "#" + string(c) }

// show completes a problem with the address of its description and the trace of the request, as clients see it.
func (k *Kit) show(ctx context.Context, p *problem.Problem) *Problem {
	callOf(ctx).code = p.Code // for the log and the metrics
	shown := &Problem{
		Type: typeOf(k.BaseURL, p.Code), Title: p.Title(), Status: p.Status(), Code: string(p.Code),
		TraceID: callOf(ctx).trace.id(), Detail: p.Detail, Errors: p.Fields, Diagnosis: p.Diagnosis,
	}
	if p.RetryAfter > 0 {
		shown.retryAfter = RetryAfter(p.RetryAfter)
	}
	return shown
}

// RetryAfter returns d as the value of a Retry-After field (RFC 9110 §10.2.3): in seconds, rounded up, so that a client that
// waits for exactly that long does not call too early.
func RetryAfter(d time.Duration) string {
	return strconv.FormatInt(clock.Seconds(d), 10)
}

// problemOf returns the problem in an error. An error without one is a server error: it is logged here, and only here.
func (k *Kit) problemOf(ctx context.Context, err error) *problem.Problem {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // the client closed the connection and reads no response
		p := problem.New(problem.ServerUnavailable) // unless the server cancelled the call when it stopped
		p.RetryAfter = retrySoon
		return p
	}
	if errors.Is(err, budget.ErrExhausted) {
		return noMemory()
	}
	p, known := problem.From(err)
	if known {
		return p
	}
	k.Logger.LogAttrs(ctx, slog.LevelError, "call failed", slog.String("operation", callOf(ctx).operation), slog.Any("error", err))
	if k.Unavailable != nil && k.Unavailable(err) {
		p = problem.New(problem.ServerUnavailable)
		p.RetryAfter = retrySoon
	}
	return p
}

// retrySoon is the Retry-After of a temporary error.
const retrySoon = time.Second

// Fail responds with the problem in err, for middleware. Handlers return their errors.
func (k *Kit) Fail(ctx huma.Context, err error) { k.write(ctx, k.problemOf(ctx.Context(), err)) }

// write responds with a problem.
func (k *Kit) write(ctx huma.Context, p *problem.Problem) {
	_, w := humago.Unwrap(ctx)
	k.respond(ctx.Context(), w, p)
}

// respond writes a problem; the recorder adds the fields that follow from its status.
func (k *Kit) respond(ctx context.Context, w http.ResponseWriter, p *problem.Problem) {
	shown := k.show(ctx, p)
	h := w.Header()
	if shown.retryAfter != "" {
		h.Set("Retry-After", shown.retryAfter)
	}
	h.Set("Content-Type", problemType)
	w.WriteHeader(shown.Status)
	_ = json.NewEncoder(w).Encode(shown)
}

var once sync.Once

// setUpLibrary sets the package variables of the library: its own errors become problems of ours, lists are never null,
// and names are compared exactly, so that "localpart" is not "localPart".
func setUpLibrary() {
	once.Do(func() {
		huma.ValidateStrictCasing = true
		huma.DefaultArrayNullable = false
		huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
			if ctx == nil { // while operations are registered, for the schema
				return &Problem{Status: status}
			}
			return callOf(ctx.Context()).kit.show(ctx.Context(), translate(msg, errs))
		}
		huma.NewError = func(status int, _ string, _ ...error) huma.StatusError {
			return &Problem{Status: status}
		}
	})
}

// translate makes an error of the library request.invalid, without the rejected input. All of its errors are about
// parameters: bodies pass checkBody first, and if the library cannot decode one after that, its shape is at fault.
func translate(msg string, errs []error) *problem.Problem {
	p := problem.New(problem.RequestInvalid)
	for _, err := range errs {
		if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			p.Fields = append(p.Fields, field(d))
		}
	}
	if p.Fields = limitFields(p.Fields); len(p.Fields) == 0 {
		p.Detail = msg
	}
	return p
}

// field describes one fault that the library found. The message of its decoder is left out, since it quotes the body.
func field(d *huma.ErrorDetail) problem.Field {
	if d.Location == "body" {
		return problem.Field{Message: "is not of the expected form or out of range"}
	}
	return problem.Field{Pointer: pointer(d.Location), Message: d.Message}
}

// pointer returns the pointer that a client sees for the location of a parameter: ?wait for query.wait.
func pointer(location string) string {
	if name, ok := strings.CutPrefix(location, "query."); ok {
		return "?" + name
	}
	return ""
}

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

const problemType = "application/problem+json"

// Problem is an error as a client sees it (RFC 9457, spec §7).
type Problem struct {
	Type    string          `json:"type" format:"uri" doc:"Where the problem is described."`
	Title   string          `json:"title" doc:"What happened, for people."`
	Status  int             `json:"status"`
	Code    string          `json:"code" doc:"What happened, for programs: it never changes."`
	TraceID string          `json:"traceId" doc:"The W3C trace id of the request, also in the server's log."`
	Detail  string          `json:"detail,omitempty" doc:"What happened this time and what to do."`
	Errors  []problem.Field `json:"errors,omitempty" doc:"Which parts of the input are at fault."`

	retryAfter string
}

// Error, GetStatus and ContentType make it an error that the library writes as it is.
func (p *Problem) Error() string               { return p.Code }
func (p *Problem) GetStatus() int              { return p.Status }
func (p *Problem) ContentType(_ string) string { return problemType }

// GetHeaders gives Retry-After where it is known.
func (p *Problem) GetHeaders() http.Header {
	if p.retryAfter == "" {
		return nil
	}
	return http.Header{"Retry-After": {p.retryAfter}}
}

func problemSchema(api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
}

// typeOf is the address of a problem's description.
func typeOf(base string, c problem.Code) string { return base + "/docs/errors#" + string(c) }

// show gives a problem its form for the client that made the request.
func (a *API) show(ctx context.Context, p *problem.Problem) *Problem {
	shown := &Problem{
		Type: typeOf(a.Settings.BaseURL, p.Code), Title: p.Title(), Status: p.Status(), Code: string(p.Code),
		TraceID: request(ctx).trace.id(), Detail: p.Detail, Errors: p.Fields,
	}
	if p.RetryAfter > 0 {
		shown.retryAfter = strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds())))
	}
	return shown
}

// fail makes a handler's error the client's problem.
func (a *API) fail(ctx context.Context, err error) error { return a.show(ctx, a.problem(ctx, err)) }

// problem finds the problem in an error. What is no problem is a fault of ours: it is logged here, and only here.
func (a *API) problem(ctx context.Context, err error) *problem.Problem {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // the client is gone: nobody reads this
		return problem.New(problem.ServerUnavailable)
	}
	if errors.Is(err, budget.ErrExhausted) {
		return noMemory()
	}
	p, known := problem.From(err)
	if known {
		return p
	}
	a.Logger.LogAttrs(ctx, slog.LevelError, "call failed", slog.String("operation", request(ctx).operation), slog.Any("error", err))
	if a.Unavailable != nil && a.Unavailable(err) {
		p = problem.New(problem.ServerUnavailable)
		p.RetryAfter = retrySoon
	}
	return p
}

// retrySoon is when to come again after what passes by itself.
const retrySoon = time.Second

// write answers with a problem from outside a handler.
func (a *API) write(ctx huma.Context, p *problem.Problem) {
	_, w := humago.Unwrap(ctx)
	a.answer(ctx.Context(), w, p)
}

// answer writes a problem; the recorder adds what belongs to its status.
func (a *API) answer(ctx context.Context, w http.ResponseWriter, p *problem.Problem) {
	shown := a.show(ctx, p)
	h := w.Header()
	if shown.retryAfter != "" {
		h.Set("Retry-After", shown.retryAfter)
	}
	h.Set("Content-Type", problemType)
	w.WriteHeader(shown.Status)
	_ = json.NewEncoder(w).Encode(shown)
}

var once sync.Once

// setUpLibrary sets what the library keeps in variables of its package: its own errors become problems of ours, and
// lists are never null, and "localpart" is a misspelt "localPart".
func setUpLibrary() {
	once.Do(func() {
		huma.ValidateStrictCasing = true
		huma.DefaultArrayNullable = false
		huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
			if ctx == nil { // while operations are registered, for the schema
				return &Problem{Status: status}
			}
			return request(ctx.Context()).api.show(ctx.Context(), translate(msg, errs))
		}
		huma.NewError = func(status int, _ string, _ ...error) huma.StatusError {
			return &Problem{Status: status}
		}
	})
}

// translate gives an error of the library's its code. Rejected input is never told back. All of its errors are about
// parameters: bodies pass checkBody first, and one that the library still cannot decode is a fault of its shape.
func translate(msg string, errs []error) *problem.Problem {
	p := problem.New(problem.RequestInvalid)
	for _, err := range errs {
		if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			p.Fields = append(p.Fields, field(d))
		}
	}
	if p.Fields = told(p.Fields); len(p.Fields) == 0 {
		p.Detail = msg
	}
	return p
}

// field is what a client is told of one fault that the library found. Of a body that is what its decoder says, which
// would repeat parts of it.
func field(d *huma.ErrorDetail) problem.Field {
	if d.Location == "body" {
		return problem.Field{Message: "is not of the expected form or out of range"}
	}
	return problem.Field{Pointer: pointer(d.Location), Message: d.Message}
}

// pointer makes a location of a parameter such as query.wait the pointer that a client is shown: ?wait.
func pointer(location string) string {
	if name, ok := strings.CutPrefix(location, "query."); ok {
		return "?" + name
	}
	return ""
}

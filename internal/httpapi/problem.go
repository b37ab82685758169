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

	"github.com/danielgtaylor/huma/v2"

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
	cause      error
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

// fail makes a handler's error the client's problem. What is no problem is a fault of ours: it is logged here, and only here.
func (a *API) fail(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil { // the client is gone, or the server is stopping
		return a.show(ctx, problem.New(problem.ServerUnavailable))
	}
	p, known := problem.From(err)
	if !known {
		a.Logger.LogAttrs(ctx, slog.LevelError, "call failed", slog.String("operation", request(ctx).operation), slog.Any("error", err))
	}
	return a.show(ctx, p)
}

// write answers with a problem from outside a handler.
func (a *API) write(ctx huma.Context, p *problem.Problem) {
	shown := a.show(ctx.Context(), p)
	if p.Status() == http.StatusUnauthorized {
		ctx.SetHeader("WWW-Authenticate", "Bearer")
	}
	if shown.retryAfter != "" {
		ctx.SetHeader("Retry-After", shown.retryAfter)
	}
	ctx.SetHeader("Content-Type", problemType)
	ctx.SetStatus(shown.Status)
	_ = json.NewEncoder(ctx.BodyWriter()).Encode(shown)
}

var once sync.Once

// useProblems makes the library's own errors problems of ours: it keeps how errors are made in a variable of its package.
func useProblems() {
	once.Do(func() {
		huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
			if ctx == nil { // while operations are registered, for the schema
				return &Problem{Status: status}
			}
			return request(ctx.Context()).api.show(ctx.Context(), translate(status, msg, errs))
		}
		huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
			return &Problem{Status: status}
		}
	})
}

// translate gives an error of the library's its code. Rejected input is never told back.
func translate(status int, msg string, errs []error) *problem.Problem {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return problem.New(problem.RequestTooLarge)
	case status == http.StatusUnsupportedMediaType:
		return problem.Detailf(problem.RequestMediaType, "send Content-Type: application/json")
	case status >= 500:
		return problem.New(problem.ServerInternal)
	}
	p := problem.New(problem.RequestInvalid)
	for _, err := range errs {
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			p.Fields = append(p.Fields, problem.Field{Pointer: pointer(d.Location), Message: tidied(d.Message)})
		}
	}
	if len(p.Fields) == 0 {
		p.Detail = tidied(msg)
	}
	return p
}

// tidied is an error text of the library without anything of the input in it.
func tidied(text string) string {
	if strings.Contains(text, "JSON") || strings.Contains(text, "json") || strings.Contains(text, "invalid character") || strings.Contains(text, "cannot unmarshal") {
		return "the body is not a JSON document of the expected form"
	}
	return text
}

// pointer makes a location such as body.filter.name or query.wait an RFC 6901 pointer, and ?wait for a query parameter.
func pointer(location string) string {
	if name, ok := strings.CutPrefix(location, "query."); ok {
		return "?" + name
	}
	path := strings.TrimPrefix(strings.TrimPrefix(location, "body"), ".")
	if path == "" {
		return ""
	}
	path = strings.NewReplacer("~", "~0", "/", "~1").Replace(path)
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(path)
}

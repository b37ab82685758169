package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Operation is one row of a group's table: what the documentation says of a call and what is done before its handler runs.
type Operation struct {
	ID      string // of OpenAPI, and the label of the metrics
	Method  string
	Path    string // below BasePath
	Summary string
	Text    string // a longer description; may be empty
	Status  int    // of success
	Auth    []Scheme
	Limit   ratelimit.Name // which limit it counts against; "": none
	Codes   []problem.Code // the problems of its own, beside those that follow from Auth, Limit and the input
	Expired problem.Code   // what an expired mailbox is told here; "": mailbox.expired
	Root    bool           // it answers without BasePath as well
}

// register adds an operation of a group with its handler. Errors of the handler become problems here, once.
func register[I, O any](a *API, group string, o Operation, handle func(context.Context, *I) (*O, error)) {
	op := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: BasePath + o.Path, Summary: o.Summary, Description: o.Text, Tags: []string{group},
		DefaultStatus: o.Status, Security: security(o.Auth), MaxBodyBytes: a.Settings.BodyMax, SkipValidateBody: false,
		Metadata: map[string]any{metadataKey: &o},
	}
	o.Codes = a.codes(o, hasBody[I](), hasInput[I]())
	op.Responses = problemResponses(a.huma, o.Codes)
	handler := func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, a.fail(ctx, err)
		}
		return out, nil
	}
	huma.Register(a.huma, op, handler)
	if o.Root {
		op.Path, op.Hidden = o.Path, true
		huma.Register(a.huma, op, handler)
	}
	a.table = append(a.table, o)
}

const metadataKey = "gonebox"

// operation is the row that a call belongs to.
func operation(ctx huma.Context) *Operation {
	return ctx.Operation().Metadata[metadataKey].(*Operation)
}

// codes completes an operation's own problems with those that every operation of its shape can answer.
func (a *API) codes(o Operation, body, input bool) []problem.Code {
	all := slices.Clone(o.Codes)
	if len(o.Auth) > 0 {
		all = append(all, problem.AuthInvalidToken)
		if !slices.Contains(o.Auth, public) {
			all = append(all, problem.AuthRequired)
		}
	}
	if slices.Contains(o.Auth, mailboxToken) {
		all = append(all, o.expired())
	}
	if o.Limit != "" {
		all = append(all, problem.RateLimited)
	}
	if input || body {
		all = append(all, problem.RequestInvalid)
	}
	if body {
		all = append(all, problem.RequestTooLarge, problem.RequestMediaType)
	}
	all = append(all, problem.ServerInternal)
	slices.Sort(all)
	return slices.Compact(all)
}

func (o Operation) expired() problem.Code {
	if o.Expired != "" {
		return o.Expired
	}
	return problem.MailboxExpired
}

// problemResponses documents problems: an answer a status, which lists the codes it may carry.
func problemResponses(api huma.API, codes []problem.Code) map[string]*huma.Response {
	schema := problemSchema(api)
	responses := make(map[string]*huma.Response)
	for _, c := range codes {
		status := strconv.Itoa(c.Status())
		r := responses[status]
		if r == nil {
			r = &huma.Response{
				Description: http.StatusText(c.Status()) + ":",
				Content:     map[string]*huma.MediaType{problemType: {Schema: schema, Examples: map[string]*huma.Example{}}},
			}
			if c == problem.RateLimited {
				r.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds until a further try makes sense.", Schema: &huma.Schema{Type: huma.TypeInteger}}}
			}
			responses[status] = r
		}
		r.Description += " `" + string(c) + "`"
		r.Content[problemType].Examples[strings.ReplaceAll(string(c), ".", "-")] = &huma.Example{
			Summary: c.Title(),
			Value:   map[string]any{"type": typeOf("", c), "title": c.Title(), "status": c.Status(), "code": string(c), "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"},
		}
	}
	return responses
}

// hasBody and hasInput tell whether an operation's input has a body, and anything that could be wrong.
func hasBody[I any]() bool {
	_, ok := reflect.TypeFor[I]().FieldByName("Body")
	return ok
}

func hasInput[I any]() bool { return reflect.TypeFor[I]().NumField() > 0 }

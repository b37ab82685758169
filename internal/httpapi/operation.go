package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/apikey"
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
	Scope   apikey.Scope   // with the scheme apiKey: what a key must carry
	Limit   ratelimit.Name // which limit it counts against; "": none
	Codes   []problem.Code // the problems of its own, beside those that follow from Auth, Limit and the input
	Expired problem.Code   // what an expired mailbox is told here; "": mailbox.expired
	Root    bool           // a probe: it answers without BasePath as well, and to any query
	Also    int            // a further status that carries the answer of success; 0: none
	Media   string         // of a download; "": the answer is JSON

	Statuses map[problem.Code]int // where the specification lists another status for a code than the table

	LargeBody    bool   // the body may be as large as Settings.LargeBodyMax
	body         *shape // of the body, where there is one; register sets it
	bodyRequired bool
}

// register adds an operation of a group with its handler. Errors of the handler become problems here, once.
func register[I, O any](a *API, group string, o Operation, handle func(context.Context, *I) (*O, error)) {
	o.Codes = a.codes(o, hasBody[I]())
	op := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: BasePath + o.Path, Summary: o.Summary, Description: o.Text, Tags: []string{group},
		DefaultStatus: o.Status, Security: security(o.Auth), SkipValidateBody: true, MaxBodyBytes: -1, BodyReadTimeout: -1, // see readBody
		Metadata: map[string]any{metadataKey: &o}, Responses: problemResponses(a.huma, o),
	}
	if hasBody[I]() {
		op.RequestBody = &huma.RequestBody{} // which the library completes
	}
	handler := func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, o.restated(a.fail(ctx, err))
		}
		return out, nil
	}
	huma.Register(a.huma, op, handler)
	if op.RequestBody != nil {
		o.body = compileShape(a.huma.OpenAPI().Components.Schemas, op.RequestBody.Content[jsonType].Schema)
		o.bodyRequired = op.RequestBody.Required
	}
	o.refine(op.Responses)
	if o.Root {
		op.Path, op.Hidden = o.Path, true
		huma.Register(a.huma, op, handler)
	}
}

// refine puts the documentation of success right where the Go types do not say it all.
func (o *Operation) refine(responses map[string]*huma.Response) {
	success := responses[strconv.Itoa(o.Status)]
	if o.Media != "" {
		success.Content = map[string]*huma.MediaType{o.Media: {}}
		delete(success.Headers, "Content-Type") // the media type says it
	}
	if o.Also != 0 {
		responses[strconv.Itoa(o.Also)] = &huma.Response{Description: http.StatusText(o.Also), Content: success.Content}
	}
}

const metadataKey = "gonebox"

// operation is the row that a call belongs to.
func operation(ctx huma.Context) *Operation {
	return ctx.Operation().Metadata[metadataKey].(*Operation)
}

// codes completes an operation's own problems with those that every operation of its shape can answer.
func (a *API) codes(o Operation, body bool) []problem.Code {
	all := slices.Clone(o.Codes)
	if len(o.Auth) > 0 {
		all = append(all, problem.AuthInvalidToken)
		if !slices.Contains(o.Auth, public) {
			all = append(all, problem.AuthRequired)
		}
	}
	if slices.Contains(o.Auth, apiKey) {
		all = append(all, problem.AuthScopeMissing, problem.AuthAddressNotAllowed)
	}
	if slices.Contains(o.Auth, mailboxToken) {
		all = append(all, o.expired(), problem.AuthAddressNotAllowed) // where the token carries a developer key
	}
	if o.Limit != "" {
		all = append(all, problem.RateLimited)
	}
	if !o.Root {
		all = append(all, problem.RequestInvalid) // at least the query can be wrong
	}
	if body {
		all = append(all, problem.RequestTooLarge, problem.RequestMediaType)
	}
	all = append(all, problem.ServerInternal, problem.ServerUnavailable)
	slices.Sort(all)
	return slices.Compact(all)
}

func (o Operation) expired() problem.Code {
	if o.Expired != "" {
		return o.Expired
	}
	return problem.MailboxExpired
}

// statusOf is the status of a code here.
func (o Operation) statusOf(c problem.Code) int {
	if status, ok := o.Statuses[c]; ok {
		return status
	}
	return c.Status()
}

// restated gives a problem the status that the specification lists for it here.
func (o Operation) restated(err error) error {
	if p, ok := errors.AsType[*Problem](err); ok {
		p.Status = o.statusOf(problem.Code(p.Code))
	}
	return err
}

// problemResponses documents problems: an answer a status, which lists the codes it may carry. What is our fault is
// the default: it can happen to every call, and no client need tell one from the other.
func problemResponses(api huma.API, o Operation) map[string]*huma.Response {
	schema := problemSchema(api)
	responses := make(map[string]*huma.Response)
	for _, c := range o.Codes {
		n := o.statusOf(c)
		status, title := strconv.Itoa(n), http.StatusText(n)
		if n >= http.StatusInternalServerError {
			status, title = "default", "A fault on our side"
		}
		r := responses[status]
		if r == nil {
			r = problemResponse(title, schema)
			responses[status] = r
		}
		if c == problem.RateLimited {
			r.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds until a further try makes sense.", Schema: &huma.Schema{Type: huma.TypeInteger}}}
		}
		r.Description += " `" + string(c) + "`"
		r.Content[problemType].Examples[strings.ReplaceAll(string(c), ".", "-")] = problemExample(api, c, n)
	}
	return responses
}

func problemResponse(title string, schema *huma.Schema) *huma.Response {
	return &huma.Response{
		Description: title + ":",
		Content:     map[string]*huma.MediaType{problemType: {Schema: schema, Examples: map[string]*huma.Example{}}},
	}
}

func problemExample(api huma.API, c problem.Code, status int) *huma.Example {
	return &huma.Example{Summary: c.Title(), Value: map[string]any{
		"type": typeOf(api.OpenAPI().Servers[0].URL, c), "title": c.Title(), "status": status, "code": string(c),
		"traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
	}}
}

// hasBody tells whether an operation's input has a body.
func hasBody[I any]() bool {
	_, ok := reflect.TypeFor[I]().FieldByName("Body")
	return ok
}

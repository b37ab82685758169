package httpkit

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Operation describes an operation: its row in the documentation, and what is checked before its handler runs.
type Operation struct {
	ID       string // the label of the metrics and, in camel case, the operationId in OpenAPI: a verb and its noun
	Method   string
	Path     string // below BasePath
	Summary  string
	Text     string // a longer description; may be empty
	Status   int    // of success
	Auth     []Scheme
	Scope    string         // what the credential must permit, for API.Authenticate; "": anything
	Limit    ratelimit.Name // the limit that it counts against; "": none
	CountBy  CountBy        // by what it counts
	Codes    []problem.Code // its problems, beside those that follow from Auth, Limit and the input
	Expired  problem.Code   // for API.Authenticate: the problem of a credential whose subject has expired; "": the API's default
	Fresh    bool           // for API.Authenticate: the handler shows the subject of the credential, as it is now
	Root     bool           // a probe: it is also served without BasePath, and accepts any query
	AnyQuery bool           // another service defines the query, so that unknown parameters are accepted
	Also     int            // a further status with the response of success; 0: none
	Media    string         // the media type of a download or stream; "": the response is JSON
	Example  string         // an example of the response, for one with a Media; may be empty

	Statuses map[problem.Code]int // the status of a code here, where it is not the code's usual one

	Upload      *UploadForm // the handler reads the body itself, with Kit.ReadUpload; nil: it does not
	uploadShape *shape      // of its JSON form; set when it is registered with the library

	LargeBody    bool   // the body may have Config.LargeBodyMax octets
	BodyMax      int64  // octets of the body, where that is more than Config.BodyMax
	body         *shape // of the body, if there is one; set when it is registered with the library
	bodyRequired bool
}

// Register adds an operation of a group with its handler. Errors of the handler become problems here.
func Register[I, O any](k *Kit, group string, o Operation, handle func(context.Context, *I) (*O, error)) {
	o.Codes = o.allCodes(hasBody[I]() || o.Upload != nil && o.Upload.JSON != nil)
	k.add(o, func(api huma.API, path string, documented bool) {
		o := o // the document and each path have their own
		op := huma.Operation{
			OperationID: camelCase(o.ID), Method: o.Method, Path: path, Summary: o.Summary, Description: o.Text, Tags: []string{group},
			DefaultStatus: o.Status, Security: security(o.Auth), SkipValidateBody: true, MaxBodyBytes: -1, BodyReadTimeout: -1, // see readBody
			Metadata: map[string]any{metadataKey: &o},
		}
		if documented {
			op.Responses = problemResponses(api, o)
		}
		if hasBody[I]() {
			op.RequestBody = &huma.RequestBody{} // which the library completes
		}
		huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
			out, err := handle(ctx, in)
			if err != nil {
				return nil, o.withStatus(k.show(ctx, k.problemOf(ctx, err)))
			}
			return out, nil
		})
		if op.RequestBody != nil {
			o.body = compileShape(api.OpenAPI().Components.Schemas, op.RequestBody.Content[jsonType].Schema)
			o.bodyRequired = op.RequestBody.Required
		}
		if o.Upload != nil {
			o.addUpload(api, path)
		}
		if documented {
			o.refine(op.Responses)
		}
	})
}

// refine corrects the documentation of success where the Go types do not say everything.
func (o *Operation) refine(responses map[string]*huma.Response) {
	success := responses[strconv.Itoa(o.Status)]
	if o.Media != "" {
		success.Content = map[string]*huma.MediaType{o.Media: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
		if o.Media == EventStreamType {
			success.Content[o.Media].Schema.Format = "" // clients read the stream as lines of text
		}
		if o.Example != "" {
			success.Content[o.Media].Example = o.Example
		}
		delete(success.Headers, "Content-Type") // documented as the media type already
	}
	if o.Also != 0 {
		responses[strconv.Itoa(o.Also)] = &huma.Response{Description: http.StatusText(o.Also), Content: success.Content}
	}
}

const metadataKey = "gonebox"

// operation returns the operation of a call.
func operation(ctx huma.Context) *Operation {
	return ctx.Operation().Metadata[metadataKey].(*Operation)
}

// allCodes returns an operation's own problems with those that follow from its credentials, limit and input.
func (o Operation) allCodes(body bool) []problem.Code {
	all := slices.Clone(o.Codes)
	if len(o.Auth) > 0 {
		all = append(all, problem.AuthInvalidToken)
		if !slices.Contains(o.Auth, Public) {
			all = append(all, problem.AuthRequired)
		}
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

// statusOf returns the status of a code here.
func (o Operation) statusOf(c problem.Code) int {
	if status, ok := o.Statuses[c]; ok {
		return status
	}
	return c.Status()
}

// withStatus sets the status that a problem has here.
func (o Operation) withStatus(err error) error {
	if p, ok := errors.AsType[*Problem](err); ok {
		p.Status = o.statusOf(problem.Code(p.Code))
	}
	return err
}

// problemResponses documents problems: one response per status, which lists the codes it may carry. Server errors are
// the default response: every call may fail with them, and clients handle them alike.
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

// hasBody reports whether an operation's input has a body.
func hasBody[I any]() bool {
	_, ok := reflect.TypeFor[I]().FieldByName("Body")
	return ok
}

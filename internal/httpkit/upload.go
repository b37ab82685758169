package httpkit

import (
	"context"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/body"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// UploadForm says which bodies an operation takes that reads its body with Kit.ReadUpload: octets of one media type, or a JSON
// document.
type UploadForm struct {
	Media string       // the media type of the octets
	JSON  reflect.Type // a struct that describes the JSON document; nil: any JSON is taken like the other media types
	Also  []string     // further media types of the octets, for Kit.ReadOctets
}

// Upload is a part of the input of an operation with an UploadForm.
type Upload struct {
	operation *Operation
	request   *http.Request
}

// Resolve keeps the request for Kit.ReadUpload.
func (u *Upload) Resolve(ctx huma.Context) []error {
	u.operation = operation(ctx)
	u.request, _ = humago.Unwrap(ctx)
	return nil
}

// addUpload adds the bodies of an UploadForm to an operation of the library, after it was registered at a path.
func (o *Operation) addUpload(api huma.API, path string) {
	content := map[string]*huma.MediaType{}
	for _, media := range append([]string{o.Upload.Media}, o.Upload.Also...) {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	if o.Upload.JSON != nil {
		schemas := api.OpenAPI().Components.Schemas
		schema := schemas.Schema(o.Upload.JSON, true, "")
		o.uploadShape = compileShape(schemas, schema)
		content[jsonType] = &huma.MediaType{Schema: schema}
	}
	item := api.OpenAPI().Paths[path]
	for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete, item.Patch} {
		if op != nil && op.Method == o.Method {
			op.RequestBody = &huma.RequestBody{Required: true, Content: content}
		}
	}
}

// UploadBounds are the largest bodies of an upload, in octets, and the memory that the work on a body of n octets takes beside the
// body itself. A JSON document is decoded in addition.
type UploadBounds struct {
	MediaMax, JSONMax int64
	Memory            func(n int64) int64
}

// ReadUpload reads the body of a call, and checks it against the schema if it is JSON. The lease covers the body and what the bounds say
// of the work on it; the caller releases it, also to acquire other memory afterwards. Errors: request.media_type,
// request.too_large, request.invalid, budget.ErrExhausted.
func (k *Kit) ReadUpload(ctx context.Context, u Upload, b UploadBounds) (octets []byte, isJSON bool, lease *budget.Lease, err error) {
	media, err := u.media()
	if err != nil {
		return nil, false, nil, err
	}
	isJSON = media == jsonType
	limit, tokens, cost := b.MediaMax, 0, func(n int64) int64 { return n + b.Memory(n) }
	if isJSON {
		limit, tokens, cost = b.JSONMax, bodyTokensMax, func(n int64) int64 { return n*(bodyCost+1) + b.Memory(n) }
	}
	octets, lease, err = k.read(ctx, u.request, limit, tokens, cost)
	if err == nil && len(octets) == 0 {
		err = problem.Detailf(problem.RequestInvalid, "request body is required")
	}
	if err == nil && isJSON {
		if faults := checkBody(octets, u.operation.uploadShape); len(faults) > 0 {
			err = &problem.Problem{Code: problem.RequestInvalid, Fields: limitFields(faults)}
		}
	}
	if err != nil {
		lease.Release()
		return nil, isJSON, nil, err
	}
	return octets, isJSON, lease, nil
}

// ReadOctets reads the body of a call as it is, whatever its media type. The lease covers the body and memory of its size; the caller
// releases it. Errors: request.too_large, request.invalid, budget.ErrExhausted.
func (k *Kit) ReadOctets(ctx context.Context, u Upload, max int64, memory func(n int64) int64) ([]byte, *budget.Lease, error) {
	return k.read(ctx, u.request, max, 0, func(n int64) int64 { return n + memory(n) })
}

// Header returns the header of the call.
func (u Upload) Header() http.Header { return u.request.Header }

// Drop reads and drops at most max octets of the body, so that a client that sends all of it before it reads gets the
// response instead of a connection reset.
func (u Upload) Drop(max int64) { body.Drain(u.request, max) }

// media returns the media type of the body, which must be one that the operation takes.
func (u Upload) media() (string, error) {
	types := []string{u.operation.Upload.Media, jsonType}
	values := u.request.Header.Values("Content-Type")
	if len(values) == 1 {
		media, _, err := mime.ParseMediaType(values[0])
		if err == nil && slices.Contains(types, media) {
			return media, nil
		}
	}
	return "", problem.Detailf(problem.RequestMediaType, "send Content-Type: %s", strings.Join(types, " or "))
}

// lease is Reserve for a lease that the caller releases.
func (k *Kit) lease(ctx context.Context, n int64) (*budget.Lease, error) {
	owner := callOf(ctx).identity()
	if lease := k.Memory.TryAcquire(budget.Request, owner, n); lease != nil {
		return lease, nil
	}
	waiting, stop := k.withTimeout(ctx, memoryWait)
	defer stop()
	return k.Memory.Acquire(waiting, budget.Request, owner, n)
}

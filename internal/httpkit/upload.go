package httpkit

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

// UploadForm says which bodies an operation takes that reads its body with Kit.ReadUpload: octets of one media type, or a JSON
// document.
type UploadForm struct {
	Media string       // the media type of the octets
	JSON  reflect.Type // a struct that describes the JSON document
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

// documentUpload adds the bodies of an UploadForm to the operation in the document, after it was registered.
func (k *Kit) documentUpload(path, method string, o *Operation) {
	schemas := k.huma.OpenAPI().Components.Schemas
	schema := schemas.Schema(o.Upload.JSON, true, "")
	o.uploadShape = compileShape(schemas, schema)
	item := k.huma.OpenAPI().Paths[path]
	for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete, item.Patch} {
		if op != nil && op.Method == method {
			op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				jsonType:       {Schema: schema},
				o.Upload.Media: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
			}}
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
func (k *Kit) ReadUpload(ctx context.Context, u Upload, b UploadBounds) (body []byte, isJSON bool, lease *budget.Lease, err error) {
	media, err := u.media()
	if err != nil {
		return nil, false, nil, err
	}
	isJSON = media == jsonType
	limit, cost := b.MediaMax, func(n int64) int64 { return n + b.Memory(n) }
	if isJSON {
		limit, cost = b.JSONMax, func(n int64) int64 { return n*(bodyCost+1) + b.Memory(n) }
	}
	body, lease, err = k.readLeased(ctx, u.request, limit, cost)
	if err == nil && len(body) == 0 {
		err = problem.Detailf(problem.RequestInvalid, "request body is required")
	}
	if err == nil && isJSON {
		if faults := checkBody(body, u.operation.uploadShape); len(faults) > 0 {
			err = &problem.Problem{Code: problem.RequestInvalid, Fields: limitFields(faults)}
		}
	}
	if err != nil {
		lease.Release()
		return nil, isJSON, nil, err
	}
	return body, isJSON, lease, nil
}

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

// readLeased reads a body of at most limit octets. The first octets are read before memory is acquired, so that a client that sends
// nothing, or does not say how much it sends, holds none for it.
func (k *Kit) readLeased(ctx context.Context, r *http.Request, limit int64, cost func(int64) int64) ([]byte, *budget.Lease, error) {
	tooLarge := problem.Detailf(problem.RequestTooLarge, "the body of this call has at most %d bytes", limit)
	brokeOff := problem.Detailf(problem.RequestInvalid, "the body broke off")
	if r.ContentLength > limit {
		drain(r)
		return nil, nil, tooLarge
	}
	begin, err := io.ReadAll(io.LimitReader(r.Body, min(smallBody, limit+1)))
	if err != nil {
		return nil, nil, brokeOff
	}
	expected := int64(len(begin))
	if expected == smallBody { // the body may be longer than what was read
		expected = limit
		if r.ContentLength >= 0 {
			expected = r.ContentLength
		}
	}
	lease, err := k.lease(ctx, cost(expected))
	if err != nil {
		return nil, nil, err
	}
	whole := bytes.NewBuffer(begin)
	if r.ContentLength >= 0 {
		whole.Grow(int(expected) - len(begin) + bytes.MinRead)
	}
	_, err = whole.ReadFrom(io.LimitReader(r.Body, limit+1-int64(len(begin))))
	body := whole.Bytes()
	switch {
	case err != nil:
		err = brokeOff
	case int64(len(body)) > limit:
		drain(r)
		err = tooLarge
	default:
		lease.Shrink(lease.Size() - cost(int64(len(body))))
		return body, lease, nil
	}
	lease.Release()
	return nil, nil, err
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

package httpkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/body"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

const jsonType = "application/json"

// bodyCost is how many octets of memory decoding takes for each octet of a body, with the copies of the library and its
// decoder.
const bodyCost = 8

// readBody reads the body of a request and checks it before the library decodes it: its media type, its size, and in one
// pass over its tokens everything that the schema demands (checkBody). This bounds the cost of decoding to bodyCost times
// the size that the operation allows.
func (k *Kit) readBody(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	if o.body == nil {
		next(ctx)
		return
	}
	r, _ := humago.Unwrap(ctx)
	body, p := k.bodyOf(r, o)
	if p != nil {
		k.write(ctx, p)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

// bodyOf returns the checked body of a request, or the problem with it.
func (k *Kit) bodyOf(r *http.Request, o *Operation) ([]byte, *problem.Problem) {
	if r.ContentLength > 0 && !isJSON(r.Header) { // before 100 Continue is sent
		return nil, wrongMedia()
	}
	limit := max(k.BodyMax, o.BodyMax)
	if o.LargeBody {
		limit = k.LargeBodyMax
	}
	octets, lease, err := k.read(r.Context(), r, limit, 0, func(n int64) int64 { return n * bodyCost })
	if err != nil {
		return nil, k.problemOf(r.Context(), err)
	}
	c := callOf(r.Context())
	c.leases = append(c.leases, lease)
	switch {
	case len(octets) == 0 && o.bodyRequired:
		return nil, problem.Detailf(problem.RequestInvalid, "request body is required")
	case len(octets) == 0:
		return nil, nil
	case !isJSON(r.Header): // of a chunked body, whose length was not known before
		return nil, wrongMedia()
	}
	if faults := checkBody(octets, o.body); len(faults) > 0 {
		return nil, &problem.Problem{Code: problem.RequestInvalid, Fields: limitFields(faults)}
	}
	return octets, nil
}

func wrongMedia() *problem.Problem {
	return problem.Detailf(problem.RequestMediaType, "send Content-Type: %s", jsonType)
}

// isJSON reports whether a body is declared as application/json, with any parameters.
func isJSON(h http.Header) bool {
	values := h.Values("Content-Type")
	if len(values) != 1 {
		return false
	}
	media, _, err := mime.ParseMediaType(values[0])
	return err == nil && media == jsonType
}

// JSONBounds bound a JSON body that Kit.ReadJSON reads.
type JSONBounds struct {
	Octets   int64               // the most octets
	Tokens   int                 // the most names, values and brackets
	Optional bool                // without a body the value stays as it is
	Memory   func(n int64) int64 // what is made of the value that a body of n octets is decoded into takes; nil: nothing
}

// Decoding a document of n octets takes jsonCost*n octets, for it and for its texts, and tokenCost for each token, which is
// an element of the largest structure while its list grows.
const (
	jsonCost  = 3
	tokenCost = 160
)

// ReadJSON reads the JSON body of a call outside of huma, whatever media type it has, and decodes it into v. The lease
// covers the value and what the bounds say of it; the caller releases it, also to acquire other memory afterwards. Errors: request.too_large, request.invalid, budget.ErrExhausted.
func (k *Kit) ReadJSON(ctx context.Context, r *http.Request, v any, b JSONBounds) (*budget.Lease, error) {
	octets, lease, err := k.read(ctx, r, b.Octets, b.Tokens, func(n int64) int64 {
		cost := n*jsonCost + min(n, int64(b.Tokens))*tokenCost
		if b.Memory != nil {
			cost += b.Memory(n)
		}
		return cost
	})
	if err != nil {
		return nil, err
	}
	if len(octets) > 0 || !b.Optional {
		if err := json.Unmarshal(octets, v); err != nil {
			lease.Release()
			return nil, problem.Invalid("/body", "is not the JSON that the operation takes")
		}
	}
	return lease, nil
}

// read reads a body. The caller releases the lease. Errors: request.too_large, request.invalid, budget.ErrExhausted.
func (k *Kit) read(ctx context.Context, r *http.Request, limit int64, tokens int, cost func(int64) int64) ([]byte, *budget.Lease, error) {
	octets, lease, err := body.Read(ctx, r, body.Bounds{Octets: limit, Tokens: tokens, Cost: cost, Lease: k.lease})
	if e, ok := errors.AsType[*body.TooLargeError](err); ok {
		err = problem.Detailf(problem.RequestTooLarge, "the body of this call has at most %d bytes", e.Max)
	} else if e, ok := errors.AsType[*body.TooComplexError](err); ok {
		err = &problem.Problem{Code: problem.RequestInvalid, Fields: []problem.Field{{Message: e.Error()}}}
	} else if errors.Is(err, body.ErrBrokeOff) {
		err = problem.Detailf(problem.RequestInvalid, "%v", err)
	}
	return octets, lease, err
}

package httpkit

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/problem"
)

const jsonType = "application/json"

// Decoding a body takes bodyCost times its length, with the copies of the library and its decoder. The memory for a body of
// at most smallBody octets is reserved when it has arrived, so that clients that send nothing hold none; for a larger one
// it is reserved before reading.
const (
	bodyCost  = 8
	smallBody = 16 << 10
)

// drainMax is how many octets of a body above its limit are read and dropped, so that a client that sends all of it before
// it reads gets the response instead of a connection reset.
const drainMax = 1 << 20

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
	limit := k.BodyMax
	if o.LargeBody {
		limit = k.LargeBodyMax
	}
	expected := limit
	if r.ContentLength >= 0 {
		expected = min(limit, r.ContentLength)
	}
	if expected > smallBody {
		if err := k.Reserve(r.Context(), budget.Request, expected*bodyCost); err != nil {
			return nil, k.problemOf(r.Context(), err)
		}
	}
	body, err := readAtMost(r, limit)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, problem.Detailf(problem.RequestTooLarge, "the body of this call has at most %d bytes", limit)
	case err != nil:
		return nil, problem.Detailf(problem.RequestInvalid, "the body broke off")
	case len(body) == 0 && o.bodyRequired:
		return nil, problem.Detailf(problem.RequestInvalid, "request body is required")
	case len(body) == 0:
		return nil, nil
	case !isJSON(r.Header): // of a chunked body, whose length was not known before
		return nil, wrongMedia()
	}
	if expected <= smallBody {
		if err := k.Reserve(r.Context(), budget.Request, int64(len(body))*bodyCost); err != nil {
			return nil, k.problemOf(r.Context(), err)
		}
	}
	if faults := checkBody(body, o.body); len(faults) > 0 {
		return nil, &problem.Problem{Code: problem.RequestInvalid, Fields: limitFields(faults)}
	}
	return body, nil
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

// readAtMost reads a request's body. Error: *http.MaxBytesError where it is longer than limit.
func readAtMost(r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		drain(r)
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		drain(r)
		err = &http.MaxBytesError{Limit: limit}
	}
	return body, err
}

// drain drops what a client may have sent already. A client that waits for 100 Continue has sent nothing.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, drainMax)
	}
}

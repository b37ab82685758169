package httpkit

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/idempotency"
)

// IdempotencyKey is the header of operations that must not take effect twice.
type IdempotencyKey struct {
	Key string `header:"Idempotency-Key" doc:"1 to 255 visible ASCII characters. The same key with the same body gives the first response again, for a day."`

	values []string // of every header of that name
}

// Resolve collects the values of all headers of that name: the library keeps one, and treats an empty value like a
// missing header.
func (k *IdempotencyKey) Resolve(ctx huma.Context) []error {
	ctx.EachHeader(func(name, value string) {
		if http.CanonicalHeaderKey(name) == "Idempotency-Key" {
			k.values = append(k.values, value)
		}
	})
	return nil
}

// Parse returns the key, or no key if there is no header. Error: request.invalid.
func (k *IdempotencyKey) Parse() (idempotency.Key, error) { return idempotency.ParseKey(k.values...) }

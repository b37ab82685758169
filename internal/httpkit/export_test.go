package httpkit

import (
	"net/http"
	"net/netip"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
)

// Internals for the tests.
var (
	Translate    = translate
	CleanPath    = clean
	QueryProblem = func(raw string, known ...string) *problem.Problem {
		var params []*huma.Param
		for _, name := range known {
			params = append(params, &huma.Param{Name: name, In: "query"})
		}
		return queryProblem(raw, params)
	}
	ClientAddrOf = func(r *http.Request, trusted []netip.Prefix) netip.Addr { return clientAddr(r, trusted) }
)

// SchemaName names a type in the document.
func SchemaName(names map[string]string, t reflect.Type) string {
	return schemaNames(names).name(t, "")
}

// Traceparent returns the header that answers one of the caller's, and whether it continues the caller's trace.
func Traceparent(parent string) (answer string, continued bool) {
	_, continued = parseTraceparent(parent)
	return newTrace(parent).String(), continued
}

// Bounds of the faults in a response, and of a body's structure.
const (
	FieldsMax     = fieldsMax
	PointerMax    = pointerMax
	BodyTokensMax = bodyTokensMax
	BodyDepthMax  = bodyDepthMax
)

// BodyChecker checks bodies of a type by this package and by the library.
type BodyChecker struct {
	registry huma.Registry
	schema   *huma.Schema
	shape    *shape
}

// NewBodyChecker returns a BodyChecker for the type of v.
func NewBodyChecker(v any) *BodyChecker {
	setUpLibrary()
	r := newSchemas(nil)
	c := &BodyChecker{registry: r, schema: r.Schema(reflect.TypeOf(v), true, "")}
	c.shape = compileShape(r, c.schema)
	return c
}

// Check returns the faults that this package finds in a body.
func (c *BodyChecker) Check(body []byte) []problem.Field { return checkBody(body, c.shape) }

// Library returns the faults that the library finds in a decoded body.
func (c *BodyChecker) Library(decoded any) []error {
	var res huma.ValidateResult
	huma.Validate(c.registry, c.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, decoded, &res)
	return res.Errors
}

package httpapi

import (
	"net/http"
	"net/netip"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
)

// What the tests of this package look at from outside.
var (
	Translate    = translate
	CleanPath    = clean
	SchemaName   = schemaName
	QueryProblem = func(raw string, known ...string) *problem.Problem {
		var params []*huma.Param
		for _, name := range known {
			params = append(params, &huma.Param{Name: name, In: "query"})
		}
		return queryProblem(raw, params)
	}
	ClientAddr = func(r *http.Request, trusted []netip.Prefix) netip.Addr { return clientAddr(r, trusted) }
)

// Traceparent is the header that answers one of the caller's, and whether it continues the caller's trace.
func Traceparent(parent string) (answer string, continued bool) {
	_, continued = parseTraceparent(parent)
	return newTrace(parent).String(), continued
}

// Bounds of what is told back, and of a body's structure.
const (
	FieldsMax     = fieldsMax
	PointerMax    = pointerMax
	BodyTokensMax = bodyTokensMax
	BodyDepthMax  = bodyDepthMax
)

// BodyChecker checks bodies of a type, and asks the library the same.
type BodyChecker struct {
	registry huma.Registry
	schema   *huma.Schema
	shape    *shape
}

// NewBodyChecker makes one for the type of v.
func NewBodyChecker(v any) *BodyChecker {
	setUpLibrary()
	r := newSchemas()
	c := &BodyChecker{registry: r, schema: r.Schema(reflect.TypeOf(v), true, "")}
	c.shape = compileShape(r, c.schema)
	return c
}

// Check is what the service says of a body.
func (c *BodyChecker) Check(body []byte) []problem.Field { return checkBody(body, c.shape) }

// Library is what the library says of a decoded body.
func (c *BodyChecker) Library(decoded any) []error {
	var res huma.ValidateResult
	huma.Validate(c.registry, c.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, decoded, &res)
	return res.Errors
}

package httpapi

import (
	"net/http"
	"net/netip"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
)

// What the tests of this package look at from outside.
var (
	Pointer      = pointer
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

// FieldsMax and PointerMax bound what is told back.
const (
	FieldsMax  = fieldsMax
	PointerMax = pointerMax
)

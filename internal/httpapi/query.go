package httpapi

import (
	"maps"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
)

// checkQuery refuses a query that could be misunderstood, so that a misspelt "wait" is noticed (decisions §1): one that
// is malformed, and parameters that the operation does not have or that come twice. Probes take anything, since
// whoever probes may add something against caches.
func (a *API) checkQuery(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	u := ctx.URL()
	if o.Root || u.RawQuery == "" {
		next(ctx)
		return
	}
	if p := queryProblem(u.RawQuery, ctx.Operation().Parameters); p != nil {
		a.write(ctx, p)
		return
	}
	next(ctx)
}

func queryProblem(raw string, known []*huma.Param) *problem.Problem {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return problem.Detailf(problem.RequestInvalid, "the query is not of the form name=value&name=value with percent-encoding")
	}
	p := problem.New(problem.RequestInvalid)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		isKnown := slices.ContainsFunc(known, func(k *huma.Param) bool { return k.In == "query" && k.Name == name })
		switch {
		case !isKnown:
			p.Fields = append(p.Fields, problem.Field{Pointer: "?" + name, Message: "is not a parameter of this call"})
		case len(query[name]) > 1:
			p.Fields = append(p.Fields, problem.Field{Pointer: "?" + name, Message: "comes more than once"})
		}
	}
	if len(p.Fields) == 0 {
		return nil
	}
	p.Fields = told(p.Fields)
	return p
}

// Bounds of what is told back of wrong input.
const (
	fieldsMax  = 20
	pointerMax = 200
)

// told is what a client is told of the fields at fault: enough to go on, and never more than it sent.
func told(fields []problem.Field) []problem.Field {
	fields = fields[:min(len(fields), fieldsMax)]
	for i, f := range fields {
		if len(f.Pointer) > pointerMax {
			fields[i].Pointer = ""
		}
	}
	return fields
}

package httpkit

import (
	"maps"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
)

// checkQuery rejects a malformed query, and parameters that the operation does not have or that occur twice without being a list, so that a
// client notices a misspelt "wait". Probes accept any query, since monitoring tools add parameters to avoid caches.
func (k *Kit) checkQuery(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	u := ctx.URL()
	if o.Root || o.AnyQuery || u.RawQuery == "" {
		next(ctx)
		return
	}
	if p := queryProblem(u.RawQuery, ctx.Operation().Parameters); p != nil {
		k.write(ctx, p)
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
		at := slices.IndexFunc(known, func(k *huma.Param) bool { return k.In == "query" && k.Name == name })
		switch {
		case at < 0:
			p.Fields = append(p.Fields, problem.Field{Pointer: "?" + name, Message: "is not a parameter of this call"})
		case len(query[name]) > 1 && !repeats(known[at]):
			p.Fields = append(p.Fields, problem.Field{Pointer: "?" + name, Message: "comes more than once"})
		}
	}
	if len(p.Fields) == 0 {
		return nil
	}
	p.Fields = limitFields(p.Fields)
	return p
}

// repeats reports whether a parameter is a list, of which each element is a parameter of the same name.
func repeats(p *huma.Param) bool { return p.Explode != nil && *p.Explode }

// Bounds of the list of faults in a response to invalid input.
const (
	fieldsMax  = 20
	pointerMax = 200
)

// limitFields bounds the faults in a response, so that it is never much larger than the request.
func limitFields(fields []problem.Field) []problem.Field {
	fields = fields[:min(len(fields), fieldsMax)]
	for i, f := range fields {
		if len(f.Pointer) > pointerMax {
			fields[i].Pointer = ""
		}
	}
	return fields
}

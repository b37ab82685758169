package httpkit

import (
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
)

// completeDocument completes the OpenAPI document after the last operation was registered: the schemas where the library
// says too much or too little, and an example for every JSON body.
func completeDocument(d *huma.OpenAPI) {
	correctSchemas(d.Components.Schemas)
	for _, item := range d.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete, item.Patch} {
			if op != nil {
				addExamples(d.Components.Schemas, op)
			}
		}
	}
}

// addExamples gives each JSON body of an operation an example made of those of its fields. The documentation page sends the
// example of a request as it is, so that of a request has the required fields and those with an example of their own.
func addExamples(r huma.Registry, op *huma.Operation) {
	if op.RequestBody != nil {
		if m := op.RequestBody.Content[jsonType]; m != nil && m.Example == nil {
			m.Example = exampleObject(r, m.Schema, true)
		}
	}
	for _, response := range op.Responses {
		if m := response.Content[jsonType]; m != nil && m.Schema != nil && m.Example == nil {
			m.Example = exampleOf(r, m.Schema)
		}
	}
}

// exampleOf returns a value that a schema allows: its own example if it has one, else one made of its parts.
func exampleOf(r huma.Registry, s *huma.Schema) any {
	switch {
	case s.Ref != "":
		return exampleOf(r, r.SchemaFromRef(s.Ref))
	case len(s.AnyOf) > 0:
		return exampleOf(r, s.AnyOf[0])
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case huma.TypeObject:
		return exampleObject(r, s, s.AdditionalProperties == false)
	case huma.TypeArray:
		if item := exampleOf(r, s.Items); item != "" {
			return []any{item}
		}
		return []any{}
	case huma.TypeBoolean:
		return true
	case huma.TypeInteger, huma.TypeNumber:
		return 1
	}
	return exampleText(s.Format)
}

// exampleObject returns an example of an object. With least it leaves out optional properties without an example of their own.
func exampleObject(r huma.Registry, s *huma.Schema, least bool) map[string]any {
	if s.Ref != "" {
		s = r.SchemaFromRef(s.Ref)
	}
	all := make(map[string]any, len(s.Properties))
	for name, p := range s.Properties {
		if !least || slices.Contains(s.Required, name) || len(p.Examples) > 0 {
			all[name] = exampleOf(r, p)
		}
	}
	return all
}

// exampleText returns a text in a format; texts without a format bring an example of their own.
func exampleText(format string) string {
	switch format {
	case "date-time":
		return "2026-03-14T09:26:53.589Z"
	case "email":
		return "sender@example.org"
	default:
		return ""
	}
}

// camelCase returns an operation's ID in the form that client generators turn into a method name: list-messages becomes
// listMessages.
func camelCase(id string) string {
	var b strings.Builder
	upper := false
	for _, r := range id {
		switch {
		case r == '-':
			upper = true
			continue
		case upper:
			r, upper = unicode.ToUpper(r), false
		}
		b.WriteRune(r)
	}
	return b.String()
}

package httpkit

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
)

const schemaPrefix = "#/components/schemas/"

// schemaNames has the names of Go types in the document, where they differ.
type schemaNames map[string]string

// name names a type: MailboxAnswer for Data[Mailbox], MailboxPage for List[Mailbox].
func (n schemaNames) name(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for _, wrapper := range []struct{ generic, prefix, suffix string }{{"Data[", "Data", "Answer"}, {"List[", "List", "Page"}, {"WaitedList[", "WaitedList", "WaitedPage"}} {
		if strings.HasPrefix(plain(t).Name(), wrapper.generic) {
			return n.renamed(strings.TrimPrefix(name, wrapper.prefix)) + wrapper.suffix
		}
	}
	return n.renamed(name)
}

func (n schemaNames) renamed(name string) string {
	if other, ok := n[name]; ok {
		return other
	}
	if name == "Field" { // of a Problem
		return "ProblemField"
	}
	return name
}

// plain returns the type that a pointer type points to.
func plain(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// newSchemas returns the registry of the document's schemas. A clock.Stamp is documented as a time.
func newSchemas(names schemaNames) huma.Registry {
	r := huma.NewMapRegistry(schemaPrefix, names.name)
	r.RegisterTypeAlias(reflect.TypeFor[clock.Stamp](), reflect.TypeFor[time.Time]())
	return r
}

// correctSchemas corrects the schemas that the library derives from the Go types, in three respects.
//
//   - Every pointer property without omitempty can be null, also where it is a reference or documented as another type.
//   - A slice in a response is never null.
//   - The schema of a response omits additionalProperties, since a later version may add properties. With the value true,
//     generators produce types that accept any misspelt name. The schema of a request body has the value false.
func correctSchemas(r huma.Registry) {
	for name, schema := range r.Map() {
		answer := schema.AdditionalProperties == true
		if answer {
			schema.AdditionalProperties = nil
		}
		for _, f := range reflect.VisibleFields(r.TypeFromRef(schemaPrefix + name)) {
			property, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch p := schema.Properties[property]; {
			case p == nil:
			case f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omitempty"):
				schema.Properties[property] = orNull(p)
			case f.Type.Kind() == reflect.Slice && answer:
				p.Nullable = false
			}
		}
	}
}

func orNull(p *huma.Schema) *huma.Schema {
	if p.Ref != "" {
		return &huma.Schema{Description: p.Description, AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
	}
	p.Nullable = true
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, nil) {
		p.Enum = append(p.Enum, nil)
	}
	return p
}

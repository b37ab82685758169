package httpapi

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/clock"
)

const schemaPrefix = "#/components/schemas/"

// schemaNames gives a type another name in the documentation than in the code, where its package says what it is of.
var schemaNames = map[string]string{
	"Summary": "MessageSummary", "Header": "MessageHeader", "Envelope": "MessageEnvelope", "Address": "MailAddress",
	"Authentication": "MessageAuthentication", "Field": "ProblemField", "Checks": "ReadinessChecks",
	"MailboxWish": "MailboxCreation", "Extension": "MailboxExtension",
}

// schemaName names a type: MailboxAnswer for what wraps a Mailbox, MessageSummaryPage for what wraps a list of them.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for _, wrapper := range []struct{ generic, prefix, suffix string }{{"Data[", "Data", "Answer"}, {"List[", "List", "Page"}} {
		if strings.HasPrefix(plain(t).Name(), wrapper.generic) {
			return named(strings.TrimPrefix(name, wrapper.prefix)) + wrapper.suffix
		}
	}
	return named(name)
}

func named(name string) string {
	if other, ok := schemaNames[name]; ok {
		return other
	}
	return name
}

// plain is what a pointer type points to.
func plain(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// newSchemas is the registry of the documentation's schemas. A moment is written like any other time.
func newSchemas() huma.Registry {
	r := huma.NewMapRegistry(schemaPrefix, schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[clock.Stamp](), reflect.TypeFor[time.Time]())
	return r
}

// allowNull says of everything that an answer may leave out by null that it may be null, which the library does not say
// of what it refers to and of what is written as something else.
func allowNull(r huma.Registry) {
	for name, schema := range r.Map() {
		for _, f := range reflect.VisibleFields(r.TypeFromRef(schemaPrefix + name)) {
			property, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := schema.Properties[property]
			if f.Type.Kind() == reflect.Pointer && p != nil && !strings.Contains(options, "omitempty") {
				schema.Properties[property] = orNull(p)
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

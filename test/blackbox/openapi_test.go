package blackbox_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// methods are the operations of a path item (OpenAPI 3.1 §4.8.9).
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

func TestOpenAPIDocumentIsWellFormed(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.document()
	if d.OpenAPI != "3.1.0" || d.Info.Title == "" || d.Info.Version == "" || len(d.Servers) != 1 || strings.HasSuffix(d.Servers[0].URL, "/") {
		t.Errorf("the document is of OpenAPI %s with %+v and %+v, want 3.1.0, a title, a version, and one server without a slash at the end", d.OpenAPI, d.Info, d.Servers)
	}
	var tags, ids []string
	for _, tag := range d.Tags {
		tags = append(tags, tag.Name)
	}
	for path, item := range d.Paths {
		for method, o := range item {
			if !slices.Contains(methods, method) || !strings.HasPrefix(path, "/api/v1/") {
				t.Errorf("the document has %s %s, want a method of HTTP and a path below /api/v1/", method, path)
			}
			if o.OperationID == "" || slices.Contains(ids, o.OperationID) || o.Summary == "" {
				t.Errorf("%s %s: operationId %q, summary %q, want both, the former of this operation alone", method, path, o.OperationID, o.Summary)
			}
			ids = append(ids, o.OperationID)
			if len(o.Tags) != 1 || !slices.Contains(tags, o.Tags[0]) {
				t.Errorf("%s: tags %v, want one of the document's", o.OperationID, o.Tags)
			}
			d.checkOperation(t, path, o)
		}
	}
}

func (d *document) checkOperation(t *testing.T, path string, o *operation) {
	for _, alternative := range o.Security {
		for scheme := range alternative {
			if d.Components.SecuritySchemes[scheme] == nil {
				t.Errorf("%s: the scheme %s is not declared, want it among the security schemes", o.OperationID, scheme)
			}
		}
	}
	var inPath []string
	for _, p := range o.Parameters {
		if p.Description == "" || p.Schema == nil || p.In != "path" && p.In != "query" && p.In != "header" {
			t.Errorf("%s: parameter %+v, want a description, a schema and a place", o.OperationID, p)
		}
		if p.In == "path" {
			inPath = append(inPath, "{"+p.Name+"}")
		}
		d.checkSchema(t, o.OperationID, p.Schema)
	}
	if braces := regexp.MustCompile(`\{[^/]*\}`).FindAllString(path, -1); !slices.Equal(slices.Sorted(slices.Values(braces)), slices.Sorted(slices.Values(inPath))) {
		t.Errorf("%s: the parameters in the path are %v, want %v", o.OperationID, inPath, braces)
	}
	if o.RequestBody != nil {
		forms, first := 1, "application/json"
		switch o.OperationID {
		case "injectMessage": // or a whole mail
			forms = 2
		case "receiveMail", "receiveMimeMail": // a mail, or one of two kinds of forms that contain it
			forms, first = 3, "message/rfc822"
		}
		if len(o.RequestBody.Content) != forms || o.RequestBody.Content[first].Schema == nil {
			t.Errorf("%s: the body of the request is %+v, want %d forms, with a schema of %s", o.OperationID, o.RequestBody, forms, first)
		}
	}
	if o.Responses["default"].Content["application/problem+json"].Schema == nil {
		t.Errorf("%s: internal errors are not documented, want a default response", o.OperationID)
	}
	for status, r := range o.Responses {
		if r.Description == "" || status != "default" && !regexp.MustCompile(`^[2-5]\d\d$`).MatchString(status) {
			t.Errorf("%s: the response %s is %+v, want a status or default, and a description", o.OperationID, status, r)
		}
		for _, m := range r.Content {
			d.checkSchema(t, o.OperationID+" "+status, m.Schema)
		}
	}
}

// checkSchema follows every reference.
func (d *document) checkSchema(t *testing.T, where string, schema any) {
	switch v := schema.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")] == nil {
			t.Errorf("%s: %s leads nowhere, want a schema of the document", where, ref)
		}
		for _, inner := range v {
			d.checkSchema(t, where, inner)
		}
	case []any:
		for _, inner := range v {
			d.checkSchema(t, where, inner)
		}
	}
}

// Generators of clients and linters want each of these, and none breaks a client.
func TestTheDocumentIsWhatGeneratorsWant(t *testing.T) {
	t.Parallel()
	d := start(t, nil).document()
	for name, s := range d.Components.Schemas {
		schema := s.(map[string]any)
		if schema["additionalProperties"] == true {
			t.Errorf("%s allows any property, want none, since generated clients would accept misspelt names", name)
		}
		properties, _ := schema["properties"].(map[string]any)
		for field, p := range properties {
			property := p.(map[string]any)
			if text, _ := property["description"].(string); text == "" {
				t.Errorf("%s.%s has no description, want one", name, field)
			}
			if slices.Equal(kinds(property), []any{"array", "null"}) {
				t.Errorf("%s.%s is nullable, want an array alone, since an empty one says the same", name, field)
			}
			if field == "data" && name != "OTPAnswer" && property["anyOf"] != nil { // there may be no code
				t.Errorf("%s.data is nullable, want it required, since no response without it has this status", name)
			}
		}
	}
	for path, item := range d.Paths {
		for method, o := range item {
			if !regexp.MustCompile(`^[a-z]+[A-Z][A-Za-z]+$`).MatchString(o.OperationID) {
				t.Errorf("%s %s: operationId %q, want a verb and a noun in camel case", method, path, o.OperationID)
			}
			if o.Security == nil {
				t.Errorf("%s: security is missing, want it set: an empty list for a public operation", o.OperationID)
			}
			d.checkExamples(t, o)
		}
	}
}

// checkExamples checks that each JSON body of an operation has an example, which its schema allows.
func (d *document) checkExamples(t *testing.T, o *operation) {
	t.Helper()
	bodies := map[string]mediaType{}
	if o.RequestBody != nil {
		if m, isJSON := o.RequestBody.Content["application/json"]; isJSON {
			bodies["request"] = m
		}
	}
	for status, r := range o.Responses {
		for kind, m := range r.Content {
			switch {
			case kind == "application/json":
				bodies[status] = m
			case kind == "text/event-stream":
				if m.Example == nil || m.Schema["type"] != "string" || m.Schema["format"] != nil {
					t.Errorf("%s %s: the event stream is %+v, want text with an example", o.OperationID, status, m)
				}
			case kind != "application/problem+json" && m.Schema["format"] != "binary":
				t.Errorf("%s %s: the schema of %s is %v, want a binary string", o.OperationID, status, kind, m.Schema)
			}
		}
	}
	for where, m := range bodies {
		if m.Example == nil {
			t.Errorf("%s %s: there is no example, want one", o.OperationID, where)
			continue
		}
		for _, fault := range d.Components.Schemas.check(m.Schema, m.Example, "") {
			t.Errorf("%s %s: the example has the fault %s, want it to match its schema", o.OperationID, where, fault)
		}
	}
}

// kinds returns the types that a schema allows.
func kinds(schema map[string]any) []any {
	all, _ := schema["type"].([]any)
	return all
}

func TestSchemaNamesAreReadable(t *testing.T) {
	t.Parallel()
	d := start(t, nil).document()
	for name, schema := range d.Components.Schemas {
		if !regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(name) || regexp.MustCompile(`^(Data|List)[A-Z]|Response$|Item$|Body$`).MatchString(name) {
			t.Errorf("a schema has the name %s, want words in camel case that do not tell of its making", name)
		}
		d.checkSchema(t, name, schema)
	}
	for _, name := range []string{"Mailbox", "MailboxAnswer", "MailboxCreation", "MailboxExtension", "MessageSummary", "MessageSummaryPage", "MessageAnswer", "OTP", "Problem"} {
		if d.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s, want it named so", name)
		}
	}
	params := d.Components.Schemas["MailboxCreation"].(map[string]any)
	if params["additionalProperties"] != false {
		t.Error("MailboxCreation allows additional properties, want it closed")
	}
}

// The OpenAPI document and the list of problems change only with the program, so they may be cached.
func TestDocumentationIsCached(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, path := range []string{"/api/v1/openapi.json", "/docs/errors"} {
		root := func(r *http.Request) { r.URL.Path = path }
		a := s.do(http.MethodGet, "", "", nil, root)
		etag := a.Header.Get("ETag")
		if a.Status != 200 || etag == "" {
			t.Fatalf("GET %s: %d %v, want 200 and an ETag", path, a.Status, a.Header)
		}
		a = s.do(http.MethodGet, "", "", nil, func(r *http.Request) { root(r); r.Header.Set("If-None-Match", etag) })
		if a.Status != 304 || len(a.Body) > 0 {
			t.Errorf("GET %s with its ETag: %d and %d octets, want 304 and none", path, a.Status, len(a.Body))
		}
	}
	page := s.do(http.MethodGet, "", "", nil, func(r *http.Request) { r.URL.Path = "/docs/errors" })
	for pair := range declared(shared.document) {
		if words := strings.Fields(pair); len(words) == 4 && !strings.Contains(string(page.Body), `id="`+words[3]+`"`) {
			t.Errorf("the page of errors does not describe %s, want every declared code there", words[3])
		}
	}
}

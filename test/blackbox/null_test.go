package blackbox_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// For every property of every body, null is refused unless the document allows it, and accepted where it does.
func TestNullIsRejectedUnlessNullable(t *testing.T) {
	t.Parallel()
	w := startDomains(t, settings{"limits.other": "100000/1m", "limits.mailbox_create": "100000/1m", "limits.register": "100000/1h"})
	w.promote(w.ada)
	credentials := map[string]string{
		"mailboxToken": w.create("", nil).Token, "userToken": w.ada.Token, "apiKey": w.key(w.ada, nil).Key, "": "",
	}
	d := w.document()
	refused := make(map[string]bool)
	for path, methods := range d.Paths {
		for method, o := range methods {
			call := strings.ToUpper(method) + " " + strings.TrimPrefix(path, "/api/v1")
			if o.RequestBody == nil || o.Tags[0] == "integrations" { // the bank's body is its own affair
				continue
			}
			name := "" // public
			for _, way := range o.Security {
				for scheme := range way {
					if credentials[scheme] != "" {
						name = scheme
					}
				}
			}
			for property, schema := range d.properties(o.RequestBody.Content["application/json"].Schema) {
				a := w.Call(strings.ToUpper(method), call[len(method)+1:], credentials[name], fields{property: nil})
				var faults []string
				if a.Status == http.StatusUnprocessableEntity {
					for _, f := range problemOf(t, a).Errors {
						faults = append(faults, f.Pointer)
					}
				}
				if says := slices.Contains(faults, "/"+property); says == mayBeNull(schema) {
					t.Errorf("%s of null for %s: %d %s, want it taken: %t", call, property, a.Status, a.Body, mayBeNull(schema))
				} else if says {
					refused[call+" "+property] = true
				}
			}
		}
	}
	for _, one := range []string{
		"POST /mailboxes ttl", "POST /mailboxes localPart", "POST /mailboxes domain", "POST /keys/mailboxes ttl", "POST /mailboxes/me/extend ttl",
		"POST /auth/register locale", "PATCH /me locale", "POST /me/api-keys expiresAt", "POST /me/domains domain",
	} {
		if !refused[one] {
			t.Errorf("%s takes null, want it refused", one)
		}
	}
}

// properties are those of a body's schema.
func (d *document) properties(schema map[string]any) map[string]map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		schema = d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	all := make(map[string]map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		all[name] = p.(map[string]any)
	}
	return all
}

// mayBeNull reports whether a schema allows null.
func mayBeNull(schema map[string]any) bool {
	kinds, _ := schema["type"].([]any)
	branches, _ := schema["anyOf"].([]any)
	return slices.Contains(kinds, any("null")) || slices.ContainsFunc(branches, func(b any) bool { return mayBeNull(b.(map[string]any)) || b.(map[string]any)["type"] == "null" })
}

// What a response holds is there: where there is nothing, the status says so. A client in a language with strict types would otherwise
// have to test data for null before each use.
func TestDataIsNeverNull(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	d := s.document()
	var raw struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
	}
	if err := json.Unmarshal(s.Call(http.MethodGet, "/openapi.json", "", nil).Body, &raw); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for path, methods := range raw.Paths {
		for method, o := range methods {
			for status, r := range o.Responses {
				data, ok := d.properties(r.Content["application/json"].Schema)["data"]
				if !ok {
					continue
				}
				checked++
				if mayBeNull(data) {
					t.Errorf("%s %s %s: the schema of data is %v, want one that does not allow null", method, path, status, data)
				}
			}
		}
	}
	if checked < 70 {
		t.Errorf("%d responses with data were checked, want 70 at least", checked)
	}
}

package resource_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/resource"
)

// TestFieldsOfMessagesAreDocumented looks for each field of a message in the specification, whose list of them is written by hand.
func TestFieldsOfMessagesAreDocumented(t *testing.T) {
	spec, err := os.ReadFile(filepath.Join("..", "..", "docs", "spec", "messages.md"))
	if err != nil {
		t.Fatal(err)
	}
	for field := range fieldsOf(reflect.TypeFor[resource.Message]()) {
		if !regexp.MustCompile(`\b` + field + `\b`).Match(spec) {
			t.Errorf("docs/spec/messages.md does not name the field %s of a message, want every field there", field)
		}
	}
}

// fieldsOf returns the names in JSON of the fields of a struct, those of embedded structs included.
func fieldsOf(t reflect.Type) map[string]bool {
	names := make(map[string]bool)
	for f := range t.Fields() {
		if f.Anonymous {
			for name := range fieldsOf(f.Type) {
				names[name] = true
			}
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names[name] = true
		}
	}
	return names
}

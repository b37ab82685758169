package clients_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// clientTypes are the schemas of the API's document that the clients have as types: for each the types whose fields together are
// its properties. "-" is a type that a client leaves to the language.
var clientTypes = []struct {
	schemas                []string
	golang, script, python []string
}{
	{[]string{"MailAddress"}, []string{"Address"}, []string{"Address"}, []string{"Address"}},
	{[]string{"OTP"}, []string{"OTP"}, []string{"Otp"}, []string{"Otp"}},
	{[]string{"Action"}, []string{"Action"}, []string{"Action"}, []string{"Action"}},
	{[]string{"MessageAuthentication"}, []string{"Authentication"}, []string{"Authentication"}, []string{"Authentication"}},
	{[]string{"Attachment"}, []string{"Attachment"}, []string{"Attachment"}, []string{"Attachment"}},
	{[]string{"MessageEnvelope"}, []string{"Envelope"}, []string{"Envelope"}, []string{"Envelope"}},
	{[]string{"MessageSummary", "AccountSummary"}, []string{"Summary"}, []string{"Summary", "AddressedSummary"}, []string{"Summary"}},
	{[]string{"Message", "AccountSummary"}, []string{"Summary", "Message"}, []string{"Summary", "AddressedSummary", "Message"}, []string{"Summary", "Message"}},
	{[]string{"MessageChecks"}, []string{"Checks"}, []string{"Checks"}, []string{"Checks"}},
	{[]string{"MessageWarning"}, []string{"Warning"}, []string{"Warning"}, []string{"CheckWarning"}},
	{[]string{"FaultRule"}, []string{"FaultRule", "Fault"}, []string{"Fault"}, []string{"Fault"}},
	{[]string{"FaultCreation"}, []string{"FaultRule"}, []string{"FaultRule"}, []string{"-"}}, // Python has arguments
	{[]string{"Transcript"}, []string{"Transcript"}, []string{"Transcript"}, []string{"Transcript"}},
	{[]string{"Line"}, []string{"TranscriptLine"}, []string{"-"}, []string{"TranscriptLine"}},
	{[]string{"Cause"}, []string{"Cause"}, []string{"Cause"}, []string{"Cause"}},
	{[]string{"Diagnosis"}, []string{"Diagnosis"}, []string{"Diagnosis"}, []string{"Diagnosis"}},
}

// The types of the clients have the fields of the API's document: one that the service gets new is added to them or refused here.
func TestTypesHaveTheFieldsOfTheAPI(t *testing.T) {
	schemas := documentedFields(t)
	for language, types := range map[string]map[string][]string{"Go": goTypes(t), "TypeScript": scriptTypes(t), "Python": pythonTypes(t)} {
		for _, c := range clientTypes {
			names := map[string][]string{"Go": c.golang, "TypeScript": c.script, "Python": c.python}[language]
			if names[0] == "-" {
				continue
			}
			want, got := fieldsOf(t, "the document", schemas, c.schemas), fieldsOf(t, language, types, names)
			if language == "Go" && slices.Equal(c.golang, []string{"FaultRule", "Fault"}) {
				got = slices.DeleteFunc(got, func(f string) bool { return f == "for" }) // the rule that made it is a part of it
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the fields of %v in %s are not those of %v in the document (-want +got):\n%s", names, language, c.schemas, diff)
			}
		}
	}
}

// fieldsOf returns the fields of types together, sorted, in lower case and without underscores, so that they compare in all languages.
func fieldsOf(t *testing.T, where string, types map[string][]string, names []string) []string {
	t.Helper()
	all := make(map[string]bool)
	for _, name := range names {
		if len(types[name]) == 0 {
			t.Fatalf("%s has no type %s, want one with fields; it has %v", where, name, slices.Sorted(maps.Keys(types)))
		}
		for _, field := range types[name] {
			all[strings.ToLower(strings.ReplaceAll(field, "_", ""))] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// documentedFields returns the properties of the schemas of the API's document.
func documentedFields(t *testing.T) map[string][]string {
	t.Helper()
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	address, _ := apptest.Serve(t, apptest.Program(t))
	res, err := http.Get("http://" + address + "/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&document); err != nil {
		t.Fatalf("the API's document: %v", err)
	}
	all := make(map[string][]string)
	for name, schema := range document.Components.Schemas {
		all[name] = slices.Collect(maps.Keys(schema.Properties))
	}
	return all
}

// goTypes returns the exported fields of the structs of the Go client. Embedded structs are not followed.
func goTypes(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("../../clients/go/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("the Go client has the files %v (%v), want some", paths, err)
	}
	all := make(map[string][]string)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, name := range field.Names {
						all[spec.Name.Name] = append(all[spec.Name.Name], name.Name)
					}
				}
			}
			return true
		})
	}
	return all
}

var (
	scriptInline    = regexp.MustCompile(`(?m)^export type (\w+) = (?:\w+ & )?\{ (.*) \};$`)
	scriptBlock     = regexp.MustCompile(`(?ms)^export (?:interface|type) (\w+)[^{;\n]* \{\n(.*?)^\};?$`)
	scriptField     = regexp.MustCompile(`(?:^|; )(\w+)\??: `)
	scriptLineField = regexp.MustCompile(`(?m)^  (\w+)\??: `)

	pythonClass = regexp.MustCompile(`(?m)^class (\w+)\(.*\):\n((?:(?:    .*)?\n)*)`)
	pythonField = regexp.MustCompile(`(?m)^    (\w+): `)
)

// scriptTypes returns the fields of the exported object types of the TypeScript client.
func scriptTypes(t *testing.T) map[string][]string {
	t.Helper()
	text := source(t, "../../clients/typescript/src/*.ts")
	all := matches(scriptBlock, scriptLineField, text)
	maps.Copy(all, matches(scriptInline, scriptField, text))
	return all
}

// pythonTypes returns the annotated fields of the classes of the Python client's types.
func pythonTypes(t *testing.T) map[string][]string {
	t.Helper()
	return matches(pythonClass, pythonField, source(t, "../../clients/python/src/gonebox/_types.py"))
}

// matches returns what field finds in the second group of each match of a type, by the first group.
func matches(types, field *regexp.Regexp, source string) map[string][]string {
	all := make(map[string][]string)
	for _, m := range types.FindAllStringSubmatch(source, -1) {
		for _, f := range field.FindAllStringSubmatch(m[2], -1) {
			all[m[1]] = append(all[m[1]], f[1])
		}
	}
	return all
}

// source returns the text of the files that a pattern matches.
func source(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s matches %v (%v), want files", pattern, paths, err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n", text)
	}
	return all.String()
}

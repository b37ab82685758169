package httpkit_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/httpkit"
	"github.com/gonebox/gonebox/internal/problem"
)

// An error of the library becomes request.invalid and does not quote the input.
func TestTranslate(t *testing.T) {
	detail := func(location, message string) error {
		return &huma.ErrorDetail{Location: location, Message: message, Value: "hunter2"}
	}
	for name, c := range map[string]struct {
		errs    []error
		pointer string
	}{
		"an unforeseen error": {[]error{errors.New("hunter2")}, ""},
		"of a body's type":    {[]error{detail("body", "json: cannot unmarshal hunter2")}, ""},
		"query":               {[]error{detail("query.wait", "invalid integer")}, "?wait"},
		"a header":            {[]error{detail("header.X", "invalid integer")}, ""},
	} {
		p := httpkit.Translate("validation failed", c.errs)
		if p.Code != problem.RequestInvalid || strings.Contains(p.Error(), "hunter2") || strings.Contains(p.Error(), "json:") {
			t.Errorf("%s: Translate = %v, want the code %v, and neither the value nor words of the decoder", name, p, problem.RequestInvalid)
		}
		if c.pointer != "" && (len(p.Fields) != 1 || p.Fields[0].Pointer != c.pointer) {
			t.Errorf("%s: the faults are %+v, want one at %s", name, p.Fields, c.pointer)
		}
		if p.Detail == "" && len(p.Fields) == 0 {
			t.Errorf("%s: the problem has neither a detail nor a field, want one of them", name)
		}
	}
}

func TestQueryProblem(t *testing.T) {
	for query, pointers := range map[string][]string{
		"wait=1": nil, "": nil, "wait=&wait=": {"?wait"}, "b=1&a=2": {"?a", "?b"}, "wait=1&waits=2": {"?waits"}, "Wait=1": {"?Wait"},
	} {
		var got []string
		if p := httpkit.QueryProblem(query, "wait"); p != nil {
			for _, f := range p.Fields {
				got = append(got, f.Pointer)
			}
		}
		if !reflect.DeepEqual(got, pointers) {
			t.Errorf("the faults of the query %q are at %v, want %v", query, got, pointers)
		}
	}
	for _, malformed := range []string{"%zz", "a;b", "wait=%"} {
		if p := httpkit.QueryProblem(malformed, "wait"); p == nil || p.Detail == "" {
			t.Errorf("QueryProblem(%q, wait) = %v, want a problem with a detail", malformed, p)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for path, want := range map[string]bool{
		"/": true, "/a": true, "/a/": true, "/a/b": true, "/a..b": true, "/...": true, "": false, "*": false, "a": false,
		"//": false, "//a": false, "/a//b": false, "/a//": false, "/./a": false, "/a/..": false, "/../a": false, "/.": false,
	} {
		if got := httpkit.CleanPath(path); got != want {
			t.Errorf("%q: httpkit.CleanPath(path) = %v, want %v", path, got, want)
		}
	}
}

func TestSchemaName(t *testing.T) {
	for want, v := range map[string]any{
		"MailboxAnswer": httpkit.Data[Mailbox]{}, "MailboxPage": httpkit.List[Mailbox]{}, "MessageSummaryPage": httpkit.List[Summary]{},
		"MessageSummaryAnswer": &httpkit.Data[*Summary]{}, "MessageSummary": Summary{}, "ProblemField": problem.Field{},
	} {
		if got := httpkit.SchemaName(map[string]string{"Summary": "MessageSummary"}, reflect.TypeOf(v)); got != want {
			t.Errorf("SchemaName(%T) = %s, want %s", v, got, want)
		}
	}
}

// Types as an API has them.
type (
	Mailbox struct{}
	Summary struct{}
)

package httpapi_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/httpapi"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestPointer(t *testing.T) {
	for location, want := range map[string]string{
		"": "", "body": "", "body.name": "/name", "body.filter.name": "/filter/name", "body.scopes[0]": "/scopes/0", "body[2].x": "/2/x",
		"body.a/b": "/a~1b", "body.a~b": "/a~0b", "query.wait": "?wait", "query.": "?",
	} {
		if got := httpapi.Pointer(location); got != want {
			t.Errorf("%q: %q, want %q", location, got, want)
		}
	}
}

func FuzzPointer(f *testing.F) {
	for _, seed := range []string{"body.scopes[0]", "body", "query.x", "body.~/.[", "[[]]", "body[0][1]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, location string) {
		got := httpapi.Pointer(location)
		if got == "" || got[0] == '?' {
			return
		}
		// RFC 6901 §3: a pointer begins with "/", and a "~" is followed by 0 or 1.
		rest := strings.NewReplacer("~0", "", "~1", "").Replace(got)
		if got[0] != '/' || strings.Contains(rest, "~") {
			t.Errorf("%q: %q is not a pointer", location, got)
		}
	})
}

// What the library says of wrong input gets the code of decisions §1, and nothing of the input goes back.
func TestTranslate(t *testing.T) {
	detail := func(location, message string) error {
		return &huma.ErrorDetail{Location: location, Message: message, Value: "hunter2"}
	}
	for name, c := range map[string]struct {
		status  int
		errs    []error
		code    problem.Code
		pointer string
	}{
		"too large":    {413, nil, problem.RequestTooLarge, ""},
		"media type":   {415, []error{detail("body", "unknown content type: hunter2")}, problem.RequestMediaType, ""},
		"broken off":   {500, []error{errors.New("hunter2")}, problem.RequestInvalid, ""},
		"too slow":     {408, nil, problem.RequestInvalid, ""},
		"not JSON":     {400, []error{detail("body", "invalid character 'h' in hunter2")}, problem.RequestInvalid, ""},
		"schema":       {422, []error{detail("body.ttl", "expected number >= 60")}, problem.RequestInvalid, "/ttl"},
		"a big number": {422, []error{detail("body", "json: cannot unmarshal number 1e300 into Go struct field mailboxWish.ttl of type int64")}, problem.RequestInvalid, "/ttl"},
		"deeper":       {422, []error{detail("body", "json: cannot unmarshal number 1e300 into Go struct field test.sample.n of type int64")}, problem.RequestInvalid, "/sample/n"},
		"query":        {422, []error{detail("query.wait", "invalid integer")}, problem.RequestInvalid, "?wait"},
	} {
		p := httpapi.Translate(c.status, "validation failed", c.errs)
		if p.Code != c.code || strings.Contains(p.Error(), "hunter2") || strings.Contains(p.Error(), "json:") || strings.Contains(p.Error(), "1e300") {
			t.Errorf("%s: %v", name, p)
		}
		if c.pointer != "" && (len(p.Fields) != 1 || p.Fields[0].Pointer != c.pointer) {
			t.Errorf("%s: %+v, want %s", name, p.Fields, c.pointer)
		}
		if c.code == problem.RequestInvalid && p.Detail == "" && len(p.Fields) == 0 {
			t.Errorf("%s: nothing is said", name)
		}
	}
}

func TestWhatIsToldBackIsBounded(t *testing.T) {
	var errs []error
	for i := range 1000 {
		errs = append(errs, &huma.ErrorDetail{Location: fmt.Sprint("body.", strings.Repeat("x", 10_000), i), Message: "unexpected property"})
	}
	p := httpapi.Translate(422, "validation failed", errs)
	if len(p.Fields) != httpapi.FieldsMax || len(p.Fields[0].Pointer) > httpapi.PointerMax {
		t.Errorf("%d fields, %d characters", len(p.Fields), len(p.Fields[0].Pointer))
	}
}

func TestQueryProblem(t *testing.T) {
	for query, pointers := range map[string][]string{
		"wait=1": nil, "": nil, "wait=&wait=": {"?wait"}, "b=1&a=2": {"?a", "?b"}, "wait=1&waits=2": {"?waits"}, "Wait=1": {"?Wait"},
	} {
		var got []string
		if p := httpapi.QueryProblem(query, "wait"); p != nil {
			for _, f := range p.Fields {
				got = append(got, f.Pointer)
			}
		}
		if !reflect.DeepEqual(got, pointers) {
			t.Errorf("%q: %v, want %v", query, got, pointers)
		}
	}
	for _, malformed := range []string{"%zz", "a;b", "wait=%"} {
		if p := httpapi.QueryProblem(malformed, "wait"); p == nil || p.Detail == "" {
			t.Errorf("%q: %v", malformed, p)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for path, want := range map[string]bool{
		"/": true, "/a": true, "/a/": true, "/a/b": true, "/a..b": true, "/...": true, "": false, "*": false, "a": false,
		"//": false, "//a": false, "/a//b": false, "/a//": false, "/./a": false, "/a/..": false, "/../a": false, "/.": false,
	} {
		if got := httpapi.CleanPath(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestSchemaName(t *testing.T) {
	for want, v := range map[string]any{
		"MailboxAnswer": httpapi.Data[httpapi.Mailbox]{}, "MailboxPage": httpapi.List[httpapi.Mailbox]{}, "MessageSummaryPage": httpapi.List[Summary]{},
		"SessionAnswer": &httpapi.Data[*httpapi.Session]{}, "ReadinessChecks": httpapi.Checks{},
	} {
		if got := httpapi.SchemaName(reflect.TypeOf(v), ""); got != want {
			t.Errorf("%T: %s, want %s", v, got, want)
		}
	}
}

// Summary is named like that of messages.
type Summary struct{}

package blackbox_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// document is the part of an OpenAPI document that these tests read.
type document struct {
	OpenAPI    string `json:"openapi"`
	Info       struct{ Title, Version string }
	Servers    []struct{ URL string }
	Tags       []struct{ Name string }
	Paths      map[string]map[string]*operation
	Components struct {
		Schemas         schemas
		SecuritySchemes map[string]map[string]any
	}
}

type operation struct {
	OperationID string
	Summary     string
	Tags        []string
	Security    []map[string][]string
	Parameters  []struct {
		Name, In, Description string
		Required              bool
		Schema                map[string]any
	}
	RequestBody *struct {
		Required bool
		Content  map[string]mediaType
	}
	Responses map[string]response
}

type response struct {
	Description string
	Content     map[string]mediaType
}

type mediaType struct {
	Schema   map[string]any
	Example  any
	Examples map[string]struct {
		Value struct{ Code string }
	}
}

func fetchDocument(t testing.TB, s *apptest.Service) *document {
	t.Helper()
	a := s.Call(http.MethodGet, "/openapi.json", "", nil)
	if a.Status != http.StatusOK || a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf(`openapi.json: %d %s, want Status %v and Content-Type "application/json"`, a.Status, a.Header.Get("Content-Type"), http.StatusOK)
	}
	d := new(document)
	if err := json.Unmarshal(a.Body, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// shared is the document that the answers of all services are checked against.
var shared struct {
	sync.Mutex
	*document
}

// sharedDocument returns the document of the first service that was started. It depends on the program alone, apart from
// the base URL, and rendering it takes more time than starting a service.
func sharedDocument(t testing.TB, s *apptest.Service) *document {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.document == nil {
		shared.document = fetchDocument(t, s)
	}
	return shared.document
}

// find returns the operation of a request, "" if there is none. Probes answer at the root as well.
func (d *document) find(method, path string) (template string, o *operation) {
	for template, methods := range d.Paths {
		o := methods[strings.ToLower(method)]
		if o != nil && method == strings.ToUpper(method) && (matches(template, path) || path == strings.TrimPrefix(template, "/api/v1")) {
			return strings.TrimPrefix(template, "/api/v1"), o
		}
	}
	return "", nil
}

// matches reports whether a path is one of a template, whose parameters are whole segments such as {id}.
func matches(template, path string) bool {
	for more := true; more; {
		var want, got string
		var moreWanted bool
		want, template, moreWanted = strings.Cut(template, "/")
		got, path, more = strings.Cut(path, "/")
		if more != moreWanted || want != got && (got == "" || !strings.HasPrefix(want, "{")) {
			return false
		}
	}
	return true
}

// inspector checks every answer of a service.
type inspector struct {
	t        testing.TB
	base     string
	document *document // nil until it is read
}

func (i *inspector) inspect(r *http.Request, a apptest.Response) {
	if i.document == nil || byTheLibrary(a) || !strings.HasPrefix(r.URL.Opaque, "/api/v1") && r.URL.Opaque != "" {
		return
	}
	where := fmt.Sprintf("%s %s: %d", r.Method, r.URL, a.Status)
	for _, fault := range i.faults(r, a) {
		i.t.Errorf("%s: %s, want what the OpenAPI document says\n%.2000s", where, fault, a.Body)
	}
}

func (i *inspector) faults(r *http.Request, a apptest.Response) (faults []string) {
	faults = append(faults, everyAnswer(a)...)
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	template, o := i.document.find(r.Method, r.URL.EscapedPath())
	if o == nil {
		if media == "application/problem+json" {
			faults = append(faults, i.body(map[string]any{"$ref": "#/components/schemas/Problem"}, a)...)
			exercised.note(a.Status, a.Code(), "*", "*")
		}
		return faults
	}
	exercised.note(a.Status, a.Code(), r.Method, template)
	declared, ok := o.Responses[strconv.Itoa(a.Status)]
	if !ok {
		if declared, ok = o.Responses["default"]; a.Status < 500 || !ok {
			return append(faults, "the document does not declare this status")
		}
	}
	if len(declared.Content) == 0 {
		if len(a.Body) > 0 {
			faults = append(faults, "there should be no body")
		}
		return faults
	}
	form, ok := declared.Content[media]
	if !ok {
		return append(faults, fmt.Sprintf("the document does not declare %q", media))
	}
	if strings.HasSuffix(media, "json") {
		faults = append(faults, i.body(form.Schema, a)...)
	}
	return faults
}

var traceparent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`)

// everyAnswer checks what holds for every answer (docs/spec/conventions.md#paths-and-bodies).
func everyAnswer(a apptest.Response) (faults []string) {
	h := a.Header
	if !traceparent.MatchString(h.Get("Traceparent")) {
		faults = append(faults, fmt.Sprintf("Traceparent: %q", h.Get("Traceparent")))
	}
	if h.Get("X-Content-Type-Options") != "nosniff" {
		faults = append(faults, "no nosniff")
	}
	if a.Status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		faults = append(faults, "401 without WWW-Authenticate")
	}
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); a.Status == http.StatusTooManyRequests && (err != nil || seconds < 1) {
		faults = append(faults, fmt.Sprintf("429 with Retry-After %q", h.Get("Retry-After")))
	}
	if h.Get("Content-Type") != "application/problem+json" {
		return faults
	}
	var p problem
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return append(faults, err.Error())
	}
	if p.Status != a.Status || !strings.Contains(h.Get("Traceparent"), "-"+p.TraceID+"-") || !strings.HasSuffix(p.Type, "/docs/errors#"+p.Code) {
		faults = append(faults, "the problem does not fit its answer")
	}
	for _, e := range p.Errors {
		if e.Message == "" || e.Pointer != "" && e.Pointer[0] != '/' && e.Pointer[0] != '?' {
			faults = append(faults, fmt.Sprintf("pointer %q, message %q", e.Pointer, e.Message))
		}
	}
	return faults
}

func (i *inspector) body(schema map[string]any, a apptest.Response) []string {
	var value any
	if err := json.Unmarshal(a.Body, &value); err != nil {
		return []string{"not JSON: " + err.Error()}
	}
	return i.document.Components.Schemas.check(schema, value, "")
}

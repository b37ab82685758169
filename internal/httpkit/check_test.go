package httpkit_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/httpkit"
)

// sampleBody has every kind of field that a request body of the service has.
type sampleBody struct {
	_       struct{}     `additionalProperties:"false"`
	Name    string       `json:"name" minLength:"2" maxLength:"4"`
	TTL     *int64       `json:"ttl,omitempty" minimum:"60" maximum:"9000"`
	Part    *string      `json:"part,omitempty" pattern:"^[a-z]+$"`
	Domain  *string      `json:"domain,omitempty" nullable:"true"`
	Kind    *string      `json:"kind,omitempty" enum:"all,one"`
	Scopes  []string     `json:"scopes,omitempty" minItems:"1" maxItems:"3" nullable:"false" enum:"read,write"`
	Events  []string     `json:"events,omitempty" uniqueItems:"true"`
	Expires *clock.Stamp `json:"expires,omitempty"`
	Flag    *bool        `json:"flag,omitempty"`
	Inner   *inner       `json:"inner,omitempty"`
	Odd     *int         `json:"a/b~c,omitempty"`
	Large   *int64       `json:"large,omitempty" minimum:"-1000000000" maximum:"31622400"`
	Share   *float64     `json:"share,omitempty" minimum:"0.5" maximum:"1"`
}

type inner struct {
	_    struct{} `additionalProperties:"false"`
	Text string   `json:"text"`
}

func pointers(c *httpkit.BodyChecker, body string) (all []string) {
	for _, f := range c.Check([]byte(body)) {
		all = append(all, f.Pointer+" "+f.Message)
	}
	return all
}

func TestCheckBody(t *testing.T) {
	c := httpkit.NewBodyChecker(sampleBody{})
	for body, want := range map[string][]string{
		`{"name":"abc"}`: nil,
		` {"name":"äöü", "ttl":60,"part":"x","domain":null,"kind":"one","scopes":["read"],"events":["a","b"],"flag":false,"inner":{"text":""}} `: nil,
		`{"name":"abc","expires":"9999-12-31T23:59:59Z"}`:               nil,
		`{"name":"abc","expires":"1970-01-01T00:00:00Z"}`:               nil,
		`{"name":"abc","expires":"1970-01-01T00:00:00+01:00"}`:          {"/expires expected string to be RFC 3339 date-time in the years 1970 to 9999 UTC"},
		`{"name":"abc","expires":"0001-01-01T00:00:00Z"}`:               {"/expires expected string to be RFC 3339 date-time in the years 1970 to 9999 UTC"},
		`{"name":"abc","expires":"9999-12-31T23:59:59-00:01"}`:          {"/expires expected string to be RFC 3339 date-time in the years 1970 to 9999 UTC"},
		`{"name":"abc","ttl":null,"part":null,"kind":null,"flag":null}`: {"/ttl expected integer", "/part expected string", "/kind expected string", "/flag expected boolean"},
		`{"name":"abc","scopes":null,"expires":null,"inner":null}`:      {"/scopes expected array", "/expires expected string", "/inner expected object"},
		`{"name":null}`:                               {"/name expected string"},
		`{"name":"abc","name":"abc"}`:                 {"/name occurs more than once"},
		`{"name":"abc","n\u0061me":"abc"}`:            {"/name occurs more than once"},
		`{"name":"abc","Name":"abc"}`:                 {"/Name unexpected property"},
		`{"name":"abc","x":{"y":1,"y":2}}`:            {"/x unexpected property", "/x/y occurs more than once"},
		`{"name":"abc","x/y":1,"~":2}`:                {"/x~1y unexpected property", "/~0 unexpected property"},
		`{"name":"abc","a/b~c":1.5}`:                  {"/a~1b~0c expected integer"},
		`{"name":"a","ttl":59}`:                       {"/name expected length >= 2", "/ttl expected number >= 60"},
		`{"name":"abcde","ttl":9001}`:                 {"/name expected length <= 4", "/ttl expected number <= 9000"},
		`{"name":"abc","ttl":1e2}`:                    {"/ttl must be an integer of at most 64 bits, written without a point or an exponent"},
		`{"name":"abc","ttl":1e400}`:                  {"/ttl expected integer"},
		`{"name":"abc","a/b~c":99999999999999999999}`: {"/a~1b~0c must be an integer of at most 64 bits, written without a point or an exponent"},
		`{"name":"abc","large":31622401}`:             {"/large expected number <= 31622400"},
		`{"name":"abc","large":-1000000001}`:          {"/large expected number >= -1000000000"},
		`{"name":"abc","share":0.75}`:                 nil,
		`{"name":"abc","share":1}`:                    nil,
		`{"name":"abc","share":0.25}`:                 {"/share expected number >= 0.5"},
		`{"name":"abc","share":1.5}`:                  {"/share expected number <= 1"},
		`{"name":"abc","share":1e400}`:                {"/share expected number"},
		`{"name":"abc","share":"1"}`:                  {"/share expected number"},
		`{"name":"abc","share":null}`:                 {"/share expected number"},
		`{"name":"abc","part":"A","kind":"two"}`:      {"/part expected string to match pattern ^[a-z]+$", `/kind expected value to be one of "all, one"`},
		`{"name":"abc","scopes":[]}`:                  {"/scopes expected array length >= 1"},
		`{"name":"abc","scopes":["read",1,"x",[]]}`:   {"/scopes/1 expected string", `/scopes/2 expected value to be one of "read, write"`, "/scopes expected array length <= 3"},
		`{"name":"abc","events":["a","b","a"]}`:       {"/events expected array items to be unique"},
		`{"name":"abc","inner":{"text":1,"more":0}}`:  {"/inner/text expected string", "/inner/more unexpected property"},
		`{"name":"abc","inner":[{}],"flag":"true"}`:   {"/inner expected object", "/flag expected boolean"},
		`{"name":{},"part":["x"],"inner":{}}`:         {"/name expected string", "/part expected string", "/inner expected required property text to be present"},
		`{}`:                                          {" expected required property name to be present"},
		`null`:                                        {" expected object"},
		`[]`:                                          {" expected object"},
		`"x"`:                                         {" expected object"},
		`1`:                                           {" expected object"},
		`{"name"}`:                                    {" the body is not a JSON document"},
		`{} {}`:                                       {" the body is not a JSON document"},
		`{"name":"abc","x":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`: {
			"/x unexpected property", "/x" + strings.Repeat("/0", httpkit.BodyDepthMax) + " is nested more than 16 deep",
		},
	} {
		if got := pointers(c, body); !reflect.DeepEqual(got, want) {
			t.Errorf("the faults of %s are at\n got %q\nwant %q", body, got, want)
		}
	}
}

func TestCheckBodyStopsAtTheTwentiethFault(t *testing.T) {
	var body strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&body, `%q:%d,`, fmt.Sprint("x", i), i)
	}
	faults := httpkit.NewBodyChecker(sampleBody{}).Check([]byte("{" + body.String() + `"name":1}`))
	if len(faults) != httpkit.FieldsMax || faults[0].Pointer != "/x0" || faults[19].Pointer != "/x19" {
		t.Errorf("%d faults: %v, want %d from /x0 to /x19", len(faults), faults, httpkit.FieldsMax)
	}
}

// A body with half a million elements costs no more than its tokens up to the bound.
func TestCheckBodyStopsAtTheBoundOfTokens(t *testing.T) {
	body := []byte(`{"name":"abc","x":[` + strings.Repeat("1,", 500_000) + `1]}`)
	c := httpkit.NewBodyChecker(struct { // anything is allowed in it
		Name string `json:"name"`
		X    any    `json:"x"`
	}{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	faults := c.Check(body)
	runtime.ReadMemStats(&after)
	if len(faults) != 1 || !strings.Contains(faults[0].Message, fmt.Sprint(httpkit.BodyTokensMax)) {
		t.Errorf("Check of a body with too many tokens = %v, want one fault that says %d", faults, httpkit.BodyTokensMax)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("checking it allocated %d bytes, want at most %v", took, 1<<20)
	}
}

// Whatever a client sends, its faults are bounded and named by pointers; and what has none is what the library finds
// none in either and the decoder accepts.
func FuzzCheckBody(f *testing.F) {
	for _, seed := range []string{
		`{"name":"abc","ttl":60,"domain":null,"scopes":["read","write"],"events":["a"],"expires":"2026-03-14T12:00:00Z","flag":true,"inner":{"text":"x"}}`,
		`{"name":"abc","name":"abc"}`, `{"a/b~c":1}`, `[[[[`, `{"":{"":{"":0}}}`, `{"name":"\ud800"}`, "{\"name\":\"\xff\xff\"}", `null`, ` `,
	} {
		f.Add([]byte(seed))
	}
	c := httpkit.NewBodyChecker(sampleBody{})
	escapes := strings.NewReplacer("~0", "", "~1", "")
	f.Fuzz(func(t *testing.T, body []byte) {
		faults := c.Check(body)
		if len(faults) > httpkit.FieldsMax {
			t.Fatalf("%d faults, want at most %v", len(faults), httpkit.FieldsMax)
		}
		for _, fault := range faults {
			if p := fault.Pointer; p != "" && p[0] != '/' || strings.Contains(escapes.Replace(p), "~") || fault.Message == "" {
				t.Fatalf("Check finds %+v, want a JSON pointer and a message", fault)
			}
		}
		var decoded any
		if err := json.Unmarshal(body, &decoded); err != nil {
			if len(faults) == 0 {
				t.Fatalf("the check of %q finds no fault, want one, since the decoder says %v", body, err)
			}
			return
		}
		library := c.Library(decoded)
		if len(faults) == 0 && len(library) > 0 {
			t.Fatalf("the check of %q finds no fault, want one, since the library says %v", body, library)
		}
		var w sampleBody
		if err := json.Unmarshal(body, &w); len(faults) == 0 && err != nil {
			t.Fatalf("the check of %q finds no fault, want one, since the decoder says %v", body, err)
		}
	})
}

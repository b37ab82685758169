// Package httpkit is what every HTTP API of Gonebox is built on: tracing, the client's address, rate limits, checked
// request bodies and queries, problem responses, paging, memory leases, streaming, and the OpenAPI document. It depends on
// no domain package. An API such as package httpapi brings its operations, their handlers and its authentication.
package httpkit

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
)

// Config is what a Kit needs: the description of its API, the services it shares with the rest of the process, and the
// operator's settings.
type Config struct {
	API
	Clock   clock.Clock
	Logger  *slog.Logger
	Limiter *ratelimit.Limiter
	Gauge   *ratelimit.Gauge // of open long-polls
	Memory  *budget.Budget   // for request bodies and for responses

	// Observe is called with the result of every request, for the metrics; it may be nil.
	Observe func(Result)
	// Unavailable reports whether err is a storage error that may pass, so that the client gets server.unavailable
	// and not server.internal; it may be nil.
	Unavailable func(err error) bool

	// NotFound responds to a browser that opens a path outside of those of APIs at which nothing is; nil: it gets the problem that other
	// clients get.
	NotFound http.Handler

	BaseURL        string // how clients reach the service
	Version        string
	TrustedProxies []netip.Prefix
	BodyMax        int64         // octets of a request body
	LargeBodyMax   int64         // octets of the request body of an operation with LargeBody
	WriteTimeout   time.Duration // for a response; the wait of a long-poll is added to it
	WaitMax        time.Duration // of a long-poll
	PageDefault    int           // entries of a page whose limit is not given
	PageMax        int           // entries of a page at most, whatever its limit; 0: as many as the limit says
	LongPolls      int           // open at once from one address
	Connections    int           // open at once from one address, for the text of the problem

	// CheckOwn is CheckLocal for requests that come from no web page but one of the same host and port; nil: none is so.
	CheckOwn func(*http.Request) error

	// CheckLocal returns nil if a request is local, so that no rate limits apply to it and handlers may permit more; otherwise
	// an error that says why. nil: no request is.
	CheckLocal func(*http.Request) error

	// Limits has the configured limit of every name that an operation uses. A name without an entry has the limit of
	// ratelimit.Other.
	Limits map[ratelimit.Name]ratelimit.Limit
}

// Result is the result of a request.
type Result struct {
	Operation string // its id; "" where the request matches none
	Status    int
	Code      problem.Code // of the problem that was the response; "": another response
	Took      time.Duration
}

// API describes an API in its OpenAPI document, and brings its authentication.
type API struct {
	BasePath     string // begins the path of every operation
	Title        string
	Introduction string // in Markdown
	Tags         []*huma.Tag
	Schemes      map[Scheme]*huma.SecurityScheme
	SchemaNames  map[string]string // names of Go types in the document, where they differ

	// Authenticate is called for an operation with a credential, after the limit of its address. It calls next, with the
	// caller in the context, or responds with Fail. It counts calls of operations whose CountBy is ByCaller.
	Authenticate func(ctx huma.Context, o *Operation, next func(huma.Context))
}

// Kit serves the operations of one API.
type Kit struct {
	Config
	mux        *http.ServeMux
	gzip       gzipPool
	probes     map[string]bool  // the paths of operations with Root
	documented []func(huma.API) // register each operation for the document
}

// New returns a Kit without operations.
func New(c Config) *Kit {
	return &Kit{Config: c, mux: http.NewServeMux(), gzip: newGzipPool(), probes: make(map[string]bool)}
}

// libraryConfig configures the library: our own documentation paths and problems; request bodies without unknown
// properties, responses to which some may be added later.
func (k *Kit) libraryConfig() huma.Config {
	setUpLibrary()
	c := huma.DefaultConfig(k.Title, k.Version)
	c.CreateHooks = nil // no $schema links in responses
	c.Formats = map[string]huma.Format{"application/json": {Marshal: writeJSON, Unmarshal: json.Unmarshal}, "json": {Marshal: writeJSON, Unmarshal: json.Unmarshal}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.AllowAdditionalPropertiesByDefault = true
	c.FieldsOptionalByDefault = false
	c.Components.SecuritySchemes = make(map[string]*huma.SecurityScheme)
	for name, scheme := range k.Schemes {
		c.Components.SecuritySchemes[string(name)] = scheme
	}
	c.Components.Schemas = newSchemas(k.SchemaNames)
	c.Servers = []*huma.Server{{URL: k.BaseURL}}
	c.Info.Description = k.Introduction
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.Tags = k.Tags
	return c
}

// authenticate passes calls of operations with a credential to the API's authentication.
func (k *Kit) authenticate(ctx huma.Context, next func(huma.Context)) {
	o := operation(ctx)
	if len(o.Auth) == 0 {
		next(ctx)
		return
	}
	k.Authenticate(ctx, o, next)
}

// Handler returns the handler of the API. Register must not be called afterwards.
func (k *Kit) Handler() http.Handler { return k.outermost() }

// Scheme names a credential scheme.
type Scheme string

// Public in a list with other schemes means that the credential may be left out.
const Public Scheme = "public"

// security is what OpenAPI says of an operation's schemes. The list is empty, not nil, for an operation without any: generators
// and linters take a missing list for an oversight.
func security(schemes []Scheme) []map[string][]string {
	all := []map[string][]string{}
	for _, s := range schemes {
		if s == Public {
			all = append(all, map[string][]string{})
		} else {
			all = append(all, map[string][]string{string(s): {}})
		}
	}
	return all
}

// Data wraps the response of one thing.
type Data[T any] struct {
	Data T `json:"data" doc:"The result."`
}

// List wraps a page of responses.
type List[T any] struct {
	Data       []T     `json:"data" nullable:"false" doc:"The items, newest first unless the operation says otherwise."`
	NextCursor *string `json:"nextCursor" doc:"The cursor of the next page, or null where this is the last." example:"bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"`
}

// One and Many are responses in the form that the library expects.
type (
	One[T any]  struct{ Body Data[T] }
	Many[T any] struct{ Body List[T] }
)

// Single wraps v.
func Single[T any](v T) *One[T] { return &One[T]{Body: Data[T]{Data: v}} }

// Page wraps the entries of a page. next is the cursor of the next page, or "" if this is the last.
func Page[T any](all []T, next string) *Many[T] {
	l := List[T]{Data: all}
	if all == nil {
		l.Data = []T{}
	}
	if next != "" {
		l.NextCursor = &next
	}
	return &Many[T]{Body: l}
}

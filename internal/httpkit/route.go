package httpkit

import (
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// registration registers an operation with an API of the library, at a path. documented says that the API is read and does
// not serve.
type registration func(api huma.API, path string, documented bool)

// add adds an operation to the document and to the paths that are served.
func (k *Kit) add(o Operation, register registration) {
	path := k.BasePath + o.Path
	k.documented = append(k.documented, func(api huma.API) { register(api, path, true) })
	k.route(o.Method, path, register)
	if o.Root {
		k.route(o.Method, o.Path, register)
		k.probes[o.Path], k.probes[path] = true, true
	}
}

// route serves an operation at a path. The library derives the schemas of the input and the output from their Go types and
// keeps them, which the first call waits for: a fraction of a millisecond. For all operations it takes several milliseconds
// and 3 MiB at each start, and most processes serve few of them.
func (k *Kit) route(method, path string, register registration) {
	handler := sync.OnceValue(func() http.HandlerFunc {
		var mux singleMux
		api := humago.New(&mux, k.libraryConfig())
		api.UseMiddleware(k.limit, k.authenticate, k.checkQuery, k.readBody)
		register(api, path, false)
		return mux.handler
	})
	k.mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) { handler()(w, r) })
}

// singleMux takes the handler that the library makes of an operation.
type singleMux struct{ handler http.HandlerFunc }

// HandleFunc keeps the handler.
func (m *singleMux) HandleFunc(_ string, handler func(http.ResponseWriter, *http.Request)) {
	m.handler = handler
}

// ServeHTTP calls the handler.
func (m *singleMux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler(w, r) }

// document returns the OpenAPI document of all operations. It is made of an API of its own, which is not kept.
func (k *Kit) document() *huma.OpenAPI {
	api := humago.New(&singleMux{}, k.libraryConfig())
	for _, register := range k.documented {
		register(api)
	}
	completeDocument(api.OpenAPI())
	return api.OpenAPI()
}

package httpkit

import (
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
)

// notFound responds to a request for a path at which nothing is: to a browser with the page of Config.NotFound, unless the path is below
// that of APIs, and to every other client with err.
func (k *Kit) notFound(w http.ResponseWriter, r *http.Request, err *problem.Problem) {
	if k.NotFound == nil || k.isOfAPI(r.URL.Path) || !opensPage(r) {
		k.respond(r.Context(), w, err)
		return
	}
	callOf(r.Context()).code = err.Code // for the log and the metrics
	k.NotFound.ServeHTTP(w, r)
}

// isOfAPI reports whether a path is below the first element of BasePath, which other versions of the API would share.
func (k *Kit) isOfAPI(p string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(k.BasePath, "/"), "/")
	return strings.HasPrefix(path.Clean("/"+p)+"/", "/"+first+"/")
}

// opensPage reports whether a request is that of a browser for what it will show as a page: it names the media type of pages, which
// programs that take anything do not.
func opensPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil || media != "text/html" {
			continue
		}
		weight, err := strconv.ParseFloat(params["q"], 64)
		return params["q"] == "" || err == nil && weight > 0
	}
	return false
}

package httpkit

import (
	"net/http"
	"net/url"
	"strings"
)

// Below returns a handler that serves next below a path too, such as /mail: behind a proxy that passes the path on, next gets
// requests without it, as from a proxy that strips it. A browser that opens the path itself is redirected to the same
// with a slash, below which the page is. If prefix is "", Below returns next.
func Below(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, below := strings.CutPrefix(r.URL.Path, prefix)
		raw, rawBelow := strings.CutPrefix(r.URL.EscapedPath(), prefix)
		switch {
		case !below || !rawBelow || raw != "" && raw[0] != '/':
			next.ServeHTTP(w, r)
			return
		case path == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			w.Header().Set("Location", (&url.URL{Path: prefix + "/", RawQuery: r.URL.RawQuery}).String())
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		case path == "":
			path, raw = "/", "/"
		}
		inner := *r
		inner.URL = new(url.URL)
		*inner.URL = *r.URL
		inner.URL.Path, inner.URL.RawPath = path, raw
		next.ServeHTTP(w, &inner)
	})
}

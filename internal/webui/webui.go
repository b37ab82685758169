// Package webui serves the pages that are built into the program: the visitor's page at /, the pages of accounts and
// staff, which the same program draws, and the API documentation at /docs. The pages use the public API and nothing
// else, and this package depends on neither the domains nor the API.
//
// The files are embedded as make web has built them. They are loaded and compressed once in a process and then served
// from memory, with headers that forbid scripts of other origins. Handler passes every other path on, such as those of
// the API.
package webui

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// files holds the built pages. Those that end with .gz are stored compressed. make web builds them from web/.
//
//go:embed docs page
var files embed.FS

// The content security policies of the pages. Neither page allows an inline script or another server's script.
const (
	// Swagger UI writes style attributes.
	docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	// The frame that shows a mail inherits this policy and adds a stricter one of its own, so remote images must be allowed
	// here for the visitor to be able to load them. The mail's styles are applied by script.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: http: https:; connect-src 'self'; " +
		"manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Handler serves the pages and passes every other request on to next. Only GET and HEAD are served. The error is that
// of an embedded file that cannot be served; it does not occur in a build that passed its tests.
func Handler(next http.Handler) (http.Handler, error) {
	assets, err := loaded()
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := assets[r.URL.Path]
		if a == nil && isPagePath(r.URL.Path) {
			a = assets["/"]
		}
		if a == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		a.serve(w, r)
	}), nil
}

// isPagePath reports whether path is an address that the page draws itself: its program reads the address and calls the
// API. The list is the one of ours in web/src/route.svelte.ts. A path that is missing here gets a 404 when
// the page is loaded again.
func isPagePath(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "sign-in", "register", "account", "pages", "staff":
		return true
	}
	return false
}

// loaded returns the result of load, which compresses the files, once in a process: tests start hundreds of services.
var loaded = sync.OnceValues(load)

// load reads every built file into memory and returns them by URL path: those below docs at /docs, those below page at /.
func load() (map[string]*asset, error) {
	assets := make(map[string]*asset)
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the built page %s: %w", name, err)
		}
		url, policy := "/"+name, docsPolicy
		if rest, ok := strings.CutPrefix(name, "page/"); ok {
			url, policy = "/"+rest, pagePolicy
		}
		url, compressed := strings.CutSuffix(url, ".gz")
		a, err := newAsset(url, policy, content, compressed)
		if err != nil {
			return err
		}
		assets[url] = a
		return nil
	})
	if err != nil {
		return nil, err
	}
	assets["/docs"] = assets["/docs/index.html"]
	assets["/"] = assets["/index.html"]
	delete(assets, "/index.html") // the page has one address
	return assets, nil
}

// contentTypeOf returns the media type of a file by its extension. The table of the machine may lack one or have another.
func contentTypeOf(name string) (string, error) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", nil
	case ".js":
		return "text/javascript; charset=utf-8", nil
	case ".css":
		return "text/css; charset=utf-8", nil
	case ".txt":
		return "text/plain; charset=utf-8", nil
	case ".svg":
		return "image/svg+xml", nil
	case ".webmanifest":
		return "application/manifest+json", nil
	}
	return "", fmt.Errorf("the built page %s has an extension without a media type; add it to contentTypeOf", name)
}

// compress returns content compressed with gzip, or nil where that would save nothing worth the trouble. Below 1 KiB
// the header of gzip and the time outweigh the saving.
func compress(content []byte) []byte {
	if len(content) < 1024 {
		return nil
	}
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = w.Write(content)                                 // a bytes.Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// Package webui serves the pages that are built into the program: the visitor's page at /, the pages of accounts and
// staff, which the same program draws, and the API documentation at /docs. The pages use the public API and nothing
// else, and this package depends on neither the domains nor the API.
//
// The files are embedded as make web has built them. Each is loaded and compressed by the first request for it, once in a
// process, and then served from memory, with headers that forbid scripts of other origins. Handler passes every other path on, such as those of
// the API.
package webui

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
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

// Handler serves the pages and passes every other request on to next. base is the path below which browsers reach the
// service, such as /mail, or "": requests come without it. Only GET and HEAD are served. The error is that
// of an embedded file that cannot be served; it does not occur in a build that passed its tests. isDev reports whether the page offers
// the inbox of profile: dev to the browser that makes a request.
func Handler(base string, next http.Handler, isDev func(*http.Request) bool) (http.Handler, error) {
	assets, err := loadedBelow(base)
	if err != nil {
		return nil, err
	}
	page := pageFor(assets["/"], isDev)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := assets[r.URL.Path]
		if a == nil && isPagePath(r.URL.Path) || a == assets["/"] {
			a = page(r)
		}
		if a == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		a.serve(w, r)
	}), nil
}

// NotFound is the handler of requests for addresses at which nothing is: its response is the page, which says so, with the status 404. The
// parameters are those of Handler.
func NotFound(base string, isDev func(*http.Request) bool) (http.Handler, error) {
	assets, err := loadedBelow(base)
	if err != nil {
		return nil, err
	}
	page := pageFor(assets["/"], isDev)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept") // other clients get a problem
		page(r).send(w, r, http.StatusNotFound)
	}), nil
}

// pageFor returns a function that returns the page as the browser gets it that makes a request.
func pageFor(page *asset, isDev func(*http.Request) bool) func(*http.Request) *asset {
	devPage := page.with(devAttribute)
	return func(r *http.Request) *asset {
		if isDev(r) {
			return devPage
		}
		return page
	}
}

// Inbox is Handler for the port of the Mailpit API under profile: dev: the page at / is the inbox, and there are no other pages. The
// API that the page calls is below InboxBase.
func Inbox(base string, next http.Handler) (http.Handler, error) {
	assets, err := loadedBelow(base)
	if err != nil {
		return nil, err
	}
	page := assets["/"]
	inbox := page.with(devAttribute + inboxAttribute)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := assets[r.URL.Path]
		if a == page || r.URL.Path == "/inbox" {
			a = inbox
		}
		if a == nil || a.policy != pagePolicy || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		a.serve(w, r)
	}), nil
}

// InboxBase is what goes before the paths of the API on the port of the Mailpit API, which has operations at some of them.
const InboxBase = "/gonebox"

// Attributes of the root element, by which the page knows where it is shown (web/src/place.ts).
const (
	devAttribute   = ` data-profile="dev"`
	inboxAttribute = ` data-page="inbox"`
)

// with returns a page with attributes of its root element.
func (a *asset) with(attributes string) *asset {
	const root = "<html"
	page := *a
	page.content = sync.OnceValue(func() *content {
		return newContent(bytes.Replace(a.content().plain, []byte(root), []byte(root+attributes), 1), false)
	})
	return &page
}

// isPagePath reports whether path is an address that the page draws itself: its program reads the address and calls the
// API. The list is the one of ours in web/src/route.svelte.ts. A path that is missing here gets a 404 when
// the page is loaded again.
func isPagePath(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "sign-in", "register", "reset", "account", "inbox", "pages", "prices", "staff":
		return true
	}
	return false
}

// address matches what comes before the path of each address in a page of this package, and of the path of base_url in it.
var address = regexp.MustCompile(`(<meta name="base" content=")|( (?:src|href|data-file)=")(/)`)

// below returns the assets with the pages changed to be served below base: their addresses begin with it. Everything else finds
// other files relative to its own address, or reads base in the page, so that the built files are the same for every base.
func below(base string, assets map[string]*asset) map[string]*asset {
	all := maps.Clone(assets)
	for path, a := range assets {
		if !strings.HasPrefix(a.contentType, "text/html") {
			continue
		}
		page := *a
		page.content = sync.OnceValue(func() *content {
			return newContent(address.ReplaceAll(a.content().plain, []byte("${1}${2}"+base+"${3}")), false)
		})
		all[path] = &page
	}
	return all
}

// loadedBelow returns the assets for pages below base.
func loadedBelow(base string) (map[string]*asset, error) {
	assets, err := loaded()
	if err != nil || base == "" {
		return assets, err
	}
	return below(base, assets), nil
}

// loaded returns the result of load, once in a process, so that a file is compressed once: tests start hundreds of services.
var loaded = sync.OnceValues(load)

// load returns every built file by URL path, without its content: those below docs at /docs, those below page at /.
func load() (map[string]*asset, error) {
	assets := make(map[string]*asset)
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		url, policy := "/"+name, docsPolicy
		if rest, ok := strings.CutPrefix(name, "page/"); ok {
			url, policy = "/"+rest, pagePolicy
		}
		url, compressed := strings.CutSuffix(url, ".gz")
		a, err := newAsset(name, url, policy, compressed)
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
	case ".png":
		return "image/png", nil
	case ".ico":
		return "image/vnd.microsoft.icon", nil
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

package webui_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/webui"
)

// get requests a path of the pages; the header fields come in pairs.
func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := webui.Handler(http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestBothPagesAreServed(t *testing.T) {
	for _, path := range []string{"/", "/docs"} {
		if w := get(t, path); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: got %d, %q", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

var reference = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

// Everything that a page refers to is served here: it works without a network.
func TestThePagesNeedNoOtherServer(t *testing.T) {
	ofAPI := map[string]bool{"data:,": true, "/docs/errors": true, "/api/v1/openapi.json": true}
	for _, page := range []string{"/", "/docs"} {
		for _, m := range reference.FindAllStringSubmatch(get(t, page).Body.String(), -1) {
			if ofAPI[m[1]] {
				continue
			}
			w := get(t, m[1])
			if w.Code != http.StatusOK || w.Body.Len() == 0 || w.Header().Get("Content-Type") == "" {
				t.Errorf("%s: %s: got %d, %d octets, %q", page, m[1], w.Code, w.Body.Len(), w.Header().Get("Content-Type"))
			}
		}
	}
}

// The budgets of the page, compressed, in octets: what a first visit loads, and all that may be loaded later, the pages of
// accounts included.
const (
	firstBudget = 60 << 10
	budget      = 150 << 10
)

var languageFile = regexp.MustCompile(`data-file="(/[^"]+)"`)

func TestThePageIsSmall(t *testing.T) {
	first := get(t, "/", "Accept-Encoding", "gzip").Body.Len()
	for _, m := range reference.FindAllStringSubmatch(get(t, "/").Body.String(), -1) {
		if strings.HasSuffix(m[1], ".js") || strings.HasSuffix(m[1], ".css") {
			first += get(t, m[1], "Accept-Encoding", "gzip").Body.Len()
		}
	}
	language := 0 // the largest; a visitor loads one
	for _, m := range languageFile.FindAllStringSubmatch(get(t, "/").Body.String(), -1) {
		language = max(language, get(t, m[1], "Accept-Encoding", "gzip").Body.Len())
	}
	if language == 0 {
		t.Error("the page names no file of a language")
	}
	first += language
	if first > firstBudget {
		t.Errorf("a first visit loads %d octets, %d at most", first, firstBudget)
	}
	total := 0
	err := fs.WalkDir(os.DirFS("page"), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		url := "/" + strings.TrimPrefix(name, "index.html")
		w := get(t, url, "Accept-Encoding", "gzip")
		if w.Code != http.StatusOK {
			t.Errorf("%s: got %d", url, w.Code)
		}
		total += w.Body.Len()
		return nil
	})
	if err != nil || total > budget {
		t.Errorf("the page has %d octets, %d at most; %v", total, budget, err)
	}
	t.Logf("a first visit: %d octets of %d; everything: %d of %d", first, firstBudget, total, budget)
}

// asset returns the address of a file that the page loads, whose name has a hash.
func asset(t *testing.T, pattern string) string {
	t.Helper()
	name := regexp.MustCompile(`/assets/` + pattern).FindString(get(t, "/").Body.String())
	if name == "" {
		t.Fatalf("the page loads no %s", pattern)
	}
	return name
}

// The program of the page draws what stands at these addresses, so that each can be reloaded and passed on.
func TestThePagesOfAccountsAreOneProgram(t *testing.T) {
	page := get(t, "/").Body.String()
	for _, path := range []string{"/sign-in", "/register", "/account", "/account/wallet/ord_1", "/pages/terms", "/staff", "/staff/users"} {
		w := get(t, path)
		if w.Code != http.StatusOK || w.Body.String() != page || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: got %d, caching %q", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
}

func TestOnlyFilesWithAHashAreKept(t *testing.T) {
	for path, want := range map[string]string{asset(t, `app-[\w-]+\.js`): "immutable", "/": "no-cache", "/theme.js": "no-cache", "/docs": "no-cache"} {
		if got := get(t, path).Header().Get("Cache-Control"); !strings.Contains(got, want) {
			t.Errorf("%s: Cache-Control %q, want %s", path, got, want)
		}
	}
}

// No page runs an inline script, and the visitor's page has no inline style either.
func TestTheVisitorsPageHasNoInlineCode(t *testing.T) {
	w := get(t, "/")
	policy := w.Header().Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]`).MatchString(w.Body.String()) {
		t.Errorf("the page has inline code:\n%s", w.Body)
	}
}

func TestEveryFileKeepsABrowserAtHome(t *testing.T) {
	for _, path := range []string{"/", "/sign-in", asset(t, `app-[\w-]+\.js`), "/theme.js", "/favicon.svg", "/docs", "/docs/docs.js", "/docs/swagger-ui.css"} {
		h := get(t, path).Header()
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %q in the policy %q", path, want, policy)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: header %v", path, h)
		}
	}
}

// The types do not come from the machine, whose own list may have strange ones, or none: then a browser that must not guess
// shows nothing.
func TestTheTypesOfFilesAreOurs(t *testing.T) {
	for _, ext := range []string{".html", ".js", ".css", ".txt", ".svg", ".webmanifest"} {
		if err := mime.AddExtensionType(ext, "application/x-strange"); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", asset(t, `app-[\w-]+\.js`): "text/javascript; charset=utf-8", "/favicon.svg": "image/svg+xml",
		"/manifest.webmanifest": "application/manifest+json", "/robots.txt": "text/plain; charset=utf-8",
		"/docs": "text/html; charset=utf-8", "/docs/docs.js": "text/javascript; charset=utf-8", "/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"/docs/swagger-ui.css": "text/css; charset=utf-8", "/docs/swagger-ui.LICENSE.txt": "text/plain; charset=utf-8",
	} {
		if got := get(t, path).Header().Get("Content-Type"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestCompressedAndPlainAreTheSame(t *testing.T) {
	for _, path := range []string{asset(t, `visitor-[\w-]+\.js`), "/docs/swagger-ui.css"} {
		packed, plain := get(t, path, "Accept-Encoding", "br, gzip"), get(t, path)
		if packed.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" {
			t.Fatalf("%s: encodings %q and %q", path, packed.Header().Get("Content-Encoding"), plain.Header().Get("Content-Encoding"))
		}
		r, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) {
			t.Errorf("%s: %d octets packed, %d plain, %v", path, len(unpacked), plain.Body.Len(), err)
		}
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	tag := get(t, "/docs").Header().Get("ETag")
	if w := get(t, "/docs", "If-None-Match", tag); tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("with tag %q: got %d and %d octets", tag, w.Code, w.Body.Len())
	}
}

func TestWhatIsNoPageGoesOn(t *testing.T) {
	for _, path := range []string{"/index.html", "/nothing", "/accounts", "/assets/app.js", "/assets/", "/docs/", "/docs/nothing.js", "/docs/errors", "/api/v1/domains", "/docs/../webui.go"} {
		if w := get(t, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}

// An installed page starts without a network: its worker is at the root, and the policy lets it work there.
func TestThePageCanBeInstalled(t *testing.T) {
	worker := get(t, "/sw.js")
	if worker.Code != http.StatusOK || worker.Header().Get("Cache-Control") != "no-cache" || !strings.HasPrefix(worker.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("the worker: %d %v", worker.Code, worker.Header())
	}
	manifest := get(t, "/manifest.webmanifest").Body.String()
	for _, m := range regexp.MustCompile(`"src": "([^"]+)"`).FindAllStringSubmatch(manifest, -1) {
		if w := get(t, m[1]); w.Code != http.StatusOK {
			t.Errorf("the manifest's icon %s: %d", m[1], w.Code)
		}
	}
	if !strings.Contains(manifest, `"display": "standalone"`) || !strings.Contains(manifest, `"start_url": "/"`) {
		t.Errorf("the manifest is %s", manifest)
	}
}

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
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/webui"
)

// get requests a path of the pages; the header fields come in pairs.
func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := webui.Handler("", http.NotFoundHandler(), func(*http.Request) bool { return false })
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
			t.Errorf("GET %s: got %d and the type %q, want 200 and text/html", path, w.Code, w.Header().Get("Content-Type"))
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
				t.Errorf("GET %s, which %s refers to: got %d with %d octets of the type %q, want 200 with content and a type", m[1], page, w.Code, w.Body.Len(), w.Header().Get("Content-Type"))
			}
		}
	}
}

// Below a path every address in a page begins with it, and the files are the same.
func TestPagesBelowAPathReferToIt(t *testing.T) {
	h, err := webui.Handler("/mail", http.NotFoundHandler(), func(*http.Request) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) *httptest.ResponseRecorder {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("GET %s: got %d, want 200", path, w.Code)
		}
		return w
	}
	if page := read("/").Body.String(); !strings.Contains(page, `<meta name="base" content="/mail">`) {
		t.Errorf("GET /: want the path /mail named in the page:\n%s", page)
	}
	for _, page := range []string{"/", "/docs", "/account/keys"} {
		body := read(page).Body.String()
		found := regexp.MustCompile(` (?:src|href|data-file)="(/[^"]*)"`).FindAllStringSubmatch(body, -1)
		if len(found) == 0 {
			t.Errorf("GET %s: no address was found, want some in\n%s", page, body)
		}
		for _, m := range found {
			path, below := strings.CutPrefix(m[1], "/mail")
			if !below {
				t.Errorf("GET %s: the address is %s, want it below /mail", page, m[1])
			} else if !strings.HasPrefix(path, "/api/") && path != "/docs" && path != "/docs/errors" && !bytes.Equal(read(path).Body.Bytes(), get(t, path).Body.Bytes()) {
				t.Errorf("GET %s: the file differs from the one that is served without a path, want the same", path)
			}
		}
	}
	if read("/").Header().Get("ETag") == get(t, "/").Header().Get("ETag") {
		t.Error("GET /: the page has the same ETag with a path and without one, want another")
	}
	for _, path := range []string{"/manifest.webmanifest", "/sw.js", "/start.js", "/theme.js"} {
		if body := read(path).Body.String(); regexp.MustCompile(`["'\x60]/[a-z]{2}`).MatchString(body) {
			t.Errorf("GET %s: an address begins with a slash, want it relative to the path:\n%s", path, body)
		}
	}
}

// The budgets of the pages, compressed, in octets (docs/decisions/0077): what a visitor's first visit loads, what the inbox loads before
// it can be used, and all files.
const (
	firstBudget = 60 << 10
	inboxBudget = 90 << 10
	budget      = 220 << 10
)

// What the page names for start.js to load: the files of the program, and one for each language.
var (
	programFile  = regexp.MustCompile(`name="program"[^>]*data-file="(/[^"]+)"`)
	languageFile = regexp.MustCompile(`name="language"[^>]*data-file="(/[^"]+)"`)
)

// firstFiles returns the addresses of the files that a first visit loads.
func firstFiles(t *testing.T) []string {
	t.Helper()
	page := get(t, "/").Body.String()
	files := []string{"/"}
	for _, m := range reference.FindAllStringSubmatch(page, -1) {
		if strings.HasSuffix(m[1], ".js") || strings.HasSuffix(m[1], ".css") {
			files = append(files, m[1])
		}
	}
	program := programFile.FindAllStringSubmatch(page, -1)
	if len(program) == 0 {
		t.Error("GET /: got no file of the program, want one at least")
	}
	for _, m := range program {
		files = append(files, m[1])
	}
	language := "" // the largest; a visitor loads one
	for _, m := range languageFile.FindAllStringSubmatch(page, -1) {
		if language == "" || compressed(t, m[1]) > compressed(t, language) {
			language = m[1]
		}
	}
	if language == "" {
		t.Error("GET /: got no file of a language, want one at least")
	}
	return append(files, language)
}

// compressed returns the size of files in octets, as they are sent.
func compressed(t *testing.T, files ...string) (sum int) {
	t.Helper()
	for _, file := range files {
		sum += get(t, file, "Accept-Encoding", "gzip").Body.Len()
	}
	return sum
}

// imported matches the files that a script loads before it runs.
var imported = regexp.MustCompile("(?:from|import)\\s*[\"'`]\\./([^\"'`]+)[\"'`]")

// The inbox loads what a first visit does, its own script and styles, and what that script imports.
func TestTheInboxIsSmall(t *testing.T) {
	files := firstFiles(t)
	entries, err := fs.Glob(os.DirFS("page"), "assets/Mails-*")
	if err != nil || len(entries) < 2 {
		t.Fatalf("the files of the inbox: got %v and the error %v, want a script and styles", entries, err)
	}
	for _, name := range entries {
		files = append(files, "/"+name)
	}
	for i := 0; i < len(files); i++ {
		if !strings.HasSuffix(files[i], ".js") {
			continue
		}
		for _, m := range imported.FindAllStringSubmatch(get(t, files[i]).Body.String(), -1) {
			if file := "/assets/" + m[1]; !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if size := compressed(t, files...); size > inboxBudget {
		t.Errorf("the first load of the inbox: got %d octets for %v, want %d at most", size, files, inboxBudget)
	} else {
		t.Logf("the first load of the inbox: %d octets of %d", size, inboxBudget)
	}
}

func TestThePageIsSmall(t *testing.T) {
	first := compressed(t, firstFiles(t)...)
	if first > firstBudget {
		t.Errorf("a first visit: got %d octets, want %d at most", first, firstBudget)
	}
	total := 0
	err := fs.WalkDir(os.DirFS("page"), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		url := "/" + strings.TrimPrefix(name, "index.html")
		w := get(t, url, "Accept-Encoding", "gzip")
		if w.Code != http.StatusOK {
			t.Errorf("GET %s: got %d, want 200", url, w.Code)
		}
		total += w.Body.Len()
		return nil
	})
	if err != nil || total > budget {
		t.Errorf("all files of the page: got %d octets and the error %v, want %d at most", total, err, budget)
	}
	t.Logf("a first visit: %d octets of %d; everything: %d of %d", first, firstBudget, total, budget)
}

// asset returns the address of a file that the page loads, whose name has a hash.
func asset(t *testing.T, pattern string) string {
	t.Helper()
	name := regexp.MustCompile(`/assets/` + pattern).FindString(get(t, "/").Body.String())
	if name == "" {
		t.Fatalf("GET /: got no address that matches /assets/%s, want one", pattern)
	}
	return name
}

// The program of the page draws what stands at these addresses, so that each can be reloaded and passed on.
func TestThePagesOfAccountsAreOneProgram(t *testing.T) {
	const caching = "no-cache"
	page := get(t, "/").Body.String()
	for _, path := range []string{"/sign-in", "/register", "/account", "/account/wallet/ord_1", "/pages/terms", "/prices", "/staff", "/staff/users"} {
		w := get(t, path)
		if w.Code != http.StatusOK || w.Body.String() != page || w.Header().Get("Cache-Control") != caching {
			t.Errorf("GET %s: got %d with Cache-Control %q and the page of / is %t, want 200, %q and true", path, w.Code, w.Header().Get("Cache-Control"), w.Body.String() == page, caching)
		}
	}
}

func TestOnlyFilesWithAHashAreKept(t *testing.T) {
	for path, want := range map[string]string{asset(t, `app-[\w-]+\.js`): "immutable", "/": "no-cache", "/theme.js": "no-cache", "/docs": "no-cache"} {
		if got := get(t, path).Header().Get("Cache-Control"); !strings.Contains(got, want) {
			t.Errorf("GET %s: got Cache-Control %q, want %s", path, got, want)
		}
	}
}

// No page runs an inline script, and the visitor's page has no inline style either.
func TestTheVisitorsPageHasNoInlineCode(t *testing.T) {
	w := get(t, "/")
	policy := w.Header().Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") {
		t.Errorf("GET /: got the Content-Security-Policy %q, want one without unsafe", policy)
	}
	if regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script[^>]*>[^<]`).MatchString(w.Body.String()) {
		t.Errorf("GET /: got a page with inline code, want none:\n%s", w.Body)
	}
}

func TestEveryFileKeepsABrowserAtHome(t *testing.T) {
	for _, path := range []string{"/", "/sign-in", asset(t, `app-[\w-]+\.js`), "/theme.js", "/favicon.svg", "/docs", "/docs/docs.js", "/docs/swagger-ui.css"} {
		h := get(t, path).Header()
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("GET %s: got the Content-Security-Policy %q, want %q in it", path, policy, want)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("GET %s: got X-Content-Type-Options %q and Referrer-Policy %q, want nosniff and no-referrer", path, h.Get("X-Content-Type-Options"), h.Get("Referrer-Policy"))
		}
	}
}

// The types do not come from the machine, whose own list may have strange ones, or none: then a browser that must not guess
// shows nothing.
func TestTheTypesOfFilesAreOurs(t *testing.T) {
	for _, ext := range []string{".html", ".js", ".css", ".txt", ".svg", ".png", ".ico", ".webmanifest"} {
		if err := mime.AddExtensionType(ext, "application/x-strange"); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", asset(t, `app-[\w-]+\.js`): "text/javascript; charset=utf-8", "/favicon.svg": "image/svg+xml",
		"/favicon.ico": "image/vnd.microsoft.icon", "/apple-touch-icon.png": "image/png",
		"/manifest.webmanifest": "application/manifest+json", "/robots.txt": "text/plain; charset=utf-8",
		"/docs": "text/html; charset=utf-8", "/docs/docs.js": "text/javascript; charset=utf-8", "/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"/docs/swagger-ui.css": "text/css; charset=utf-8", "/docs/swagger-ui.LICENSE.txt": "text/plain; charset=utf-8",
	} {
		if got := get(t, path).Header().Get("Content-Type"); got != want {
			t.Errorf("GET %s: got the type %q, want %q", path, got, want)
		}
	}
}

func TestCompressedAndPlainAreTheSame(t *testing.T) {
	for _, path := range []string{asset(t, `visitor-[\w-]+\.js`), "/docs/swagger-ui.css"} {
		packed, plain := get(t, path, "Accept-Encoding", "br, gzip"), get(t, path)
		if packed.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" {
			t.Fatalf("GET %s with br and gzip accepted, and without: got the encodings %q and %q, want gzip and none", path, packed.Header().Get("Content-Encoding"), plain.Header().Get("Content-Encoding"))
		}
		r, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) {
			t.Errorf("GET %s: got %d octets compressed and the error %v, want the %d of the plain file", path, len(unpacked), err, plain.Body.Len())
		}
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	tag := get(t, "/docs").Header().Get("ETag")
	if w := get(t, "/docs", "If-None-Match", tag); tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("GET /docs with If-None-Match %q: got %d with %d octets, want 304 with none", tag, w.Code, w.Body.Len())
	}
}

func TestWhatIsNoPageGoesOn(t *testing.T) {
	for _, path := range []string{"/index.html", "/nothing", "/accounts", "/assets/app.js", "/assets/", "/docs/", "/docs/nothing.js", "/docs/errors", "/api/v1/domains", "/docs/../webui.go"} {
		if w := get(t, path); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: got %d, want the 404 of the next handler", path, w.Code)
		}
	}
}

// What is served where nothing is, is the page as it is elsewhere, which no client may take for what it has of another address.
func TestTheNotFoundPageIsThePage(t *testing.T) {
	for _, dev := range []bool{false, true} {
		isDev := func(*http.Request) bool { return dev }
		pages, err := webui.Handler("/mail", http.NotFoundHandler(), isDev)
		if err != nil {
			t.Fatal(err)
		}
		missing, err := webui.NotFound("/mail", isDev)
		if err != nil {
			t.Fatal(err)
		}
		open := func(h http.Handler, header ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		for _, encoding := range []string{"", "gzip"} {
			page := open(pages, "Accept-Encoding", encoding)
			w := open(missing, "Accept-Encoding", encoding, "If-None-Match", page.Header().Get("ETag"))
			if w.Code != http.StatusNotFound || !bytes.Equal(w.Body.Bytes(), page.Body.Bytes()) || w.Header().Get("Content-Encoding") != encoding {
				t.Errorf("NotFound with dev %t and Accept-Encoding %q: got %d, %d octets, Content-Encoding %q, want 404 and the %d octets of the page", dev, encoding, w.Code, w.Body.Len(), w.Header().Get("Content-Encoding"), page.Body.Len())
			}
			if etag := w.Header().Get("ETag"); etag != "" {
				t.Errorf("NotFound with dev %t: got the ETag %s, want none", dev, etag)
			}
		}
	}
}

// An installed page starts without a network: its worker is at the root, and the policy lets it work there.
func TestThePageCanBeInstalled(t *testing.T) {
	worker := get(t, "/sw.js")
	if worker.Code != http.StatusOK || worker.Header().Get("Cache-Control") != "no-cache" || !strings.HasPrefix(worker.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("GET /sw.js: got %d with the header %v, want 200, no-cache and text/javascript", worker.Code, worker.Header())
	}
	manifest := get(t, "/manifest.webmanifest").Body.String()
	for _, m := range regexp.MustCompile(`"src": "([^"]+)"`).FindAllStringSubmatch(manifest, -1) {
		if w := get(t, "/"+m[1]); w.Code != http.StatusOK { // addresses are relative to that of the manifest
			t.Errorf("GET /%s, an icon of the manifest: got %d, want 200", m[1], w.Code)
		}
	}
	if !strings.Contains(manifest, `"display": "standalone"`) || !strings.Contains(manifest, `"start_url": "./"`) {
		t.Errorf("GET /manifest.webmanifest: got %s, want a standalone display and the start ./", manifest)
	}
}

package webui_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/webui"
)

// get asks the pages for a path; the header fields come in pairs.
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

func TestTheRootLeadsToTheDocumentation(t *testing.T) {
	if w := get(t, "/"); w.Code != http.StatusFound || w.Header().Get("Location") != "/docs" {
		t.Errorf("got %d, Location %q", w.Code, w.Header().Get("Location"))
	}
	if w := get(t, "/docs"); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("got %d, %q", w.Code, w.Header().Get("Content-Type"))
	}
}

var reference = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

// Whatever the page refers to is served here: it works without a network.
func TestThePageNeedsNoOtherServer(t *testing.T) {
	elsewhere := map[string]bool{"data:,": true, "/docs/errors": true, "/api/v1/openapi.json": true} // the last two are the API's own
	for _, m := range reference.FindAllStringSubmatch(get(t, "/docs").Body.String(), -1) {
		if elsewhere[m[1]] {
			continue
		}
		w := get(t, m[1])
		if w.Code != http.StatusOK || w.Body.Len() == 0 || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: got %d, %d octets, %q", m[1], w.Code, w.Body.Len(), w.Header().Get("Content-Type"))
		}
	}
}

func TestEveryFileKeepsABrowserAtHome(t *testing.T) {
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/swagger-ui.css"} {
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
	for _, ext := range []string{".html", ".js", ".css", ".txt"} {
		if err := mime.AddExtensionType(ext, "application/x-strange"); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/docs": "text/html; charset=utf-8", "/docs/docs.js": "text/javascript; charset=utf-8", "/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"/docs/swagger-ui.css": "text/css; charset=utf-8", "/docs/swagger-ui.LICENSE.txt": "text/plain; charset=utf-8",
	} {
		if got := get(t, path).Header().Get("Content-Type"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestPackedAndUnpackedAreTheSame(t *testing.T) {
	const path = "/docs/swagger-ui.css"
	packed, plain := get(t, path, "Accept-Encoding", "br, gzip"), get(t, path)
	if packed.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" {
		t.Fatalf("encodings %q and %q", packed.Header().Get("Content-Encoding"), plain.Header().Get("Content-Encoding"))
	}
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) {
		t.Errorf("%d octets packed, %d plain, %v", len(unpacked), plain.Body.Len(), err)
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	tag := get(t, "/docs").Header().Get("ETag")
	if w := get(t, "/docs", "If-None-Match", tag); tag == "" || w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("with tag %q: got %d and %d octets", tag, w.Code, w.Body.Len())
	}
}

func TestWhatIsNoPageGoesOn(t *testing.T) {
	for _, path := range []string{"/docs/", "/docs/nothing.js", "/docs/errors", "/api/v1/domains", "/docs/../webui.go"} {
		if w := get(t, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}

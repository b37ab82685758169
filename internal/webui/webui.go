// Package webui serves the pages that are built into the program. They use the public interface and nothing else, and
// this package knows neither domains nor the interface.
package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
)

// The files of the pages; those that end with .gz are sent as they are to whoever takes gzip, as every browser does.
//
//go:embed docs
var files embed.FS

// asset is a file ready to be sent.
type asset struct {
	contentType string
	etag        string
	plain       []byte // nil where only packed is at hand
	packed      []byte
}

// Handler serves the documentation page below /docs and sends the root there. What it does not know goes to next.
func Handler(next http.Handler) (http.Handler, error) {
	assets, err := load()
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		switch a := assets[r.URL.Path]; {
		case r.URL.Path == "/":
			http.Redirect(w, r, "/docs", http.StatusFound)
		case a != nil:
			a.serve(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	}), nil
}

func load() (map[string]*asset, error) {
	entries, err := files.ReadDir("docs")
	if err != nil {
		return nil, fmt.Errorf("read the built pages: %w", err)
	}
	assets := make(map[string]*asset, len(entries))
	for _, e := range entries {
		content, err := files.ReadFile("docs/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the built page %s: %w", e.Name(), err)
		}
		name, packed := strings.CutSuffix(e.Name(), ".gz")
		sum := sha256.Sum256(content)
		a := &asset{contentType: mime.TypeByExtension(path.Ext(name)), etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		if packed {
			a.packed = content
		} else {
			a.plain = content
		}
		assets["/docs/"+name] = a
	}
	assets["/docs"] = assets["/docs/index.html"]
	return assets, nil
}

// policy lets the page run its own script and styles, and talk to its own server alone.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", policy)
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if a.plain != nil {
		_, _ = w.Write(a.plain)
		return
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(a.packed)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(a.packed))
	if err != nil {
		http.Error(w, "the built page is damaged", http.StatusInternalServerError)
		return
	}
	_, _ = io.Copy(w, unpacked) //nolint:gosec // our own file
}

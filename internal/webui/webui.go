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
		contentType, err := contentTypeOf(name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		a := &asset{contentType: contentType, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
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

// contentTypeOf is the media type of a file by its extension. The list of the machine may lack one, or have another.
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
	}
	return "", fmt.Errorf("the built page %s has an extension without a media type; add it to contentTypeOf", name)
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

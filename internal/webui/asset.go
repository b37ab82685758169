package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
)

// asset is a file ready to be sent. At least one of plain and compressed is set. It does not change, so that all
// requests share it.
type asset struct {
	contentType string
	policy      string // Content-Security-Policy
	caching     string // Cache-Control
	etag        string // of the content as it is stored
	plain       []byte // nil where only compressed is at hand
	compressed  []byte // nil where compressing saves nothing
}

// newAsset prepares a file. isCompressed says that content is compressed with gzip; then plain is made for each client
// that does not accept that, which hardly any browser does.
func newAsset(name, policy string, content []byte, isCompressed bool) (*asset, error) {
	contentType, err := contentTypeOf(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	a := &asset{contentType: contentType, policy: policy, caching: cachingOf(name), etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
	if isCompressed {
		a.compressed = content
	} else {
		a.plain, a.compressed = content, compress(content)
	}
	return a, nil
}

// cachingOf returns how long a client may use a file without asking again. Files in assets have a hash of their content in
// their names; the other names are stable across releases, so a client has to ask each time, which the ETag makes cheap.
func cachingOf(name string) string {
	if strings.HasPrefix(name, "/assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// serve responds with the file, or with 304 if the client has it. Clients that do not accept gzip get the plain
// content.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", a.caching)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", a.policy)
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if a.compressed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(a.compressed)
		return
	}
	if a.plain != nil {
		_, _ = w.Write(a.plain)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(a.compressed))
	if err != nil {
		http.Error(w, "the built page is damaged", http.StatusInternalServerError)
		return
	}
	_, _ = io.Copy(w, unpacked) //nolint:gosec // our own file
}

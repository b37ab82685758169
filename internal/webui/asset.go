package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
)

// asset is a file of the pages. It does not change, so that all requests share it.
type asset struct {
	contentType string
	policy      string          // Content-Security-Policy
	caching     string          // Cache-Control
	content     func() *content // the content, loaded by the first request for it
}

// content is the content of a file ready to be sent. At least one of plain and compressed is set.
type content struct {
	etag       string // of the content as it is stored
	plain      []byte // nil where only compressed is at hand
	compressed []byte // nil where compressing saves nothing
}

// newAsset returns the asset of an embedded file that is served at a URL path. Its content is read and compressed when
// the first client asks for it: all files together take 20 ms of processor time and 1 MiB, and most starts of the service
// are those of tests that never open a page.
func newAsset(name, url, policy string, isCompressed bool) (*asset, error) {
	contentType, err := contentTypeOf(url)
	if err != nil {
		return nil, err
	}
	return &asset{
		contentType: contentType, policy: policy, caching: cachingOf(url),
		content: sync.OnceValue(func() *content {
			text, _ := files.ReadFile(name) // the files were found by walking the same embedded folder
			return newContent(text, isCompressed)
		}),
	}, nil
}

// newContent prepares the text of a file. isCompressed says that it is compressed with gzip; then plain is made for each client
// that does not accept that, which hardly any browser does.
func newContent(text []byte, isCompressed bool) *content {
	sum := sha256.Sum256(text)
	c := &content{etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
	if isCompressed {
		c.compressed = text
	} else {
		c.plain, c.compressed = text, compress(text)
	}
	return c
}

// cachingOf returns how long a client may use a file without asking again. Files in assets have a hash of their content in
// their names; the other names are stable across releases, so a client has to ask each time, which the ETag makes cheap.
func cachingOf(name string) string {
	if strings.HasPrefix(name, "/assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// serve responds with the file, or with 304 if the client has it.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	etag := a.content().etag
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		a.setHeader(w.Header())
		w.WriteHeader(http.StatusNotModified)
		return
	}
	a.send(w, r, http.StatusOK)
}

// setHeader sets the fields that every response with the file has.
func (a *asset) setHeader(h http.Header) {
	h.Set("Content-Type", a.contentType)
	h.Set("Cache-Control", a.caching)
	h.Add("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", a.policy)
}

// send responds with a status and the file. Clients that do not accept gzip get the plain content.
func (a *asset) send(w http.ResponseWriter, r *http.Request, status int) {
	c, h := a.content(), w.Header()
	a.setHeader(h)
	if c.compressed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		_, _ = w.Write(c.compressed)
		return
	}
	if c.plain != nil {
		w.WriteHeader(status)
		_, _ = w.Write(c.plain)
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(c.compressed))
	if err != nil {
		http.Error(w, "the built page is damaged", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = io.Copy(w, unpacked) //nolint:gosec // our own file
}

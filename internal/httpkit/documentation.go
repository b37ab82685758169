package httpkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"sync"

	"github.com/gonebox/gonebox/internal/problem"
)

// problemsPath is the path of the page that describes the problem codes: the type of a problem is its address.
const problemsPath = "/docs/errors"

// ServeDocumentation serves the OpenAPI document as openapi.json below BasePath, and the list of problem codes.
func (k *Kit) ServeDocumentation() {
	k.serveStatic(k.BasePath+"/openapi.json", "get-openapi", "application/json", "", func() []byte {
		text, err := json.MarshalIndent(k.document(), "", " ")
		if err != nil {
			panic(fmt.Errorf("encode the OpenAPI document: %w", err)) // a mistake in an operation, which the tests show
		}
		return text
	})
	k.serveStatic(problemsPath, "get-errors", "text/html; charset=utf-8", "default-src 'none'; style-src 'unsafe-inline'", problemPage)
}

// serveStatic serves content that changes only with the program. It is made at the first request, since operations may
// still be registered.
func (k *Kit) serveStatic(path, operation, contentType, policy string, content func() []byte) {
	type page struct {
		content []byte
		etag    string
	}
	made := sync.OnceValue(func() page {
		c := content()
		sum := sha256.Sum256(c)
		return page{content: c, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
	})
	k.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		callOf(r.Context()).operation = operation
		p := made()
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", p.etag)
		if policy != "" {
			h.Set("Content-Security-Policy", policy)
		}
		if r.Header.Get("If-None-Match") == p.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(p.content)
	})
}

// problemPage lists every code: what the type of a problem points to.
func problemPage() []byte {
	var b bytes.Buffer
	b.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Gonebox: problems</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .6rem .4rem 0;border-bottom:1px solid #8884;vertical-align:top}
code{font:14px ui-monospace,monospace;overflow-wrap:anywhere}tr:target{background:#fd06}@media(max-width:40rem){td:first-child{width:55%}code{font-size:13px}}</style>
<h1>Problems</h1><p>Errors are <code>application/problem+json</code>. Programs branch on <code>code</code>, which never changes.</p>
<table><tr><th>Code<th>Status<th>Meaning`)
	for _, c := range problem.Codes() {
		fmt.Fprintf(&b, "\n<tr id=%q><td><code>%s</code><td>%d<td>%s", c, c, c.Status(), html.EscapeString(c.Title()))
	}
	b.WriteString("\n</table></html>\n")
	return b.Bytes()
}

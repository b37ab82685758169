package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gonebox/gonebox/internal/problem"
)

const introduction = `Disposable mailboxes over HTTP: create one, have mail sent to it, read it, or wait for the one-time code in it.

Every answer is wrapped in ` + "`data`" + `; lists add ` + "`nextCursor`" + `. Times are RFC 3339 in UTC, durations whole seconds.
Errors are ` + "`application/problem+json`" + ` (RFC 9457): branch on ` + "`code`" + `, quote ` + "`traceId`" + ` when you ask for help.`

// verifying is docs/webhooks.md in two sentences, for who reads the API's description alone.
const verifying = ` Deliveries are signed by the Standard Webhooks scheme: compare ` + "`webhook-signature`" + ` with ` + "`v1,`" + ` and the base64 of
an HMAC-SHA256 over ` + "`webhook-id.webhook-timestamp.body`" + `, by the key that is base64 behind ` + "`whsec_`" + `, and refuse a time more than five minutes away.
The same ` + "`webhook-id`" + ` may come twice. The page docs/webhooks.md beside the source has receivers in Go, TypeScript and Python.`

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "account", Description: "The account of a user token: its settings and two-factor."},
		{Name: "auth", Description: "Making an account, signing in and out."},
		{Name: "billing", Description: "Plans, subscriptions, points, and how to pay for them."},
		{Name: "content", Description: "Notices and pages that staff publish for everybody."},
		{Name: "domains", Description: "Domains of one's own: every address on a verified one is a mailbox."},
		{Name: "filters", Description: "Extraction filters of an account, which find codes that the built-in extractor does not."},
		{Name: "integrations", Description: "Calls of other services, not of clients."},
		{Name: "keys", Description: "Developer keys of an account, and the mailboxes they open."},
		{Name: "mailboxes", Description: "Disposable mailboxes. Creating one gives the token that opens it."},
		{Name: "messages", Description: "The mail in a mailbox."},
		{Name: "otp", Description: "The one-time code in the newest mail that has one."},
		{Name: "session", Description: "Finding a browser's mailboxes again, without an account."},
		{Name: "system", Description: "Probes."},
		{Name: "webhooks", Description: "Endpoints of an account that are told what happens, and how telling them went." + verifying},
	}
}

// documentation serves the OpenAPI document, from which the page at /docs is drawn, and the list of problems.
func (a *API) documentation(mux *http.ServeMux) {
	document := sync.OnceValue(func() []byte {
		text, err := json.MarshalIndent(a.huma.OpenAPI(), "", " ")
		if err != nil {
			panic(fmt.Errorf("encode the OpenAPI document: %w", err)) // a mistake in an operation, which the tests show
		}
		return text
	})
	mux.HandleFunc("GET "+BasePath+"/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		request(r.Context()).operation = "get-openapi"
		serve(w, r, "application/json", document())
	})
	problems := sync.OnceValue(problemPage)
	mux.HandleFunc("GET /docs/errors", func(w http.ResponseWriter, r *http.Request) {
		request(r.Context()).operation = "get-errors"
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		serve(w, r, "text/html; charset=utf-8", problems())
	})
}

// serve answers with something that changes only with the program.
func serve(w http.ResponseWriter, r *http.Request, contentType string, content []byte) {
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(content)
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

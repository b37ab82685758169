package blackbox_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// FuzzRequest sends arbitrary requests. None may cause an internal error, every answer is one that the document
// declares, and every error is a problem with a trace id (the inspector checks that).
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/api/v1/mailboxes/me/messages?wait=0&limit=2", "Bearer", "", "", []byte(nil))
	f.Add("GET", "/api/v1/mailboxes/me/messages?wait=1e99&since=99999-01-01T00:00:00Z&cursor=%ff", "Bearer", "", "", []byte(nil))
	f.Add("POST", "/api/v1/mailboxes", "", "application/json", "", []byte(`{"ttl":1e300,"localPart":"\u0000","domain":"`+strings.Repeat("x", 300)+`"}`))
	f.Add("POST", "/api/v1/mailboxes", "Basic eDp5", "text/plain; charset", "00-x", bytes.Repeat([]byte("["), 20_000))
	f.Add("POST", "/api/v1/mailboxes/me/extend", "Bearer", "application/json", "", []byte(`{"ttl":-9223372036854775808}`))
	f.Add("GET", "/api/v1/messages/%00%ff%2f..%2f", "Bearer", "", "", []byte(nil))
	f.Add("DELETE", "/api/v1/messages/msg_01m7zmcdrqfe4t1d2x0gmbspgh/attachments/..", "Bearer", "", "", []byte(nil))
	f.Add("OPTIONS", "*", "", "", "", []byte(nil))
	f.Add("HEAD", "//api/v1/domains?;&&=", "x_", "", "", []byte(nil))
	f.Add("BREW", "/api/v1/session?%zz", "Bearer xg_", "application/json", "", []byte("null"))
	s := start(f, nil)
	box := s.create("", body{"ttl": day})
	f.Fuzz(func(t *testing.T, method, path, authorization, contentType, traceparent string, content []byte) {
		if authorization == "Bearer" {
			authorization += " " + box.Token
		}
		if method == http.MethodDelete && strings.HasSuffix(path, "/me") || strings.Contains(path, "wait") && !strings.Contains(path, "wait=0") {
			return // a call for that mailbox could wait for a minute
		}
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL, bytes.NewReader(content))
		if err != nil {
			return // this client would not send it
		}
		r.URL.Opaque = path
		r.Header = http.Header{"Authorization": {authorization}, "Content-Type": {contentType}, "Traceparent": {traceparent}}
		a, err := s.Do(r)
		if err != nil || byTheLibrary(a) {
			return
		}
		if a.Status >= 500 {
			t.Errorf("%s %q: s.Do(r) = %d %s, want a.Status < 500", method, path, a.Status, a.Body)
		}
		if a.Status >= 400 && method != http.MethodHead && (a.Code() == "" || problemOf(t, a).TraceID == "") {
			t.Errorf("%s %q: %d %s, want a success or a problem with a code and a trace", method, path, a.Status, a.Body)
		}
	})
}

// byTheLibrary reports whether net/http itself gave the answer, to something that is no HTTP request.
func byTheLibrary(a apptest.Response) bool {
	return a.Header.Get("Traceparent") == "" && a.Header.Get("Content-Type") != "application/problem+json"
}

package blackbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// problemOf reads an answer as a problem.
func problemOf(t testing.TB, a apptest.Response) (p problem) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &p); err != nil {
		t.Fatalf("%s: got %d %s, want a problem: %v", a.Request, a.Status, a.Body, err)
	}
	return p
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, path := range []string{"", "/", "/nothing", "/domains/", "/mailboxes/", "/messages", "/messages/", "//domains", "/./domains", "/../v1/domains", "/domains//", "/%2e%2e/domains", "/Domains", "/messages//raw"} {
		a := s.do(http.MethodGet, "", "", nil, func(r *http.Request) { r.URL.Opaque = r.URL.Path + path })
		want(t, a, 404, "route.not_found")
	}
	for path, allowed := range map[string]string{
		"/domains": "GET, HEAD", "/mailboxes": "POST", "/mailboxes/me": "DELETE, GET, HEAD", "/session": "DELETE, GET, HEAD, POST", "/messages/x/raw": "GET, HEAD",
	} {
		a := s.call(http.MethodPut, path, "", 405, "route.method_not_allowed")
		if got := a.Header.Get("Allow"); got != allowed {
			t.Errorf("%s: got Allow %q, want %q", a.Request, got, allowed)
		}
	}
	for _, method := range []string{"PATCH", "TRACE", "BREW", "get"} {
		s.call(method, "/domains", "", 405, "route.method_not_allowed")
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, path := range []string{"/domains", "/healthz"} {
		if a := s.call(http.MethodHead, path, "", 200, ""); len(a.Body) != 0 || a.Header.Get("Content-Length") == "" {
			t.Errorf("%s: got the body %q and the header %v, want no body and a Content-Length", a.Request, a.Body, a.Header)
		}
	}
}

func TestAcceptIsIgnored(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, accept := range []string{"", "text/html", "application/xml;q=1", "application/json;q=0", "nonsense", "application/cbor", "*/*", ",;,"} {
		a := s.do(http.MethodGet, "/domains", "", nil, func(r *http.Request) { r.Header.Set("Accept", accept) })
		if a.Status != 200 || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with Accept %q: got %d of type %s, want 200 of type application/json", a.Request, accept, a.Status, a.Header.Get("Content-Type"))
		}
		a = s.do(http.MethodGet, "/session", "", nil, func(r *http.Request) { r.Header.Set("Accept", accept) })
		if a.Status != 401 || a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s with Accept %q: got %d of type %s, want 401 of type application/problem+json", a.Request, accept, a.Status, a.Header.Get("Content-Type"))
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	for _, call := range []string{"GET /domains", "GET /session", "GET /nothing", "PUT /domains"} {
		method, path, _ := strings.Cut(call, " ")
		a := s.do(method, path, "", nil, func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") })
		h := a.Header
		if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s with an Origin: got Access-Control-Allow-Origin %q and -Credentials %q, want * and none", call, h.Get("Access-Control-Allow-Origin"), h.Get("Access-Control-Allow-Credentials"))
		}
		for _, name := range []string{"Retry-After", "RateLimit", "RateLimit-Policy", "Traceparent", "Content-Disposition"} {
			if !strings.Contains(h.Get("Access-Control-Expose-Headers"), name) {
				t.Errorf("%s with an Origin: got Access-Control-Expose-Headers %q, want %s in it", call, h.Get("Access-Control-Expose-Headers"), name)
			}
		}
	}
	for _, path := range []string{"/mailboxes", "/messages/x", "/session"} {
		a := s.do(http.MethodOptions, path, "", nil, func(r *http.Request) {
			r.Header.Set("Origin", "https://elsewhere.example")
			r.Header.Set("Access-Control-Request-Method", "DELETE")
			r.Header.Set("Access-Control-Request-Headers", "authorization, content-type")
		})
		h := a.Header
		if a.Status != 204 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Max-Age") == "" {
			t.Errorf("%s (preflight): got %d with the header %v, want 204, Access-Control-Allow-Origin * and a Max-Age", a.Request, a.Status, h)
		}
		for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Api-Key", "Traceparent"} {
			if !strings.Contains(h.Get("Access-Control-Allow-Headers"), name) {
				t.Errorf("%s (preflight): got Access-Control-Allow-Headers %q, want %s in it", a.Request, h.Get("Access-Control-Allow-Headers"), name)
			}
		}
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			if !strings.Contains(h.Get("Access-Control-Allow-Methods"), method) {
				t.Errorf("%s (preflight): got Access-Control-Allow-Methods %q, want %s in it", a.Request, h.Get("Access-Control-Allow-Methods"), method)
			}
		}
	}
}

func TestTraceparent(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for parent, kept := range map[string]bool{
		"00-" + trace + "-" + span + "-01":                    true,
		"00-" + trace + "-" + span + "-00":                    true,
		"cc-" + trace + "-" + span + "-01-more":               true,
		"":                                                    false,
		"ff-" + trace + "-" + span + "-01":                    false,
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":   false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  false,
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": false,
		"00-" + trace + "-" + span + "-01-more":               false,
		"00-" + trace + "-" + span:                            false,
	} {
		a := s.do(http.MethodGet, "/session", "", nil, func(r *http.Request) { r.Header.Set("Traceparent", parent) })
		got := strings.Split(a.Header.Get("Traceparent"), "-")
		if (got[1] == trace) != kept || got[2] == span || problemOf(t, a).TraceID != got[1] {
			t.Errorf("%s with Traceparent %q: got Traceparent %q and the problem's traceId %s, want the same trace (%t), another span, and the trace in the problem", a.Request, parent, strings.Join(got, "-"), problemOf(t, a).TraceID, kept)
		}
		if kept && got[3] != strings.Split(parent, "-")[3] {
			t.Errorf("%s with Traceparent %q: got the flags %s, want those of the request", a.Request, parent, got[3])
		}
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"http.body_max": "1KiB"})
	m := s.create("", nil)
	long := func(n int) []byte { return []byte(`{"ttl":60` + strings.Repeat(" ", n-10) + `}`) }
	for path, status := range map[string]int{"/mailboxes": 201, "/mailboxes/me/extend": 200} {
		want(t, s.Call(http.MethodPost, path, opening(path, m), long(1024)), status, "")
		want(t, s.Call(http.MethodPost, path, opening(path, m), long(1025)), 413, "request.too_large")
		want(t, s.Call(http.MethodPost, path, opening(path, m), long(100_000)), 413, "request.too_large")
		for _, wrong := range []string{"null", " ", "[]", `"x"`, "1", "{", `{"ttl":60}{}`, `{"ttl":60,}`, "{'ttl':60}", "\xef\xbb\xbf{}", `{"ttl":"60"}`, `{"ttl":1e2}`, `{"a":1,"b":2}`, `{"ttl":60,"ttl":60}`, `{"ttl":60,"\u0074tl":60}`, `{"ttl":null}`, strings.Repeat("[", 1000), "\xff"} {
			want(t, s.Call(http.MethodPost, path, opening(path, m), []byte(wrong)), 422, "request.invalid")
		}
		for media, ok := range map[string]bool{
			"application/json": true, "application/json; charset=utf-8": true, "APPLICATION/JSON": true, "application/merge+json": false, "application/problem+json": false,
			"": false, "application/json, text/plain": false, "text/plain": false, "application/x-www-form-urlencoded": false, "application/jsonp": false, "multipart/form-data; boundary=x": false,
		} {
			a := s.do(http.MethodPost, path, opening(path, m), []byte("{}"), func(r *http.Request) { r.Header.Set("Content-Type", media) })
			if ok {
				want(t, a, status, "")
			} else {
				want(t, a, 415, "request.media_type")
			}
		}
	}
}

// A body may have 16 KiB, or 1 MiB for some operations; a larger one is refused before it is decoded.
func TestBodyLimits(t *testing.T) {
	t.Parallel()
	s := startBank(t, nil)
	u := s.account("ada@example.org")
	trial := func(n int) body {
		return body{"filter": body{"extractRegex": "x"}, "sample": body{"text": strings.Repeat("a", n)}}
	}
	want(t, s.Call(http.MethodPost, "/me/filters/test", u.Token, trial(1<<20-100)), 200, "")
	want(t, s.Call(http.MethodPost, "/me/filters/test", u.Token, trial(1<<20)), 413, "request.too_large")
	want(t, s.bank(body{"id": 5, "content": strings.Repeat("x", 1<<19)}), 200, "")
	want(t, s.bank(body{"id": 6, "content": strings.Repeat("x", 1<<20)}), 413, "request.too_large")
	want(t, s.bank([]byte(`{"id":7,"id":8}`)), 422, "request.invalid")
	want(t, s.Call(http.MethodPost, "/auth/token", "", body{"email": strings.Repeat("x", 20_000)}), 413, "request.too_large")
	many := []byte(`{"email":"a@example.org","password":"p","x":[` + strings.Repeat("1,", 5000) + `1]}`)
	a := s.Call(http.MethodPost, "/auth/token", "", many)
	want(t, a, 422, "request.invalid")
	if p := problemOf(t, a); len(p.Errors) != 2 || p.Errors[0].Pointer != "/x" {
		t.Errorf("%s: got the errors %+v, want two, the first of /x", a.Request, p.Errors)
	}
	want(t, s.Call(http.MethodPost, "/me/api-keys", u.Token, body{"name": "k", "scopes": []string{"otp:read"}, "expiresAt": "0001-01-01T00:00:00Z"}), 422, "request.invalid")
	want(t, s.Call(http.MethodPost, "/me/api-keys", u.Token, body{"name": "k", "scopes": []string{"otp:read"}, "expiresAt": "9999-12-31T23:59:59-01:00"}), 422, "request.invalid")
	for path, status := range map[string]int{"/mailboxes": 201, "/auth/token": 422} {
		bare := func(r *http.Request) { r.Header.Del("Content-Type") }
		want(t, s.do(http.MethodPost, path, "", []byte("{}"), bare), 415, "request.media_type")
		if a := s.do(http.MethodPost, path, "", nil, bare); a.Status != status {
			t.Errorf("%s without a body: got %d %s, want %d", a.Request, a.Status, a.Body, status)
		}
		chunked := func(r *http.Request) { r.ContentLength, r.Body = -1, io.NopCloser(strings.NewReader(`{}`)) }
		want(t, s.do(http.MethodPost, path, "", []byte("{}"), func(r *http.Request) { chunked(r); bare(r) }), 415, "request.media_type")
	}
}

// opening is a credential that a path accepts.
func opening(path string, m mailbox) string {
	if path == "/mailboxes" {
		return ""
	}
	return m.Token
}

// Errors name where the fault is and never repeat the input.
func TestValidationErrorsDoNotEchoInput(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	const secret = "hunter2"
	for _, a := range []apptest.Response{
		s.Call(http.MethodPost, "/mailboxes", "", body{"ttl": secret}),
		s.Call(http.MethodPost, "/mailboxes", "", body{"localPart": secret + "!"}),
		s.Call(http.MethodPost, "/mailboxes", "", body{"domain": secret}),
		s.Call(http.MethodPost, "/mailboxes", "", body{"wrong": secret}),
		s.Call(http.MethodPost, "/mailboxes", "", []byte(secret)),
		s.Call(http.MethodPost, "/mailboxes", "", []byte(`{"ttl":`+secret)),
		s.Call(http.MethodGet, "/mailboxes/me/messages?wait="+secret, m.Token, nil),
		s.Call(http.MethodGet, "/mailboxes/me/messages?cursor="+secret, m.Token, nil),
		s.Call(http.MethodGet, "/mailboxes/me/messages?since="+secret, m.Token, nil),
		s.Call(http.MethodGet, "/mailboxes/me/messages?wrong="+secret, m.Token, nil),
		s.Call(http.MethodGet, "/mailboxes/me", secret, nil),
	} {
		if strings.Contains(string(a.Body), secret) || a.Status/100 != 4 {
			t.Errorf("%s: got %d %s, want a status from 400 to 499 and no %q in the body", a.Request, a.Status, a.Body, secret)
		}
	}
	a := s.Call(http.MethodPost, "/mailboxes", "", body{"ttl": 1, "localPart": "A", "x": 1})
	if p := problemOf(t, a); len(p.Errors) != 3 {
		t.Errorf("%s: got the errors %+v, want three", a.Request, p.Errors)
	}
	many := body{}
	for i := range 80 {
		many[fmt.Sprint(strings.Repeat("x", i%300), i)] = i
	}
	if a := s.Call(http.MethodPost, "/mailboxes", "", many); a.Status != 422 || len(a.Body) > 10_000 {
		t.Errorf("%s: got %d with %d octets, want 422 with 10,000 at most", a.Request, a.Status, len(a.Body))
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	for query, pointer := range map[string]string{
		"wait=61": "?wait", "wait=-1": "?wait", "wait=1e99": "?wait", "wait=99999999999999999999": "?wait", "wait=1.5": "?wait", "wait=x": "?wait",
		"wait=1&wait=2": "?wait", "limit=0": "?limit", "limit=101": "?limit", "limit=-1": "?limit", "Limit=1": "?Limit", "wiat=1": "?wiat",
		"after=x": "?after", "after=" + m.ID: "?after", "after=" + strings.Repeat("x", 10_000): "?after", "after=%00": "?after",
		"since=yesterday": "?since", "since=2026-03-14": "?since", "since=1773489600": "?since", "since=99999-01-01T00:00:00Z": "?since",
		"since=1969-12-31T23:59:59Z": "?since", "since=0001-01-01T00:00:00Z": "?since", "since=9999-12-31T23:59:59-00:01": "?since",
		"cursor=x": "?cursor", "cursor=%ff": "?cursor", "cursor=bXNnXw": "?cursor", "cursor=" + strings.Repeat("A", 10_000): "?cursor",
		"%zz": "", "a;b": "", "wait=%": "",
	} {
		a := s.call(http.MethodGet, "/mailboxes/me/messages?"+query, m.Token, 422, "request.invalid")
		p := problemOf(t, a)
		if pointer == "" && p.Detail == "" || pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != pointer) {
			t.Errorf("%s: got the problem %+v, want one error, of %q, or a detail where that is empty", a.Request, p, pointer)
		}
	}
	for _, query := range []string{"", "wait=", "wait=0&limit=&after=&since=&cursor=", "&&"} {
		s.call(http.MethodGet, "/mailboxes/me/messages?"+query, m.Token, 200, "")
	}
	for _, query := range []string{"wait=61", "from=" + strings.Repeat("x", 256), "limit=1", "since=x", "after=x"} {
		s.call(http.MethodGet, "/mailboxes/me/otp/latest?"+query, m.Token, 422, "request.invalid")
	}
	key := s.startSession().Key
	for call, token := range map[string]string{
		"GET /domains": "", "POST /mailboxes": "", "GET /mailboxes/me": m.Token, "DELETE /mailboxes/me": m.Token, "POST /mailboxes/me/extend": m.Token,
		"GET /messages/x": m.Token, "DELETE /messages/x": m.Token, "GET /messages/x/raw": m.Token, "GET /messages/x/checks": m.Token, "GET /messages/x/parts": m.Token, "GET /messages/x/parts/0": m.Token, "GET /messages/x/attachments/y": m.Token,
		"GET /session": key, "POST /session": "", "DELETE /session": key,
	} {
		method, path, _ := strings.Cut(call, " ")
		s.call(method, path+"?ttl=60", token, 422, "request.invalid")
	}
	s.call(http.MethodGet, "/mailboxes/me", m.Token, 200, "") // nothing was done
	s.call(http.MethodGet, "/session", key, 200, "")
}

// A client that sends Expect: 100-continue gets the answer to its header fields before it sends the body.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/api/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, c := range []struct{ path, verdict string }{{"/api/v1/mailboxes", "HTTP/1.1 100 Continue"}, {"/api/v1/mailboxes/me/extend", "HTTP/1.1 401 Unauthorized"}} {
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", c.path)
		line, err := in.ReadString('\n')
		if err != nil || strings.TrimSpace(line) != c.verdict {
			t.Fatalf("POST %s with Expect: 100-continue: got the line %q and the error %v, want %q", c.path, line, err, c.verdict)
		}
		if strings.Contains(c.verdict, "401") {
			return
		}
		fmt.Fprint(conn, "{}")
		if _, err := in.ReadString('\n'); err != nil { // the end of the interim answer
			t.Fatal(err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != 201 {
			t.Fatalf("POST %s after 100 Continue: got the response %v and the error %v, want 201", c.path, res, err)
		}
		_, _ = bufio.NewReader(res.Body).Discard(int(res.ContentLength))
	}
}

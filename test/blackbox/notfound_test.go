package blackbox_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// browserAccept is what browsers send when one opens an address.
const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

// openPath requests a path, as it is written, with an Accept field; "" leaves it out.
func openPath(t *testing.T, method, base, path, accept string) apptest.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque, r.URL.RawQuery = "//"+r.URL.Host+path, ""
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s with Accept %q: %v", method, path, accept, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s with Accept %q: %v", method, path, accept, err)
	}
	return apptest.Response{Request: fmt.Sprintf("%s %s with Accept %q", method, path, accept), Status: res.StatusCode, Header: res.Header, Body: text}
}

// A browser that opens an address at which nothing is gets the page, which says so, with the status 404; every other client, and a browser
// below the path of APIs, gets a problem.
func TestBrowserGetsPageForUnknownPath(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	root := strings.TrimSuffix(s.URL, "/api/v1")
	home := openPath(t, http.MethodGet, root, "/", browserAccept)
	for _, path := range []string{
		"/nothing", "/nothing/here.html", "/accounts", "/docs/", "/docs/nothing", "/assets/gone.js", "/healthz/more", "/mcp/more", "/.well-known/security.txt",
		"//nothing", "/a/../b", "/%2e%2e/x", "/apis", "/api-docs", "/API/v1/domains", "/nothing%00", "/%3Cscript%3E", "/index.html",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			a := openPath(t, method, root, path, browserAccept)
			body := string(home.Body)
			if method == http.MethodHead {
				body = ""
			}
			if a.Status != 404 || string(a.Body) != body {
				t.Errorf("%s: got %d %.100q, want 404 with the page", a.Request, a.Status, a.Body)
			}
			for _, name := range []string{"Content-Type", "Cache-Control", "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"} {
				if got, want := a.Header.Get(name), home.Header.Get(name); got != want || got == "" {
					t.Errorf("%s: got %s %q, want %q, as of the page at /", a.Request, name, got, want)
				}
			}
			if got := strings.Join(a.Header.Values("Vary"), ", "); got != "Accept, Accept-Encoding" {
				t.Errorf("%s: got Vary %q, want Accept and Accept-Encoding", a.Request, got)
			}
		}
	}
	for _, accept := range []string{"text/html", "TEXT/HTML; charset=utf-8", "application/json, text/html;q=0.1", "nonsense//, text/html;q=1.000"} {
		if a := openPath(t, http.MethodGet, root, "/nothing", accept); a.Status != 404 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: got %d of the type %q, want 404 of text/html", a.Request, a.Status, a.Header.Get("Content-Type"))
		}
	}
	isProblem := func(a apptest.Response) {
		t.Helper()
		want(t, a, 404, "route.not_found")
		if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: got the type %q, want application/problem+json", a.Request, got)
		}
	}
	for _, accept := range []string{"", "*/*", "application/json", "text/*", "text/htm", "text/html;q=0", "*/*, text/html; q=0.0", "text/html;q=much", "text/plain, text/html5"} {
		isProblem(openPath(t, http.MethodGet, root, "/nothing", accept))
	}
	for _, path := range []string{"/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v2/domains", "//api/v1/domains", "/./api/v1/domains", "/x/../api/v1/domains", "/%61pi/v1/nothing", "/api/../nothing/../api/v1"} {
		isProblem(openPath(t, http.MethodGet, root, path, browserAccept))
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		isProblem(openPath(t, method, root, "/nothing", browserAccept))
	}
	if a := openPath(t, http.MethodGet, root, "/healthz", browserAccept); a.Status != 200 || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: got %d of the type %q, want 200 of application/json", a.Request, a.Status, a.Header.Get("Content-Type"))
	}
	if a := openPath(t, http.MethodPost, root, "/healthz", browserAccept); a.Status != 405 {
		t.Errorf("%s: got %d %s, want 405", a.Request, a.Status, a.Body)
	}
}

// Below a path the page refers to what is there, also where the address is not below it.
func TestPageForUnknownPathBelowAPath(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"base_url": "http://localhost/mail"})
	address, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	root := "http://" + address.Host
	for _, path := range []string{"/mail/nothing", "/nothing", "/mails"} {
		a := openPath(t, http.MethodGet, root, path, browserAccept)
		if a.Status != 404 || !strings.Contains(string(a.Body), `<meta name="base" content="/mail">`) {
			t.Errorf("%s: got %d %.200q, want 404 with the page below /mail", a.Request, a.Status, a.Body)
		}
	}
	want(t, openPath(t, http.MethodGet, root, "/mail/api/v1/nothing", browserAccept), 404, "route.not_found")
}

// The APIs of other services respond to a browser as to every client.
func TestOtherAPIsHaveNoPageForUnknownPaths(t *testing.T) {
	t.Parallel()
	set := settings{"compat.mailtm.addr": "127.0.0.1:0", "compat.mailpit.addr": "127.0.0.1:0"}
	plain, dev := startAccounts(t, set), startMailpit(t, settings{"compat.mailtm.addr": "127.0.0.1:0"})
	for name, base := range map[string]string{"Mailpit": plain.Mailpit, "mail.tm": plain.MailTM, "Mailpit of profile: dev": dev.base, "mail.tm of profile: dev": dev.MailTM} {
		for _, path := range []string{"/nothing", "/account", "/docs", "/view/nothing.html", "/api/v1/nothing", "/api/v3/x", "/p/none/nothing", "/gonebox/nothing", "/gonebox/api/v1/nothing", "//x"} {
			any, browser := openPath(t, http.MethodGet, base, path, "*/*"), openPath(t, http.MethodGet, base, path, browserAccept)
			if any.Status != browser.Status || withoutTrace(any) != withoutTrace(browser) || any.Header.Get("Content-Type") != browser.Header.Get("Content-Type") {
				t.Errorf("%s at the port of %s: got %d %.100q, want %d %.100q as with */*", browser.Request, name, browser.Status, browser.Body, any.Status, any.Body)
			}
			if strings.Contains(string(browser.Body), "<html") {
				t.Errorf("%s at the port of %s: got %d %.100q, want no page", browser.Request, name, browser.Status, browser.Body)
			}
		}
	}
}

// withoutTrace returns a body without the identifier of its request.
func withoutTrace(a apptest.Response) string {
	return strings.ReplaceAll(string(a.Body), strings.Split(a.Header.Get("Traceparent")+"--", "-")[1], "")
}

package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
)

// A page that may call the Mailpit API can do so from a browser: its script may read the responses, and the browser gets
// permission for JSON and for methods other than GET and POST. A page that may not gets none.
func TestPagesThatMayCallMailpitCanReadIt(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"compat.mailpit.hosts": "ci.example.net"}))
	const preflight = "|Access-Control-Request-Method: DELETE|Access-Control-Request-Headers: content-type"
	for text, want := range map[string]string{
		"Origin: http://localhost:3000|Sec-Fetch-Site: same-site": "http://localhost:3000", "Origin: http://127.0.0.1:5173": "http://127.0.0.1:5173", "Origin: http://[::1]:4200": "http://[::1]:4200",
		"Origin: https://ci.example.net": "https://ci.example.net", "Origin: http://mailpit:8025|Host: mailpit:8025": "http://mailpit:8025", "": "",
		"Origin: https://evil.example": "", "Origin: null": "", "Origin: http://mailpit:3000|Host: mailpit:8025": "", "Origin: http://localhost.evil.example": "",
		"Origin: http://evil.example:8025|Host: evil.example:8025": "", "Origin: http://localhost:3000|Sec-Fetch-Site: cross-site": "", "Origin: http://localhost|Origin: http://evil.example": "", "Origin: http://localhost:3000|X-Forwarded-For: 203.0.113.9": "",
	} {
		for _, c := range []struct{ method, path, more string }{
			{http.MethodOptions, "/api/v1/messages", preflight},
			{http.MethodOptions, "/api/v1/message/latest", preflight},
			{http.MethodOptions, "/api/v2/messages", preflight},
			{http.MethodGet, "/api/v1/messages", ""},
			{http.MethodGet, "/api/v1/message/latest", ""}, // 404, which a script may read too
			{http.MethodDelete, "/api/v1/messages", ""},
		} {
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.Mailpit+c.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			having(text + c.more)(r)
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatalf("%s %s with %q: %v", c.method, c.path, text, err)
			}
			_ = res.Body.Close()
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s %s with %q: %d with Access-Control-Allow-Origin %q, want %q", c.method, c.path, text, res.StatusCode, got, want)
			}
			methods, fields := res.Header.Get("Access-Control-Allow-Methods"), res.Header.Get("Access-Control-Allow-Headers")
			if granted := strings.Contains(methods, http.MethodDelete) && strings.Contains(fields, "Content-Type"); granted != (want != "" && c.more != "") {
				t.Errorf("%s %s with %q: %d, which allows the methods %q and the fields %q; want DELETE and Content-Type: %t", c.method, c.path, text, res.StatusCode, methods, fields, want != "" && c.more != "")
			}
			if res.Header.Get("Access-Control-Allow-Credentials") != "" || !strings.Contains(res.Header.Get("Vary"), "Origin") && res.StatusCode != 403 {
				t.Errorf("%s %s with %q: %d with %v, want no credentials, and Vary: Origin", c.method, c.path, text, res.StatusCode, res.Header)
			}
			if local := want != "" || text == ""; c.method == http.MethodOptions && (res.StatusCode == 200) != local {
				t.Errorf("OPTIONS %s with %q: %d, want 200 of a local request alone", c.path, text, res.StatusCode)
			}
		}
	}
	for path, want := range map[string]int{"/": 404, "/view/latest.html": 404} {
		if got, answer := statusOf(t, http.MethodOptions, s.Mailpit+path, "", ""); got != want {
			t.Errorf("OPTIONS %s: %d %s, want %d", path, got, answer, want)
		}
	}
}

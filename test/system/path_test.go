package system_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// startBelow starts a service that is reached at the path /mail of a proxy, which passes requests on with the path or without
// it, and forwards nothing else. It returns the service and its URL at the proxy.
func startBelow(t *testing.T, strips bool, set map[string]string) (*service, string) {
	t.Helper()
	var s *service
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mail" && !strings.HasPrefix(r.URL.Path, "/mail/") {
			http.Error(w, "another application", http.StatusTeapot)
			return
		}
		forward := http.Handler(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: s.http})
			p.Out.Host = p.In.Host
		}})
		if strips {
			forward = http.StripPrefix("/mail", forward)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	all := map[string]string{"base_url": proxy.URL + "/mail"}
	maps.Copy(all, set)
	s = start(t, options{set: all})
	s.url = proxy.URL + "/mail/api/v1"
	return s, proxy.URL + "/mail"
}

// fetch requests a URL and returns the response with its body.
func fetch(t *testing.T, address string) (*http.Response, string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address)
	if err != nil {
		t.Fatalf("GET %s: got %v, want a response", address, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("GET %s: reading the body: got %v, want none", address, err)
	}
	return res, string(body)
}

func TestEverythingWorksBelowAPath(t *testing.T) {
	t.Parallel()
	for name, strips := range map[string]bool{"stripped": true, "passed on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, base := startBelow(t, strips, map[string]string{"access.registration": "open"})
			pagesBelow(t, base)
			documentsBelow(t, base)
			if res, body := fetch(t, base); strips && res.StatusCode != http.StatusOK {
				t.Errorf("GET %s: got %d %.100s, want the page", base, res.StatusCode, body)
			} else if !strips && (res.StatusCode != http.StatusPermanentRedirect || res.Header.Get("Location") != "/mail/") {
				t.Errorf("GET %s: got %d, Location %q, want 308 to /mail/", base, res.StatusCode, res.Header.Get("Location"))
			}
			said := s.greeting()
			if try := "Try: curl -X POST " + base + "/api/v1/mailboxes"; !strings.Contains(said, try) {
				t.Errorf("the greeting is\n%s\nwant %q", said, try)
			}
			mailBelow(t, s, base)
			clientsBelow(t, s, base)
		})
	}
}

var addressIn = regexp.MustCompile(` (?:src|href|data-file)="([^"]+)"`)

// pagesBelow checks that the pages and everything that they name are served below a URL.
func pagesBelow(t *testing.T, base string) {
	t.Helper()
	origin := strings.TrimSuffix(base, "/mail")
	for _, page := range []string{"/", "/sign-in", "/account/keys", "/docs", "/docs/errors"} {
		res, body := fetch(t, base+page)
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			t.Errorf("GET %s: got %d, %s, want a page", base+page, res.StatusCode, res.Header.Get("Content-Type"))
		}
		for _, m := range addressIn.FindAllStringSubmatch(body, -1) {
			if strings.HasPrefix(m[1], "data:") || strings.HasPrefix(m[1], "#") {
				continue
			}
			if found, _ := fetch(t, origin+m[1]); found.StatusCode != http.StatusOK {
				t.Errorf("GET %s: the address %s in it: got %d, want 200", base+page, m[1], found.StatusCode)
			}
		}
	}
	for _, file := range []string{"/sw.js", "/manifest.webmanifest", "/favicon-new.svg", "/readyz", "/healthz", "/.well-known/mcp.json", "/llms.txt"} {
		if res, _ := fetch(t, base+file); res.StatusCode != http.StatusOK {
			t.Errorf("GET %s: got %d, want 200", base+file, res.StatusCode)
		}
	}
}

// documentsBelow checks that what describes the service names its URL.
func documentsBelow(t *testing.T, base string) {
	t.Helper()
	var document struct {
		Servers []struct{ URL string }
		Paths   map[string]any
	}
	_, body := fetch(t, base+"/api/v1/openapi.json")
	if err := json.Unmarshal([]byte(body), &document); err != nil || len(document.Servers) != 1 || document.Servers[0].URL != base || document.Paths["/api/v1/mailboxes"] == nil {
		t.Errorf("GET /api/v1/openapi.json: got servers %v and %v, want %s and /api/v1/mailboxes in the paths", document.Servers, err, base)
	}
	var p struct{ Type, Detail string }
	_, body = fetch(t, base+"/api/v1/nothing")
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Type != base+"/docs/errors#route.not_found" || !strings.Contains(p.Detail, base+"/docs") {
		t.Errorf("GET /api/v1/nothing: got the problem %+v, %v, want a type and a link below %s", p, err, base)
	}
	for _, page := range []string{"/llms.txt", "/.well-known/mcp.json"} {
		if _, body := fetch(t, base+page); !strings.Contains(body, base+"/mcp") {
			t.Errorf("GET %s: got\n%s\nwant %s/mcp in it", page, body, base)
		}
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/mcp", strings.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Origin", strings.TrimSuffix(base, "/mail"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || !strings.Contains(string(text), "wait_for_code") {
		t.Errorf("POST /mcp %s: got %d %s, want the tools", call, res.StatusCode, text)
	}
}

// mailBelow checks that a mail arrives in a mailbox and on its event stream.
func mailBelow(t *testing.T, s *service, base string) {
	t.Helper()
	status, body := s.call(http.MethodPost, "/mailboxes", "", map[string]any{})
	var made struct{ Data mailbox }
	if err := json.Unmarshal(body, &made); err != nil || status != http.StatusCreated {
		t.Fatalf("POST %s/api/v1/mailboxes: got %d %s, want 201", base, status, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/mailboxes/me/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+made.Data.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if out, err := exec.Command(program(t), "send", "--server", s.smtp, "--to", made.Data.Address, "--subject", "below a path").CombinedOutput(); err != nil {
		t.Fatalf("gonebox send: got %v\n%s", err, out)
	}
	events := bufio.NewScanner(res.Body)
	for events.Scan() {
		if strings.Contains(events.Text(), "below a path") {
			return
		}
	}
	t.Errorf("GET /mailboxes/me/events: the stream ended with %v, want the mail in it", events.Err())
}

// clientsBelow checks that the clients take a URL with a path, with a slash at its end and without.
func clientsBelow(t *testing.T, s *service, base string) {
	t.Helper()
	const python = `import sys; from gonebox import Gonebox; box = Gonebox(sys.argv[1]).create_mailbox(); print(box.address, len(box.messages()))`
	for _, given := range []string{base, base + "/", base + "/api/v1"} {
		command := exec.Command(program(t), "inbox", "new", "--url", given)
		command.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "HOME="+t.TempDir())
		if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "@") {
			t.Errorf("gonebox inbox new --url %s: got %v\n%s\nwant an address", given, err, out)
		}
		command = exec.Command(need(t, "python3"), "-c", python, given)
		command.Env = append(os.Environ(), "PYTHONPATH=../../clients/python/src")
		if out, err := command.CombinedOutput(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), " 0") {
			t.Errorf("the client in Python with %s: got %v\n%s\nwant an address and 0", given, err, out)
		}
	}
	for _, given := range []string{base, base + "/"} {
		if out, err := exec.Command(program(t), "ready", "--url", given).CombinedOutput(); err != nil {
			t.Errorf("gonebox ready --url %s: got %v\n%s", given, err, out)
		}
	}
}

func TestMailpitWorksBelowAPath(t *testing.T) {
	t.Parallel()
	set := map[string]string{"profile": "dev", "compat.mailpit.addr": "127.0.0.1:0", "compat.mailpit.path": "/tools/mailpit"}
	s, _ := startBelow(t, false, set)
	const label = "Mailpit API"
	said, line := s.greeting(), ""
	for text := range strings.Lines(said) {
		if _, after, found := strings.Cut(text, label); found {
			line = strings.TrimSpace(after)
		}
	}
	root, below := strings.CutSuffix(line, "/tools/mailpit")
	if !below {
		t.Fatalf("the greeting is\n%s\nwant an address with /tools/mailpit after %s", said, label)
	}
	for _, address := range []string{line + "/api/v1/info", root + "/api/v1/info", line + "/", root + "/", line + "/readyz", line + "/api/v2/messages"} {
		if res, body := fetch(t, address); res.StatusCode != http.StatusOK {
			t.Errorf("GET %s: got %d %s, want 200", address, res.StatusCode, body)
		}
	}
	if res, _ := fetch(t, root+"/tools/api/v1/info"); res.StatusCode != http.StatusNotFound {
		t.Errorf("GET /tools/api/v1/info: got %d, want 404", res.StatusCode)
	}
}

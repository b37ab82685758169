package blackbox_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// having changes a request by header fields "Name: value", which are separated by |.
func having(text string) func(*http.Request) {
	return func(r *http.Request) {
		for field := range strings.SplitSeq(text, "|") {
			switch name, value, _ := strings.Cut(field, ": "); name {
			case "":
			case "Host":
				r.Host = value
			default:
				r.Header.Add(name, value)
			}
		}
	}
}

// foreign are requests that are not local: of pages of other sites, by names that their owners can make point here, and of
// clients that a proxy on this machine forwards.
var foreign = []string{
	"Origin: https://evil.example|Sec-Fetch-Site: cross-site", "Origin: https://evil.example", "Origin: null", "Origin: null|Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site",
	"Origin: http://evil.example:8025|Host: evil.example:8025|Sec-Fetch-Site: same-origin", "Host: evil.example", "Host: EVIL.example.:80", "Host: a.8.b.d.0.1.0.0.2.ip6.arpa", "Host: ai", "Host: localhost.evil.example",
	"Origin: http://192.168.0.7:3000|Host: 192.168.0.7:8025", "Origin: chrome-extension://abc", "Origin: http://localhost|Origin: http://evil.example", "Origin: http://localhost.evil.example:3000",
	"X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 127.0.0.1, 203.0.113.9", "X-Forwarded-For: 203.0.113.9|X-Forwarded-For: 10.0.0.1", "X-Real-Ip: 2001:db8::1",
	"Forwarded: for=203.0.113.9", `Forwarded: for="[2001:db8::1]:4711";proto=https`, "Forwarded: for=127.0.0.1, for=unknown", "Forwarded: for=_x", "X-Forwarded-Host: evil.example",
}

// ours are local requests: of programs, of containers, of pages of the service and of pages on this machine, also through a
// proxy.
var ours = []string{
	"", "Host: localhost:8025", "Host: LOCALHOST.", "Host: mailpit:8025", "Host: mail.test", "Host: host.docker.internal:8025", "Host: 192.168.0.7:8025", "Host: [::1]:8025", "Host: [2001:db8::9]:8025",
	"Origin: http://mailpit:8025|Host: mailpit:8025", "Origin: http://192.168.0.7:8025|Host: 192.168.0.7:8025", "Origin: http://localhost:3000|Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:5173", "Origin: http://[::1]:4200", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none",
	"X-Forwarded-For: 10.0.0.7", "Forwarded: for=10.0.0.7", `Forwarded: for="[fd00::7]:4711";host=mail.test`, "Origin: https://ci.example.net|Host: 10.0.0.9:8025", "Host: ci.example.net:8025",
}

// What profile: dev permits to local requests is not permitted to others: calls without limits, the developer key and the
// mailbox tokens of it, and webhooks to this machine.
func TestOnlyLocalRequestsHavePrivilegesOfDev(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"http.trusted_proxies": "", "dev.hosts": "ci.example.net"}))
	u, other := s.account("ada@example.org").Token, s.account("bob@example.org").Token
	var box apptest.Mailbox
	s.Call(http.MethodPost, "/keys/mailboxes", devKey, nil).Into(t, &box)
	hook := fields{"url": "http://127.0.0.1:9/x", "events": []string{"webhook.ping"}}
	var old struct{ ID string }
	s.Call(http.MethodPost, "/me/webhooks", other, fields{"url": "http://127.0.0.1:9/y", "events": []string{"webhook.ping"}}).Into(t, &old)
	for _, text := range slices.Concat(foreign, ours) {
		local := slices.Contains(ours, text)
		check := func(what string, a apptest.Response, granted, refused int, code string) {
			t.Helper()
			status := granted
			if !local {
				status = refused
			}
			if a.Status != status || !local && a.Code() != code {
				t.Errorf("%s with %q: %d %s, want %d (%s if refused)", what, text, a.Status, a.Body, status, code)
			}
		}
		if a := s.do(http.MethodPost, "/mailboxes", "", nil, having(text)); a.Status != 201 || (a.Header.Get("RateLimit") == "") != local {
			t.Errorf("POST /mailboxes with %q: %d, RateLimit %q; want 201 with a limit: %t", text, a.Status, a.Header.Get("RateLimit"), !local)
		}
		check("GET /keys/mailboxes", s.do(http.MethodGet, "/keys/mailboxes", devKey, nil, having(text)), 200, 403, "auth.address_not_allowed")
		check("GET /mailboxes/me", s.do(http.MethodGet, "/mailboxes/me", box.Token, nil, having(text)), 200, 403, "auth.address_not_allowed")
		created := s.do(http.MethodPost, "/me/webhooks", u, hook, having(text))
		check("POST /me/webhooks", created, 201, 422, "webhook.url_forbidden")
		check("PATCH /me/webhooks/{id}", s.do(http.MethodPatch, "/me/webhooks/"+old.ID, other, fields{"url": "http://127.0.0.1:9/z"}, having(text)), 200, 422, "webhook.url_forbidden")
		if created.Status == 201 {
			var w struct{ ID string }
			created.Into(t, &w)
			s.call(http.MethodDelete, "/me/webhooks/"+w.ID, u, 204, "")
		}
	}
	a := s.do(http.MethodGet, "/keys/mailboxes", devKey, nil, having("Host: evil.example"))
	if text := string(a.Body); !strings.Contains(text, "evil.example") || !strings.Contains(text, "dev.hosts") {
		t.Errorf("the developer key by another name: %s, want a detail with the name and dev.hosts", text)
	}
}

// The tools of /mcp have the privileges of the request that calls them, and no more.
func TestToolsHavePrivilegesOfTheirRequest(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"http.trusted_proxies": "", "dev.hosts": "ci.example.net"}))
	const list = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_mailboxes", "arguments": {}}}`
	for _, text := range slices.Concat(foreign, ours) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(s.URL, "/api/v1")+"/mcp", strings.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+devKey)
		having(text)(r)
		a, err := s.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Result *struct{ IsError bool }
		}
		_ = json.Unmarshal(a.Body, &got) // a refusal of the request is text
		if served := a.Status == 200 && got.Result != nil && !got.Result.IsError; served != slices.Contains(ours, text) {
			t.Errorf("list_mailboxes with %q: %d %s, want a result: %t", text, a.Status, a.Body, slices.Contains(ours, text))
		}
	}
}

// statusOf makes a call and returns its status and its text. A WebSocket is closed.
func statusOf(t *testing.T, method, url, body, text string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	having(text)(r)
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s with %q: %v", method, url, text, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols {
		return res.StatusCode, ""
	}
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s with %q: %v", method, url, text, err)
	}
	return res.StatusCode, string(answer)
}

// Every operation of the Mailpit API, which asks for no credentials, is for local requests alone under every profile.
func TestMailpitServesLocalRequestsOnly(t *testing.T) {
	t.Parallel()
	const mail = `{"From": {"Email": "bank@bank.example"}, "To": [{"Email": "v@any.example"}], "Subject": "secret", "Text": "x"}`
	const socket = "Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Version: 13|Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==|"
	standard := settings{"compat.mailpit.addr": "127.0.0.1:0", "smtp.sink.domains": "*", "smtp.sink.account": "ada@example.org"}
	for profile, set := range map[string]settings{"dev": devSettings(nil), "standard": standard} {
		maps.Copy(set, settings{"http.trusted_proxies": "", "compat.mailpit.hosts": "ci.example.net"})
		s := startAccounts(t, set)
		s.account("ada@example.org")
		call := func(method, path, body, text string, want int) {
			t.Helper()
			got, answer := statusOf(t, method, s.Mailpit+path, body, text)
			if got != want || got == 403 && strings.Contains(answer, "secret") {
				t.Errorf("%s: %s %s with %q: %d %s, want %d", profile, method, path, text, got, answer, want)
			}
		}
		for _, text := range ours {
			call(http.MethodPost, "/api/v1/send", mail, text, 200)
			call(http.MethodPost, "/api/v1/send", mail, text+"|Content-Type: text/plain", 200) // as curl and old clients send it
			call(http.MethodGet, "/api/v1/message/latest", "", text, 200)
			call(http.MethodGet, "/api/events", "", socket+text, 101)
			call(http.MethodGet, "/", "", text, 200)
			call(http.MethodDelete, "/api/v1/messages", "", text, 200)
		}
		call(http.MethodPost, "/api/v1/send", mail, "", 200)
		for _, text := range foreign {
			for _, path := range []string{"/api/v1/info", "/api/v1/messages", "/api/v1/search?query=secret", "/api/v1/message/latest", "/api/v1/message/latest/raw", "/api/v2/messages", "/api/nothing"} {
				call(http.MethodGet, path, "", text, 403)
			}
			call(http.MethodPost, "/api/v1/send", mail, text+"|Content-Type: text/plain", 403)
			call(http.MethodPut, "/api/v1/messages", `{"Read": true}`, text, 403)
			for _, path := range []string{"/api/v1/tags", "/api/v1/webui", "/api/v1/messages/latest/download", "/api/v1/message/latest/raw?dl=1", "/api/v1/messages?limit=0"} {
				call(http.MethodGet, path, "", text, 403)
			}
			call(http.MethodPut, "/api/v1/tags", `{"IDs": [], "Tags": ["secret"]}`, text+"|Content-Type: text/plain", 403)
			call(http.MethodPut, "/api/v1/tags/a", `{"Name": "b"}`, text, 403)
			call(http.MethodDelete, "/api/v1/tags/a", "", text, 403)
			call(http.MethodPost, "/api/v1/message/latest/release", `{"To": ["v@any.example"]}`, text+"|Content-Type: text/plain", 403)
			call(http.MethodPut, "/api/v1/chaos", `{"Sender": {"Probability": 100}}`, text+"|Content-Type: text/plain", 403)
			call(http.MethodPost, "/api/v2/jim", "", text, 403)
			call(http.MethodDelete, "/api/v1/messages", "", text, 403)
			call(http.MethodDelete, "/api/v1/search?query=secret", "", text, 403)
			call(http.MethodOptions, "/api/v1/messages", "", text, 403)
			call(http.MethodGet, "/api/events", "", socket+text, 403)
		}
		// Another site may link to a page, but not frame it, nor read or change anything.
		const link = "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document"
		call(http.MethodGet, "/", "", link, 200)
		call(http.MethodGet, "/nothing", "", link, 404)
		call(http.MethodGet, "/view/latest.txt", "", link+"|Sec-Fetch-User: ?1", 200)
		call(http.MethodGet, "/", "", link+"|Host: evil.example", 403)
		call(http.MethodGet, "/", "", link+"|X-Forwarded-For: 203.0.113.9", 403)
		call(http.MethodGet, "/", "", strings.Replace(link, "document", "iframe", 1), 403)
		call(http.MethodGet, "/view/latest.html", "", "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", 403)
		call(http.MethodGet, "/api/v1/message/latest", "", link, 403)
		call(http.MethodDelete, "/api/v1/messages", "", link, 403)
		call(http.MethodPost, "/", "", link, 403)
		if _, answer := statusOf(t, http.MethodGet, s.Mailpit+"/api/v1/messages", "", "Host: evil.example"); !strings.Contains(answer, "evil.example") || !strings.Contains(answer, "compat.mailpit.hosts") {
			t.Errorf("%s: by another name: %q, want a sentence with the name and the key", profile, answer)
		}
	}
}

func TestMailTMIsCalledByAllowedNamesOnly(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]settings{
		"standard": {"base_url": "https://box.example.org"}, "dev": devSettings(nil), "with a host": {"base_url": "https://box.example.org", "compat.mailtm.hosts": "tm.example.net, 2001:db8::5"},
	} {
		m := startMailTM(t, set)
		call := func(text string, want int) {
			t.Helper()
			if got, answer := statusOf(t, http.MethodGet, m.MailTM+"/domains", "", text); got != want || want == 403 && !strings.Contains(answer, "compat.mailtm.hosts") {
				t.Errorf("%s: GET /domains with %q: %d %s, want %d", name, text, got, answer, want)
			}
		}
		for _, text := range []string{"", "Host: localhost:80", "Host: mailtm", "Host: 203.0.113.7", "Host: [::1]:8", "Origin: https://app.example", "Origin: null|Sec-Fetch-Site: cross-site", "X-Forwarded-For: 203.0.113.9"} {
			call(text, 200) // pages of any origin and any client may call it
		}
		for _, text := range []string{"Host: evil.example", "Host: a.2.0.192.in-addr.arpa", "Host: com", "X-Forwarded-Host: evil.example", "Host: tm.example.net.evil.example"} {
			call(text, 403)
		}
		allowed := map[string]int{"Host: box.example.org": 200, "Host: tm.example.net:443": 403}
		switch name {
		case "dev":
			allowed["Host: box.example.org"] = 403
		case "with a host":
			allowed["Host: tm.example.net:443"] = 200
		}
		for text, status := range allowed {
			call(text, status)
		}
		if got, answer := statusOf(t, http.MethodPost, m.MailTM+"/accounts", `{"address": "x@gonebox.localhost", "password": "secret1"}`, "Host: evil.example|Content-Type: application/json"); got != 403 || !strings.Contains(answer, "evil.example") {
			t.Errorf("%s: POST /accounts by another name: %d %s, want 403 with the name", name, got, answer)
		}
	}
}

// A web page can neither read metrics nor start profiles.
func TestMetricsAreNotForWebPages(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"metrics.hosts": "gonebox.mail.svc"})
	const profile = "/debug/pprof/profile?seconds=1"
	const link = "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document"
	for _, c := range []struct {
		path, text string
		want       int
	}{
		{"/metrics", "", 200},
		{"/metrics", "Host: gonebox.mail.svc:9090", 200},
		{"/metrics", "Host: gonebox:9090", 200},
		{"/metrics", "Host: 10.1.2.3:9090", 200},
		{"/debug/pprof/", "", 200},
		{"/debug/pprof/cmdline", "Sec-Fetch-Site: same-origin", 200},
		{"/metrics", link, 200},
		{"/debug/pprof/", link, 200},
		{"/debug/pprof/cmdline", link, 403},
		{profile, link, 403},
		{"/debug/pprof/trace?seconds=1", link, 403},
		{profile, "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: no-cors", 403},
		{"/debug/pprof/heap", "Origin: https://evil.example", 403},
		{"/debug/pprof/symbol", "Origin: null", 403},
		{"/metrics", "Host: evil.example", 403},
		{"/metrics", "Host: a.2.0.192.in-addr.arpa", 403},
		{profile, "Host: evil.example:9090", 403},
		{"/debug/pprof/", "Host: evil.example|" + link, 403},
		{"/metrics", "Origin: https://evil.example", 403},
		{"/nothing", "Host: evil.example", 403},
	} {
		got, answer := statusOf(t, http.MethodGet, s.Admin+c.path, "", c.text)
		if got != c.want || strings.HasPrefix(c.text, "Host: evil") && !(strings.Contains(answer, "evil.example") && strings.Contains(answer, "metrics.hosts")) {
			t.Errorf("GET %s with %q: %d %.200s, want %d (a refused Host with its name and metrics.hosts)", c.path, c.text, got, answer, c.want)
		}
	}
}

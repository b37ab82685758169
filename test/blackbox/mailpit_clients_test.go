package blackbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Where a path has latest, the parameter query selects among the mails.
func TestMailpitLatestIsTheNewestThatMatches(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for i, to := range []string{"ada", "bob", "ada", "carol"} {
		m.smtp("", fmt.Sprintf("From: app@company.test\r\nTo: %s@company.test\r\nSubject: mail %d\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>Number %d</p>\r\n", to, i, i), to+"@company.test")
	}
	for query, want := range map[string]string{
		"": "Number 3", "query=": "Number 3", "query=+": "Number 3", "query=to:ada@company.test": "Number 2", "query=to:bob": "Number 1", "query=subject:%22mail+0%22": "Number 0", "query=-to:carol": "Number 2", "query=before:2027-01-01&tz=Europe/Berlin": "Number 3",
	} {
		for _, path := range []string{"/view/latest", "/view/latest.html", "/view/latest.txt", "/api/v1/message/latest", "/api/v1/message/latest/raw"} {
			if a := m.ask(http.MethodGet, path+"?"+query, "", nil); !strings.Contains(string(a.Body), want) {
				t.Errorf("GET %s?%s: %s, want %q in it", path, query, a.Body, want)
			}
		}
	}
	newest := m.search("to:carol").Messages[0].ID
	for path, status := range map[string]int{
		"/view/latest?query=to:nothing": 404, "/view/latest.html?query=to:nothing": 404, "/api/v1/message/latest?query=to:nothing": 404, "/view/latest?query=after:soon": 400, "/view/latest?query=a&tz=Moon/Sea": 400,
		"/view/" + newest + "?query=to:ada": 200, // an identifier counts alone
	} {
		if a := m.try(http.MethodGet, path, "", nil); a.Status != status || status == 200 && !strings.Contains(string(a.Body), "Number 3") {
			t.Errorf("GET %s: %d %s, want %d", path, a.Status, a.Body, status)
		}
	}
}

// A page of another site cannot embed what the API responds with, even where browsers do not say which site calls.
func TestMailpitResponsesAreNotEmbeddedElsewhere(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("x", "", "ada@company.test")
	for _, path := range []string{"/", "/api/v1/messages", "/api/v1/message/latest/raw", "/view/latest", "/nothing"} {
		if got := m.try(http.MethodGet, path, "", nil).Header.Get("Cross-Origin-Resource-Policy"); got != "same-site" {
			t.Errorf("GET %s: Cross-Origin-Resource-Policy %q, want same-site", path, got)
		}
	}
}

// The client of MailHog sends no Accept, and parses what it gets as JSON.
func TestDeletingAllAnswersByAccept(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, c := range []struct {
		accept []string
		want   string
	}{{nil, ""}, {[]string{"*/*"}, "ok"}, {[]string{"application/json, text/plain, */*"}, "ok"}, {[]string{""}, "ok"}} {
		m.smtp("x", "", "ada@company.test")
		a := m.try(http.MethodDelete, "/api/v1/messages", "", func(r *http.Request) {
			r.Header.Del("Accept")
			for _, value := range c.accept {
				r.Header.Add("Accept", value)
			}
		})
		if a.Status != 200 || string(a.Body) != c.want {
			t.Errorf("DELETE /api/v1/messages with Accept %q: %d %q, want 200 %q", c.accept, a.Status, a.Body, c.want)
		}
		var f mailpitFrame
		if m.ask(http.MethodGet, "/api/v1/messages", "", &f); f.Total != 0 {
			t.Errorf("after DELETE /api/v1/messages with Accept %q: %d messages, want 0", c.accept, f.Total)
		}
	}
	if a := m.try(http.MethodDelete, "/api/v1/messages", "{", func(r *http.Request) { r.Header.Del("Accept") }); a.Status != 400 {
		t.Errorf("DELETE /api/v1/messages with a body that is no JSON: %d, want 400", a.Status)
	}
}

// A message that is not there is an empty response for the client of MailHog, and a text for others.
func TestMissingMessageAnswersByAccept(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("x", "", "ada@company.test")
	id := m.search("subject:x").Messages[0].ID
	m.ask(http.MethodDelete, "/api/v1/messages/"+id, "", nil)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for _, name := range []string{id, "unknown"} {
			for _, accept := range []string{"", "*/*"} {
				a := m.try(method, "/api/v1/messages/"+name, "", func(r *http.Request) {
					if r.Header.Del("Accept"); accept != "" {
						r.Header.Set("Accept", accept)
					}
				})
				if a.Status != 404 || (len(a.Body) > 0) != (accept != "") {
					t.Errorf("%s /api/v1/messages/%s with Accept %q: %d %q, want 404 with a text: %t", method, name, accept, a.Status, a.Body, accept != "")
				}
			}
		}
	}
	if a := m.try(http.MethodGet, "/api/v1/message/"+id, "", nil); a.Status != 404 || len(a.Body) == 0 {
		t.Errorf("GET /api/v1/message/%s, an operation of Mailpit: %d %q, want 404 with a text", id, a.Status, a.Body)
	}
	if a := m.try(http.MethodGet, "/api/v1/messages/"+id, "", having("Host: evil.example")); a.Status != 403 || len(a.Body) == 0 {
		t.Errorf("GET /api/v1/messages/%s by another name: %d %q, want 403 with a reason", id, a.Status, a.Body)
	}
}

// The text of a mail without a text part has the addresses of its links. A text part is shown as it was sent.
func TestMailpitTextHasAddressesOfLinks(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	const html = `<p>Hello, <a href="https://app.example/verify?a=1&amp;b=2">verify your address</a>.</p><p><a href="https://app.example/help">https://app.example/help</a></p>`
	const head = "From: app@company.test\r\nTo: ada@company.test\r\nSubject: %s\r\nMIME-Version: 1.0\r\n"
	m.smtp("", fmt.Sprintf(head, "html")+"Content-Type: text/html\r\n\r\n"+html+"\r\n", "ada@company.test")
	m.smtp("", fmt.Sprintf(head, "both")+"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello, open the page.\r\n--b\r\nContent-Type: text/html\r\n\r\n"+html+"\r\n--b--\r\n", "ada@company.test")
	for subject, want := range map[string]string{
		"html": "Hello, verify your address ( https://app.example/verify?a=1&b=2 ).\n\nhttps://app.example/help", "both": "Hello, open the page.",
	} {
		id := m.search("subject:" + subject).Messages[0].ID
		var d mailpitMessage
		m.ask(http.MethodGet, "/api/v1/message/"+id, "", &d)
		if got := strings.TrimSpace(d.Text); got != want {
			t.Errorf("Text of the mail %s: %q, want %q", subject, got, want)
		}
		if got := strings.TrimSpace(string(m.ask(http.MethodGet, "/view/"+id+".txt", "", nil).Body)); got != want {
			t.Errorf("GET /view/%s.txt of the mail %s: %q, want %q", id, subject, got, want)
		}
	}
}

func TestMailHogSearchesBothSenders(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("", "From: \"The Shop\" <shop@store.test>\r\nTo: ada@company.test\r\nSubject: a\r\n\r\nx\r\n", "ada@company.test") // its envelope has app@company.test
	for query, want := range map[string]int{
		"shop@store.test": 1, "The Shop": 1, "app@company.test": 1, "APP@Company": 1, "company": 1, "ada@company.test": 0, "<app@company.test>": 0, "shop@store.testapp": 0, "": 1,
	} {
		var list struct{ Total int }
		if m.ask(http.MethodGet, "/api/v2/search?kind=from&query="+url.QueryEscape(query), "", &list); list.Total != want {
			t.Errorf("search of kind from for %q: %d messages, want %d", query, list.Total, want)
		}
	}
	if f := m.search("from:app@company.test"); f.MessagesCount != 0 {
		t.Errorf("Mailpit's search from:app@company.test: %d messages, want 0, since it is that of the header", f.MessagesCount)
	}
}

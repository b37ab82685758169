package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// A list and a search go on before a time: that of the last message of a page, as Mailpit's page has it, or one in another form.
func TestMailpitListsBeforeATime(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, subject := range []string{"one", "two", "three"} {
		m.smtp(subject, "", "ada@company.test")
		m.Clock.Advance(time.Hour)
	}
	all := m.search("code").Messages
	if len(all) != 3 {
		t.Fatalf("%d messages, want 3", len(all))
	}
	two := all[1].Created
	for before, want := range map[string]string{
		all[0].Created.Format(time.RFC3339Nano): "two one", all[2].Created.Format(time.RFC3339Nano): "",
		fmt.Sprint(two.Unix() + 1): "two one", fmt.Sprint(two.UnixMilli() + 1000): "two one", fmt.Sprint(two.Unix() - 1): "one",
		two.Add(-time.Minute).Format("2006-01-02 15:04:05"): "one", "2030-01-01": "three two one", "1 Jan 2020": "", "0": "",
	} {
		for _, path := range []string{"/api/v1/messages?", "/api/v1/search?query=code&"} {
			var f mailpitFrame
			m.ask(http.MethodGet, path+"before="+url.QueryEscape(before), "", &f)
			matches := 3
			if strings.Contains(path, "search") {
				matches = len(strings.Fields(want))
			}
			if got := m.subjects(f); got != want || f.Total != 3 || f.MessagesCount != matches {
				t.Errorf("GET %sbefore=%s: %s of %d, %d match; want %s of 3, %d", path, before, got, f.Total, f.MessagesCount, want, matches)
			}
		}
	}
	zoned := two.In(time.FixedZone("", 9*3600)).Add(time.Second).Format("2006-01-02T15:04:05")
	var f mailpitFrame
	if m.ask(http.MethodGet, "/api/v1/messages?tz=Asia/Tokyo&limit=1&before="+zoned, "", &f); m.subjects(f) != "two" {
		t.Errorf("GET /api/v1/messages?tz=Asia/Tokyo&limit=1&before=%s: %s, want two", zoned, m.subjects(f))
	}
	for _, query := range []string{"before=soon", "before=99999999999999999999", "before=-1", "before=2026-03-14&tz=../etc/passwd", "limit=-1"} {
		if a := m.try(http.MethodGet, "/api/v1/messages?"+query, "", nil); a.Status != 400 {
			t.Errorf("GET /api/v1/messages?%s: %d %s, want 400", query, a.Status, a.Body)
		}
	}
}

// limit=0 lists all messages, also more than a page may have.
func TestMailpitListsAll(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, settings{"limits.smtp_messages": "100000/1m"})
	const mails = 1100
	for i := range mails {
		m.smtp(fmt.Sprint("mail", i), "", "ada@company.test")
	}
	var f mailpitFrame
	m.ask(http.MethodGet, "/api/v1/messages?limit=0", "", &f)
	if f.Count != mails || len(f.Messages) != mails || f.Total != mails || f.Messages[0].Subject != fmt.Sprint("mail", mails-1) || f.Messages[mails-1].Subject != "mail0" {
		t.Errorf("GET /api/v1/messages?limit=0: %d of %d messages, want all %d, newest first", len(f.Messages), f.Total, mails)
	}
	for path, want := range map[string]int{
		"/api/v1/messages?limit=5000": 1000, "/api/v1/messages": 50, "/api/v1/messages?limit=0&start=7": mails, "/api/v1/search?query=code&limit=0": 0, "/api/v1/messages?limit=": 50,
	} {
		if m.ask(http.MethodGet, path, "", &f); len(f.Messages) != want || f.MessagesCount != mails {
			t.Errorf("GET %s: %d messages of %d, want %d of %d", path, len(f.Messages), f.MessagesCount, want, mails)
		}
	}
	var hog struct{ Total, Count int }
	if m.ask(http.MethodGet, "/api/v2/messages?limit=0", "", &hog); hog.Count != 50 {
		t.Errorf("GET /api/v2/messages?limit=0: %d messages, want 50 as from MailHog", hog.Count)
	}
}

// What Mailpit's page asks for has the members that it reads.
func TestMailpitPageIsConfigured(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	var config map[string]any
	m.ask(http.MethodGet, "/api/v1/webui", "", &config)
	for _, name := range []string{"SpamAssassin", "DuplicatesIgnored", "HideDeleteAllButton"} {
		if config[name] != false {
			t.Errorf("GET /api/v1/webui: %s is %v, want false", name, config[name])
		}
	}
	relay, _ := config["MessageRelay"].(map[string]any)
	if relay["Enabled"] != false || relay["SMTPServer"] != "" {
		t.Errorf("GET /api/v1/webui: MessageRelay is %v, want none enabled", config["MessageRelay"])
	}
	m.smtp("hello", "", "ada@company.test")
	id := m.search("code").Messages[0].ID
	for path, want := range map[string]int{"/api/v1/message/" + id + "/release": 400, "/api/v1/message/nothing/release": 404} {
		if a := m.try(http.MethodPost, path, `{"To":["ada@company.test"]}`, nil); a.Status != want || len(a.Body) == 0 {
			t.Errorf("POST %s: %d %s, want %d with a reason", path, a.Status, a.Body, want)
		}
	}
	// The page is loaded again where an event has another version than the page.
	var info struct{ Version string }
	m.ask(http.MethodGet, "/api/v1/info", "", &info)
	s := m.follow()
	m.smtp("another", "", "ada@company.test")
	for range 2 {
		_, payload, err := s.frame()
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Type string
			Data struct{ Version string }
		}
		if err := json.Unmarshal(payload, &e); err != nil || e.Type == "stats" && e.Data.Version != info.Version {
			t.Errorf("event %s: %v, want the version %s", payload, err, info.Version)
		}
	}
}

func TestRawMessagesAreFiles(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("hello", "", "ada@company.test")
	id := m.search("code").Messages[0].ID
	raw := m.ask(http.MethodGet, "/api/v1/message/latest/raw", "", nil)
	for path, want := range map[string][2]string{
		"/api/v1/message/" + id + "/raw":       {"text/plain; charset=utf-8", ""},
		"/api/v1/message/" + id + "/raw?dl=1":  {"text/plain; charset=utf-8", `attachment; filename="` + id + `.eml"`},
		"/api/v1/message/latest/raw?dl=1":      {"text/plain; charset=utf-8", `attachment; filename="` + id + `.eml"`},
		"/api/v1/messages/" + id + "/download": {"message/rfc822", `attachment; filename="` + id + `.eml"`},
	} {
		a := m.ask(http.MethodGet, path, "", nil)
		if got := [2]string{a.Header.Get("Content-Type"), a.Header.Get("Content-Disposition")}; got != want || string(a.Body) != string(raw.Body) {
			t.Errorf("GET %s: %q and %d octets, want %q and the raw message", path, got, len(a.Body), want)
		}
	}
	if a := m.try(http.MethodGet, "/api/v1/messages/nothing/download", "", nil); a.Status != 404 {
		t.Errorf("GET /api/v1/messages/nothing/download: %d, want 404", a.Status)
	}
}

// PartID is the position in the tree of parts, with the numbers that Mailpit gives.
func TestMailpitNumbersParts(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	part := func(header, body string) string { return header + "\r\n\r\n" + body + "\r\n" }
	multi := func(kind, boundary string, parts ...string) string {
		return "Content-Type: multipart/" + kind + "; boundary=" + boundary + "\r\n\r\n--" + boundary + "\r\n" + strings.Join(parts, "--"+boundary+"\r\n") + "--" + boundary + "--\r\n"
	}
	text, html := part("Content-Type: text/plain", "hello"), part("Content-Type: text/html", "<img src=cid:l@x>")
	logo := part("Content-Type: image/png\r\nContent-ID: <l@x>\r\nContent-Disposition: inline; filename=logo.png", "logo")
	file := func(name string) string {
		return part("Content-Type: application/pdf\r\nContent-Disposition: attachment; filename="+name, name)
	}
	for _, c := range []struct{ what, raw, want string }{
		{"text and files", multi("mixed", "a", text, file("x.pdf"), file("y.pdf")), "x.pdf=2 y.pdf=3"},
		{"files before the text", multi("mixed", "a", file("x.pdf"), text), "x.pdf=1"},
		{"an image of the HTML", multi("mixed", "a", multi("related", "b", multi("alternative", "c", text, html), logo), file("x.pdf")), "logo.png=1.2 x.pdf=2"},
		{"nested", multi("mixed", "a", multi("mixed", "b", multi("mixed", "c", file("deep.pdf"), file("deeper.pdf")))), "deep.pdf=1.1.1 deeper.pdf=1.1.2"},
		{"nothing but a file", part("Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=x.pdf", "x.pdf"), "x.pdf=0"},
	} {
		m.smtp("", "From: app@company.test\r\nSubject: parts\r\nMIME-Version: 1.0\r\n"+c.raw, "ada@company.test")
		var d mailpitMessage
		m.ask(http.MethodGet, "/api/v1/message/latest", "", &d)
		var got []string
		for _, f := range slices.Concat(d.Inline, d.Attachments) {
			got = append(got, f.FileName+"="+f.PartID)
			a := m.ask(http.MethodGet, "/api/v1/message/latest/part/"+f.PartID, "", nil)
			if want := strings.TrimSuffix(f.FileName, ".png"); !strings.HasPrefix(string(a.Body), want) {
				t.Errorf("%s: part %s is %q, want %s", c.what, f.PartID, a.Body, want)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: the parts are %s, want %s", c.what, strings.Join(got, " "), c.want)
		}
		for _, part := range []string{"9", "1.9", "01", "x", "2."} {
			if a := m.try(http.MethodGet, "/api/v1/message/latest/part/"+part, "", nil); a.Status != 404 {
				t.Errorf("%s: GET part %s: %d, want 404", c.what, part, a.Status)
			}
		}
	}
}

// Messages are released through the relay, to the addresses that it allows and no oftener than its limit says, although the clients
// of the API are local.
func TestMailpitReleasesThroughTheRelay(t *testing.T) {
	t.Parallel()
	relay := apptest.NewRelay(t)
	m := startMailpit(t, settings{
		"relay.url": "smtp://" + relay.Addr, "relay.from": "Gonebox <no-reply@box.example>", "relay.allow": "ops@company.example, *@team.example", "limits.release": "3/1h",
	})
	m.smtp("hello", "", "ada@company.test")
	id := m.search("code").Messages[0].ID
	release := func(path, body string, status int) {
		t.Helper()
		a := m.try(http.MethodPost, "/api/v1/message/"+path+"/release", body, nil)
		if a.Status != status || status == 200 && string(a.Body) != "ok" || status != 200 && len(a.Body) == 0 {
			t.Errorf("POST /api/v1/message/%s/release %.80s: %d %s, want %d", path, body, a.Status, a.Body, status)
		}
	}
	for _, body := range []string{
		`{"To":["eve@elsewhere.example"]}`, `{"To":["ops@company.example, eve@elsewhere.example"]}`, `{"To":["ops@company.example\r\nRCPT TO:<eve@elsewhere.example>"]}`,
		`{"To":["Ops <ops@company.example>"]}`, `{"To":[]}`, `{}`, `{"To":"ops@company.example"}`, ``, `{"To":["` + strings.Repeat("a", 300) + `@team.example"]}`,
		`{"To":[` + strings.Repeat(`"ops@company.example",`, 100) + `"ops@company.example"]}`,
	} {
		release(id, body, 400)
	}
	release("nothing", `{"To":["ops@company.example"]}`, 404)
	release("latest", `{"To":["ops@company.example","dev@team.example"]}`, 200)
	eventually(t, "two mails at the relay", func() bool { return len(relay.Mails()) == 2 })
	for _, got := range relay.Mails() {
		if got.From != "no-reply@box.example" || !strings.Contains(string(got.Data), "Your code is 246810.") {
			t.Errorf("the relay got a mail from %q: %.200s, want the message from no-reply@box.example", got.From, got.Data)
		}
	}
	release(id, `{"To":["ops@company.example"]}`, 200)
	release(id, `{"To":["ops@company.example"]}`, 429)
	var config struct {
		MessageRelay struct {
			Enabled    bool
			ReturnPath string
		}
	}
	if m.ask(http.MethodGet, "/api/v1/webui", "", &config); !config.MessageRelay.Enabled || config.MessageRelay.ReturnPath != "no-reply@box.example" {
		t.Errorf("GET /api/v1/webui with a relay: %+v, want it enabled with the sender", config)
	}
}

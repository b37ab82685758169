package blackbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// tm is a service with the mail.tm API.
type tm struct {
	*service
	accept, bearer string
}

func startMailTM(t *testing.T, more settings) *tm {
	t.Helper()
	set := settings{"compat.mailtm.addr": "127.0.0.1:0", "compat.mailtm.limit": "100000/1m", "account.password.memory": "8KiB"}
	maps.Copy(set, more)
	return &tm{service: startAccounts(t, set), accept: "application/json"}
}

func (m *tm) request(method, path, body string) *http.Response {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.MailTM+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Accept", m.accept)
	r.Header.Set("Authorization", "Bearer "+m.bearer)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return res
}

func (m *tm) ask(method, path, body string, status int) apptest.Response {
	m.t.Helper()
	res := m.request(method, path, body)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		m.t.Fatalf("%s %s: %d %s, %v; want %d", method, path, res.StatusCode, text, err, status)
	}
	return apptest.Response{Request: method + " " + path + " " + body, Status: res.StatusCode, Header: res.Header, Body: text}
}

func (m *tm) object(method, path, body string, status int) (v map[string]any) {
	m.t.Helper()
	a := m.ask(method, path, body, status)
	if err := json.Unmarshal(a.Body, &v); err != nil {
		m.t.Fatalf("%s %s: %v in %s", method, path, err, a.Body)
	}
	return v
}

// open creates an account and gets its token.
func (m *tm) open(local string) (address, account string) {
	m.t.Helper()
	var domains []struct{ ID, Domain string }
	if err := json.Unmarshal(m.ask(http.MethodGet, "/domains?page=1", "", 200).Body, &domains); err != nil || len(domains) == 0 {
		m.t.Fatalf("GET /domains?page=1 = %v, %v, want some", domains, err)
	}
	address = local + "@" + domains[0].Domain
	body := fmt.Sprintf(`{"address":%q,"password":"secret"}`, address)
	created := m.object(http.MethodPost, "/accounts", body, 201)
	token := m.object(http.MethodPost, "/token", body, 200)
	if created["address"] != address || created["quota"] != 4e7 || token["id"] != created["id"] || created["@id"] != nil {
		m.t.Errorf("POST /accounts = %v and POST /token = %v, want %s with a quota of 4e7, and the identifier %v in the latter, without JSON-LD", created, token, address, created["id"])
	}
	m.bearer = token["token"].(string)
	return address, created["id"].(string)
}

const tmMail = "From: \"Shop\" <shop@store.test>\r\nTo: <%s>\r\nMessage-ID: <one@store.test>\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n" +
	"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nYour code is 246810.\r\n" +
	"--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\n\r\ncontent\r\n--b--\r\n"

func (m *tm) receive(address string) {
	m.t.Helper()
	m.Send(apptest.Mail{From: "shop@store.test", To: []string{address}, Raw: fmt.Appendf(nil, tmMail, address)})
}

func TestMailTMReadsMail(t *testing.T) {
	t.Parallel()
	m := startMailTM(t, nil)
	address, account := m.open("da.tm")
	m.receive(address)
	var list []map[string]any
	if err := json.Unmarshal(m.ask(http.MethodGet, "/messages", "", 200).Body, &list); err != nil || len(list) != 1 {
		t.Fatalf("GET /messages = %v, %v, want one", list, err)
	}
	one := list[0]
	path := "/messages/" + one["id"].(string)
	if one["accountId"] != "/accounts/"+account || one["msgid"] != "<one@store.test>" || one["seen"] != false || one["hasAttachments"] != true ||
		one["downloadUrl"] != path+"/download" || !strings.HasSuffix(one["createdAt"].(string), ":00+00:00") {
		t.Errorf("GET /messages has %v, want <one@store.test> of %s, unseen, with attachments and the download %s", one, "/accounts/"+account, path+"/download")
	}
	for _, again := range []bool{false, false} { // reading does not mark it
		full := m.object(http.MethodGet, path, "", 200)
		if full["seen"] != again || full["verifications"] != nil || full["text"] == "" || fmt.Sprint(full["html"]) != "[]" || fmt.Sprint(full["bcc"]) != "[]" {
			t.Errorf("GET %s = %v, want seen %t, a text, and no HTML, Bcc or verifications", path, full, again)
		}
		file := full["attachments"].([]any)[0].(map[string]any)
		if a := m.ask(http.MethodGet, file["downloadUrl"].(string), "", 200); string(a.Body) != "content" || file["disposition"] != "attachment" {
			t.Errorf("GET the attachment %v = %s, want content, to be saved as a file", file, a.Body)
		}
	}
	if v := m.object(http.MethodPatch, path, `{"seen":true}`, 200); v["seen"] != true || len(v) != 1 {
		t.Errorf("PATCH %s = %v, want seen alone", path, v)
	}
	m.object(http.MethodPatch, path, `{"seen":false}`, 200)
	if v := m.object(http.MethodGet, "/sources/"+one["id"].(string), "", 200); !strings.Contains(v["data"].(string), "Message-ID: <one@store.test>") {
		t.Errorf("GET /sources/%s = %v, want Message-ID: <one@store.test> in it", one["id"], v)
	}
	if a := m.ask(http.MethodGet, path+"/download", "", 200); a.Header.Get("Content-Type") != "message/rfc822" {
		t.Errorf("GET %s/download: the header is %v, want message/rfc822", path, a.Header)
	}
	if v := m.object(http.MethodGet, "/me", "", 200); v["used"].(float64) < 100 || v["id"] != account {
		t.Errorf("GET /me = %v, want %s with at least 100 octets used", v, account)
	}
	m.accept = "*/*"
	page := m.object(http.MethodGet, "/messages", "", 200)
	if page["@type"] != "hydra:Collection" || page["hydra:totalItems"] != 1.0 || page["hydra:view"] != nil || page["hydra:member"].([]any)[0].(map[string]any)["@id"] != path {
		t.Errorf("GET /messages as JSON-LD = %v, want a collection of one, %s, without a view", page, path)
	}
	if v := m.object(http.MethodGet, path, "", 200); v["@type"] != "Message" || v["verifications"].(map[string]any)["spf"] == nil {
		t.Errorf("GET %s as JSON-LD = %v, want a message with the verification of SPF", path, v)
	}
	if a := m.ask(http.MethodDelete, path, "", 204); a.Header.Get("Content-Type") != "" {
		t.Errorf("DELETE %s: the header is %v, want no Content-Type", path, a.Header)
	}
	m.ask(http.MethodGet, path, "", 404)
	m.Clock.Advance(20 * time.Hour) // longer than the rest of the first day, as each use extends it
	m.ask(http.MethodGet, "/me", "", 200)
	m.Clock.Advance(20 * time.Hour)
	m.ask(http.MethodGet, "/me", "", 200)
	m.ask(http.MethodDelete, "/accounts/"+account, "", 204)
	m.ask(http.MethodGet, "/me", "", 401)
}

func TestMailTMRefusals(t *testing.T) {
	t.Parallel()
	m := startMailTM(t, nil)
	address, _ := m.open("bob")
	domain := address[strings.IndexByte(address, '@'):]
	guest := m.NewMailbox()
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{http.MethodPost, "/accounts", `{"address":"` + address + `","password":"secret"}`, 422, "address: This value is already used."},
		{http.MethodPost, "/accounts", `{"address":"postmaster` + domain + `","password":"secret"}`, 422, "reserved"},
		{http.MethodPost, "/accounts", `{"address":"Administrator` + domain + `","password":"secret"}`, 422, "reserved"},
		{http.MethodPost, "/accounts", `{"address":"ssl-admin` + domain + `","password":"secret"}`, 422, "reserved"},
		{http.MethodPost, "/accounts", `{"address":"ann.` + domain + `","password":"secret"}`, 422, "not valid"},
		{http.MethodPost, "/accounts", `{"address":"a@unknown.test","password":"secret"}`, 422, "domain"},
		{http.MethodPost, "/accounts", `{"address":"a b` + domain + `","password":"secret"}`, 422, "not valid"},
		{http.MethodPost, "/accounts", `{"address":"bob","password":"secret"}`, 422, "email"},
		{http.MethodPost, "/accounts", `{"address":"c` + domain + `"}`, 422, "password: This value should not be blank."},
		{http.MethodPost, "/accounts", ``, 400, "body"},
		{http.MethodPost, "/token", `{"address":"` + address + `","password":"other"}`, 401, `{"code":401,"message":"Invalid credentials."}`},
		{http.MethodPost, "/token", `{"address":"` + guest.Address + `","password":""}`, 401, "Invalid credentials."},
		{http.MethodPost, "/token", `{"address":"unused` + domain + `","password":"other"}`, 401, "Invalid credentials."},
		{http.MethodGet, "/messages?page=0", ``, 400, "page"},
		{http.MethodGet, "/messages/unknown", ``, 404, "Not Found"},
		{http.MethodGet, "/sources/unknown", ``, 404, "Not Found"},
		{http.MethodGet, "/accounts/unknown", ``, 404, "Not Found"},
		{http.MethodGet, "/domains/unknown", ``, 404, "Not Found"},
		{http.MethodGet, "/unknown", ``, 404, "Not Found"},
		{http.MethodGet, "/.well-known/mercure?topic=/accounts/other", ``, 404, "Not Found"},
	} {
		a := m.ask(c.method, c.path, c.body, c.status)
		if !strings.Contains(string(a.Body), c.says) || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s %s: %s %s, want JSON with %q", c.method, c.path, a.Header.Get("Content-Type"), a.Body, c.says)
		}
	}
	for bearer, says := range map[string]string{"": "JWT Token not found", "xm_x": "Invalid JWT Token"} {
		m.bearer = bearer
		if a := m.ask(http.MethodGet, "/me", "", 401); !strings.Contains(string(a.Body), says) {
			t.Errorf("GET /me with the token %q = %s, want %q in it", bearer, a.Body, says)
		}
	}
}

func TestMailTMLimitsAndClosedGuests(t *testing.T) {
	t.Parallel()
	m := startMailTM(t, settings{"compat.mailtm.limit": "2/1s", "access.guests": "off"})
	m.ask(http.MethodPost, "/accounts", `{"address":"a@b.test","password":"secret"}`, 403)
	m.ask(http.MethodGet, "/domains", "", 200)
	if a := m.ask(http.MethodGet, "/domains", "", 429); a.Header.Get("Retry-After") != "1" {
		t.Errorf("GET /domains over its limit: the header is %v, want Retry-After: 1", a.Header)
	}
}

func TestMailTMStreamsEvents(t *testing.T) {
	t.Parallel()
	m := startMailTM(t, nil)
	address, account := m.open("cleo")
	res := m.request(http.MethodGet, "/.well-known/mercure?topic=/accounts/"+account, "")
	defer res.Body.Close()
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET /.well-known/mercure of the account: %d %v, want 200 and an event stream", res.StatusCode, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	next := func() (s struct {
		Type      string `json:"@type"`
		ID        string
		AccountID string
		Seen      bool
		IsDeleted bool
	},
	) {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(text), &s); err != nil {
					t.Fatal(err)
				}
				return s
			}
		}
		t.Fatalf("the stream ended with %v, want an event", lines.Err())
		return s
	}
	m.receive(address)
	came := next()
	if came.Type != "Message" || came.AccountID != "/accounts/"+account || came.Seen || came.IsDeleted {
		t.Errorf("the event of the new message is %+v, want it of %s, unseen and not deleted", came, "/accounts/"+account)
	}
	m.ask(http.MethodPatch, "/messages/"+came.ID, `{"seen":true}`, 200)
	if s := next(); s.ID != came.ID || !s.Seen || s.IsDeleted {
		t.Errorf("the event of the message read is %+v, want %s, seen and not deleted", s, came.ID)
	}
	m.ask(http.MethodDelete, "/messages/"+came.ID, "", 204)
	if s := next(); s.ID != came.ID || !s.IsDeleted {
		t.Errorf("next() = %+v, want ID %v and IsDeleted true", s, came.ID)
	}
}

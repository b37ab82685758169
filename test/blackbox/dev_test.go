package blackbox_test

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// devKey is a developer key that the tests configure; it opens nothing elsewhere.
const devKey = "x_ar71pbq8b0_YYr1twATtvBfi5SsMDZrMRZ3N5tlgx7lxpU1gKChkju4YHnhf"

// stranger is a public address.
const stranger = "203.0.113.9"

// devSettings are those of profile: dev on ports of the test, behind a proxy that can tell any address.
func devSettings(more settings) settings {
	s := settings{
		"profile": "dev", "base_url": "http://gonebox.localhost", "dev.key": devKey, "compat.mailpit.addr": "127.0.0.1:0",
		"http.trusted_proxies": "127.0.0.1/32", "smtp.trusted_proxies": "127.0.0.1/32",
	}
	maps.Copy(s, more)
	return s
}

// from makes a request come from a client behind the trusted proxy.
func from(client string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("X-Forwarded-For", client) }
}

// smtpFrom opens an SMTP connection of a client behind the trusted load balancer.
func (s *service) smtpFrom(client string) *textproto.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.SMTP)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	header := "PROXY TCP4 %s 127.0.0.1 40000 25\r\n"
	if strings.Contains(client, ":") {
		header = "PROXY TCP6 %s ::1 40000 25\r\n"
	}
	if _, err := fmt.Fprintf(conn, header, client); err != nil {
		s.t.Fatal(err)
	}
	c := textproto.NewConn(conn)
	reply(s.t, c, 220, "")
	return c
}

// reply sends a line, unless it is empty, and returns the text of the reply, which must have the code.
func reply(t testing.TB, c *textproto.Conn, code int, line string) string {
	t.Helper()
	if line != "" {
		if err := c.PrintfLine("%s", line); err != nil {
			t.Fatal(err)
		}
	}
	got, text, err := c.ReadResponse(code)
	if err != nil {
		t.Errorf("%q: %d %s, want %d", line, got, text, code)
	}
	return text
}

// authenticate sends the lines of an AUTH command, each but the last of which is answered 334, and the last with the code.
func authenticate(t testing.TB, c *textproto.Conn, code int, lines []string) {
	t.Helper()
	for i, line := range lines {
		if i < len(lines)-1 {
			reply(t, c, 334, line)
		} else {
			reply(t, c, code, line)
		}
	}
}

// drop sends a mail to recipients and returns the code of the reply to the last RCPT, which ends it where it is not 250.
func drop(t testing.TB, c *textproto.Conn, subject string, to ...string) {
	t.Helper()
	reply(t, c, 250, "MAIL FROM:<app@company.test>")
	for _, address := range to {
		reply(t, c, 250, "RCPT TO:<"+address+">")
	}
	reply(t, c, 354, "DATA")
	reply(t, c, 250, "From: App <app@company.test>\r\nTo: "+to[0]+"\r\nSubject: "+subject+"\r\n\r\nYour sign-in code is 246810.\r\n.")
}

type keyMailbox struct{ ID, Address, Source string }

func TestSinkOpensMailboxesForEveryAddress(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	c := s.smtpFrom("192.168.7.7")
	reply(t, c, 250, "EHLO app")
	drop(t, c, "one", "Admin+tag@company.test", `"a b"@other.example`, "root@app")
	drop(t, c, "two", "admin@company.test")
	boxes := get[[]keyMailbox](s, "/keys/mailboxes", devKey)
	var addresses []string
	for _, b := range boxes {
		if addresses = append(addresses, b.Address); b.Source != "sink" {
			t.Errorf(`source %q of %s, want Source "sink"`, b.Source, b.Address)
		}
		if b.Address == "admin@company.test" {
			if m := get[[]summary](s, "/keys/mailboxes/"+b.ID+"/messages", devKey); len(m) != 2 || m[0].Subject != "two" || m[1].OTP == nil {
				t.Errorf("GET /keys/mailboxes/%s/messages = %+v, want two, the newest first, and a code in the older", b.ID, m)
			}
		}
	}
	slices.Sort(addresses)
	if got := strings.Join(addresses, " "); got != "a b@other.example admin@company.test root@app" {
		t.Errorf(`mailboxes %s, want "a b@other.example admin@company.test root@app"`, got)
	}
	reply(t, c, 250, "MAIL FROM:<app@company.test>")
	reply(t, c, 550, "RCPT TO:<nobody@gonebox.localhost>") // served domains stay strict
}

// An address of the sink can be waited for before its first mail: its mailbox is opened, or found if mail came first.
func TestSinkMailboxIsOpenedBeforeItsMail(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	params := fields{"localPart": "new.user", "domain": "Company.test"}
	var guest, key, late mailbox
	created := s.Call(http.MethodPost, "/mailboxes", "", params)
	want(t, created, 201, "")
	created.Into(t, &guest)
	code := s.waiting("/mailboxes/me/otp/latest?wait=60", guest.Token)
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	drop(t, c, "one", "New.User+tag@company.test")
	want(t, code(), 200, "")
	again := s.Call(http.MethodPost, "/keys/mailboxes", devKey, params)
	want(t, again, 201, "")
	if again.Into(t, &key); key.ID != guest.ID || key.Address != "new.user@company.test" || key.MessageCount != 1 {
		t.Errorf("POST /keys/mailboxes with %v: %s, want the mailbox %s with a message", params, again.Body, guest.ID)
	}
	drop(t, c, "two", "early@other.example")
	s.Call(http.MethodPost, "/mailboxes", "", fields{"localPart": "early", "domain": "other.example"}).Into(t, &late)
	if m := get[[]summary](s, "/mailboxes/me/messages", late.Token); len(m) != 1 || m[0].Subject != "two" {
		t.Errorf("messages of early@other.example, whose mail came first: %+v, want it", m)
	}
	boxes := get[[]keyMailbox](s, "/keys/mailboxes", devKey)
	if len(boxes) != 2 || boxes[0].Source != "sink" || boxes[1].Source != "sink" {
		t.Errorf("mailboxes of the sink's account: %+v, want two of the source sink", boxes)
	}
	var random mailbox
	s.Call(http.MethodPost, "/mailboxes", "", fields{"domain": "random.example", "ttl": 60}).Into(t, &random)
	if !strings.HasSuffix(random.Address, "@random.example") || random.ExpiresAt.Sub(s.Clock.Now()) > time.Minute {
		t.Errorf("POST /mailboxes with a domain of the sink and a ttl: %+v, want an address there for a minute", random)
	}
	want(t, s.Call(http.MethodPost, "/mailboxes", "", fields{"domain": "random.example", "ttl": 400 * day}), 422, "mailbox.ttl_too_long")
	want(t, s.Call(http.MethodPost, "/mailboxes", "", fields{"domain": "not a name"}), 422, "mailbox.domain_unavailable")
}

// Only the account of the sink and local clients of profile: dev open its mailboxes, and only at its domains.
func TestSinkMailboxIsNotOpenedForOthers(t *testing.T) {
	t.Parallel()
	s := startKeys(t, settings{"smtp.sink.domains": "company.test", "smtp.sink.account": "ada@example.org"})
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	params := fields{"localPart": "user", "domain": "company.test"}
	for _, c := range []struct {
		path, credential string
		status           int
		code             string
	}{
		{"/mailboxes", "", 422, "mailbox.domain_unavailable"},
		{"/mailboxes", bob.Token, 422, "mailbox.domain_unavailable"},
		{"/keys/mailboxes", s.key(bob, nil).Key, 422, "mailbox.domain_unavailable"},
		{"/mailboxes", ada.Token, 201, ""},
		{"/keys/mailboxes", s.key(ada, nil).Key, 201, ""},
	} {
		want(t, s.Call(http.MethodPost, c.path, c.credential, params), c.status, c.code)
	}
	want(t, s.Call(http.MethodPost, "/mailboxes", ada.Token, fields{"domain": "other.test"}), 422, "mailbox.domain_unavailable")

	dev := startAccounts(t, devSettings(nil))
	for _, client := range []string{"198.51.100.7", "2001:db8::1"} {
		want(t, dev.do(http.MethodPost, "/mailboxes", "", params, from(client)), 422, "mailbox.domain_unavailable")
	}
	want(t, dev.do(http.MethodPost, "/mailboxes", "", params, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }), 422, "mailbox.domain_unavailable")
}

func TestSinkEndsOldestMailbox(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"smtp.sink.mailboxes": "2"}))
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	for _, to := range []string{"a", "b", "a", "c"} {
		drop(t, c, to, to+"@company.test")
		s.Clock.Advance(time.Second)
	}
	boxes := get[[]keyMailbox](s, "/keys/mailboxes", devKey)
	if len(boxes) != 2 || boxes[0].Address != "c@company.test" || boxes[1].Address != "b@company.test" {
		t.Errorf("GET /keys/mailboxes = %+v, want c@company.test and b@company.test", boxes)
	}
	drop(t, c, "again", "a@company.test") // no cool-down
	if boxes := get[[]keyMailbox](s, "/keys/mailboxes", devKey); len(boxes) != 2 || boxes[0].Address != "a@company.test" {
		t.Errorf("GET /keys/mailboxes = %+v, want two, a@company.test first", boxes)
	}
}

func TestSinkTakesListedDomainsFromEveryClient(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{
		"smtp.sink.domains": "company.test", "smtp.sink.account": "ada@example.org", "smtp.trusted_proxies": "127.0.0.1/32",
	})
	c := s.smtpFrom(stranger)
	reply(t, c, 250, "EHLO app")
	reply(t, c, 250, "MAIL FROM:<app@company.test>")
	reply(t, c, 451, "RCPT TO:<admin@company.test>") // the account does not exist yet
	reply(t, c, 550, "RCPT TO:<admin@other.test>")
	ada := s.account("ada@example.org")
	s.Clock.Advance(3 * time.Second)
	reply(t, c, 250, "RSET")
	drop(t, c, "one", "admin@company.test")
	if boxes := get[[]keyMailbox](s, "/me/mailboxes", ada.Token); len(boxes) != 1 || boxes[0].Source != "sink" {
		t.Errorf("GET /me/mailboxes of ada = %+v, want one of the sink", boxes)
	}
	reply(t, c, 502, "AUTH PLAIN AHgAeQ==") // by default
}

func TestAuthAcceptsAnythingFromLocalClients(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	c := s.smtpFrom("10.1.2.3")
	reply(t, c, 503, "AUTH PLAIN AHgAeQ==")
	if text := reply(t, c, 250, "EHLO app"); !strings.Contains(text, "AUTH PLAIN LOGIN") {
		t.Errorf(`EHLO: %s, want "AUTH PLAIN LOGIN" in it`, text)
	}
	reply(t, c, 504, "AUTH DIGEST-MD5")
	reply(t, c, 501, "AUTH PLAIN !")
	reply(t, c, 334, "AUTH LOGIN")
	reply(t, c, 501, "*")
	reply(t, c, 334, "AUTH LOGIN")
	reply(t, c, 334, "YWRh")
	reply(t, c, 235, "c2VjcmV0")
	reply(t, c, 503, "AUTH PLAIN AHgAeQ==")
	reply(t, c, 250, "MAIL FROM:<a@company.test> AUTH=<>")
	for _, dialog := range [][]string{{"AUTH PLAIN", "AHgAeQ=="}, {"AUTH plain ="}, {"AUTH LOGIN YWRh", "eA=="}, {"AUTH CRAM-MD5", "YWRhIDAw"}, {"AUTH XOAUTH2", "dXNlcj1hZGEBAQ=="}, {"AUTH XOAUTH2 dXNlcj1hZGEBAQ=="}} {
		c := s.smtpFrom("127.0.0.1")
		reply(t, c, 250, "EHLO app")
		authenticate(t, c, 235, dialog)
	}
}

// A client with a public address gets nothing of what profile: dev permits.
func TestDevProfileIsClosedToPublicAddresses(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"limits.mailbox_create": "2/1m", "limits.smtp_messages": "2/1m"}))
	c := s.smtpFrom(stranger)
	if text := reply(t, c, 250, "EHLO app"); strings.Contains(text, "AUTH") {
		t.Errorf("EHLO of a public address = %s, want no AUTH", text)
	}
	reply(t, c, 502, "AUTH PLAIN AHgAeQ==")
	reply(t, c, 250, "MAIL FROM:<a@company.test>")
	reply(t, c, 550, "RCPT TO:<admin@company.test>")
	reply(t, c, 250, "MAIL FROM:<a@company.test>")
	reply(t, c, 421, "MAIL FROM:<a@company.test>")

	want(t, s.do(http.MethodGet, "/keys/mailboxes", devKey, nil, from(stranger)), 403, "auth.address_not_allowed")
	for _, client := range []string{stranger, "2001:db8::1", "100.64.0.1", "169.254.1.1"} {
		for n, status := range []int{201, 201, 429} {
			if a := s.do(http.MethodPost, "/mailboxes", "", nil, from(client)); a.Status != status {
				t.Errorf("mailbox %d from %s: %d, want Status %v", n, client, a.Status, status)
			}
		}
	}
	u := s.account("eve@example.org").Token
	for _, url := range []string{"http://127.0.0.1:9/", "http://example.org/", "https://127.0.0.1/", "http://localhost/"} {
		body := fields{"url": url, "events": []string{"message.received"}}
		want(t, s.do(http.MethodPost, "/me/webhooks", u, body, from(stranger)), 422, "webhook.url_forbidden")
	}
}

func TestDevProfileHasNoLimitsForLocalClients(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"limits.mailbox_create": "2/1m", "limits.reads": "2/1m", "limits.signin": "2/1m", "limits.signin_address": "2/1m", "limits.smtp_messages": "2/1m"}))
	for _, client := range []string{"127.0.0.1", "172.16.3.4", "fd12::1"} {
		for range 4 {
			a := s.do(http.MethodPost, "/mailboxes", "", nil, from(client))
			want(t, a, 201, "")
			var m apptest.Mailbox
			a.Into(t, &m)
			for range 3 {
				want(t, s.do(http.MethodGet, "/mailboxes/me", m.Token, nil, from(client)), 200, "")
			}
			want(t, s.do(http.MethodPost, "/auth/token", "", fields{"email": "a@b.test", "password": "wrong"}, from(client)), 401, "auth.invalid_credentials")
		}
	}
	c := s.smtpFrom("127.0.0.1")
	reply(t, c, 250, "EHLO app")
	for range 4 {
		reply(t, c, 250, "MAIL FROM:<a@company.test>")
	}
}

// A tunnel or a proxy on the same machine that is not configured forwards strangers, who must not seem to be local.
func TestForwardedClientsAreNotLocal(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(settings{"http.trusted_proxies": "", "limits.mailbox_create": "1/1m"}))
	s.call(http.MethodPost, "/mailboxes", "", 201, "")
	s.call(http.MethodPost, "/mailboxes", "", 201, "")
	want(t, s.do(http.MethodPost, "/mailboxes", "", nil, from(stranger)), 201, "")
	want(t, s.do(http.MethodPost, "/mailboxes", "", nil, from(stranger)), 429, "rate.limited")
	want(t, s.do(http.MethodPost, "/mailboxes", "", nil, from("127.0.0.1, "+stranger)), 429, "rate.limited")
	want(t, s.do(http.MethodPost, "/mailboxes", "", nil, from("10.0.0.7")), 201, "")
}

func TestDevWebhooksReachThisMachine(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, devSettings(nil))
	got := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("Webhook-Id") }))
	t.Cleanup(hook.Close)
	u := s.account("ada@example.org").Token
	for _, url := range []string{hook.URL, strings.Replace(hook.URL, "127.0.0.1", "localhost", 1)} {
		want(t, s.Call(http.MethodPost, "/me/webhooks", u, fields{"url": url, "events": []string{"webhook.ping"}}), 201, "")
		select {
		case <-got:
		case <-time.After(patience):
			t.Fatalf("no delivery came to %s within %s, want the ping", url, patience)
		}
		for _, w := range get[[]struct{ ID string }](s, "/me/webhooks", u) {
			s.call(http.MethodDelete, "/me/webhooks/"+w.ID, u, 204, "")
		}
	}
	for _, url := range []string{"http://169.254.169.254/latest", "http://metadata.google.internal/", "http://93.184.216.34/", "https://93.184.216.34:444/", "http://0.0.0.0:80/", "ftp://127.0.0.1/"} {
		want(t, s.Call(http.MethodPost, "/me/webhooks", u, fields{"url": url, "events": []string{"webhook.ping"}}), 422, "webhook.url_forbidden")
	}
}

package apptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// Cause is a case of test/causes/causes.json: what happens instead of the mail that a wait is for. In texts, {me} is the
// address of its mailbox, {domain} the first domain of the service, and {after} and {since} what Mark has noted.
type Cause struct {
	Name  string
	As    string // who waits: the mailbox with its token, a key in one mailbox, or the key of an account in all of them
	Local string // local part of the mailbox; "": any
	Late  bool   // the mailbox is opened after the steps
	Steps []Step
	Wait  struct {
		For   string // message, code or link
		Query map[string]string
	}
	Want string // the code of the first cause
	Says string // a part of the summary
}

// Step is one thing that happens in a Cause. Only one of its fields is set.
type Step struct {
	Send *struct {
		To, From, Subject, Text, HTML string
		Refused                       bool
	}
	Commands []string // of SMTP
	Open     string   // another mailbox of the credential
	Stranger string   // a local part without a mailbox
	Mark     bool     // notes the newest message and the time for {after} and {since}
	See      bool     // reads all messages
	Clear    bool     // deletes all messages
}

// CauseSettings are the settings that the causes need.
func CauseSettings() map[string]string {
	return map[string]string{
		"domains": "gonebox.localhost, second.localhost", "mailbox.max_messages": "3", "plans.guest.mail.daily.max": "4",
		"plans.free.keys.max": "3", "plans.free.keys.calls": "100000/1m", "plans.free.keys.mailbox_create": "100000/1m",
		"account.password.memory": "64KiB", "account.password.passes": "1",
		"limits.register": "100000/1m", "limits.signin": "100000/1m", "limits.signin_account": "100000/1m", "limits.signin_address": "100000/1m",
		"limits.mailbox_create": "100000/1m", "limits.reads": "100000/1m", "limits.other": "100000/1m", "limits.long_polls": "1000",
		"limits.smtp_messages": "100000/1m", "limits.smtp_connections": "1000", "limits.smtp_refused": "100000/1m",
	}
}

// CauseBlocks are the senders and recipients that are blocked, by kind.
func CauseBlocks() map[string][]string {
	return map[string][]string{"sender": {"villain@bad.example", "@blocked.example"}, "recipient": {"no-entry-*"}}
}

// Causes reads the cases.
func Causes(t testing.TB, file string) (all []Cause) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) < 40 {
		t.Fatalf("read %s: %d causes, %v; want 40 at least", file, len(all), err)
	}
	return all
}

// Induced is a cause that was brought about. Each member is ready to be used by a client.
type Induced struct {
	Name, Credential  string
	Mailbox           string // the path of the mailbox in the API; "/keys" for all of an account
	Address           string
	For               string
	Query             map[string]string
	Want, Says, Token string // Token is that of the mailbox
}

// CauseService is a service on which causes are brought about.
type CauseService struct {
	T         testing.TB
	URL, SMTP string        // without /api/v1
	After     func() string // the time for {since}
	accounts  int
}

// Induce brings a cause about.
func (s *CauseService) Induce(c Cause) *Induced {
	s.T.Helper()
	in := &Induced{Name: c.Name, For: c.Wait.For, Query: make(map[string]string), Want: c.Want, Mailbox: "/mailboxes/me"}
	fill := map[string]string{"{domain}": "gonebox.localhost"}
	key := ""
	if c.As != "mailbox" {
		key = s.key()
		in.Credential = key
	}
	open := func(at string) (m struct{ ID, Address, Token string }) {
		path, body := "/mailboxes", map[string]string{}
		if key != "" {
			path = "/keys/mailboxes"
		}
		if local, domain, _ := strings.Cut(at, "@"); local != "" {
			body["localPart"], body["domain"] = local, domain
		}
		if body["domain"] == "" {
			delete(body, "domain")
		}
		s.call(http.MethodPost, path, key, body, &m)
		return m
	}
	opened := func() {
		if c.As == "account" && c.Local == "" {
			return
		}
		m := open(c.Local)
		in.Token, in.Address, fill["{me}"] = m.Token, m.Address, m.Address
		if c.As == "key" {
			in.Mailbox = "/keys/mailboxes/" + m.ID
		}
	}
	if !c.Late {
		opened()
	}
	for _, step := range c.Steps {
		s.run(step, in, fill, open)
	}
	if c.Late {
		opened()
	}
	switch c.As {
	case "mailbox":
		in.Credential = in.Token
	case "account":
		in.Mailbox = "/keys"
	}
	for name, value := range c.Wait.Query {
		in.Query[name] = filled(value, fill)
	}
	in.Says = filled(c.Says, fill)
	return in
}

// filled replaces the names in braces.
func filled(text string, fill map[string]string) string {
	for name, value := range fill {
		text = strings.ReplaceAll(text, name, value)
	}
	return text
}

func (s *CauseService) run(step Step, in *Induced, fill map[string]string, open func(string) struct{ ID, Address, Token string }) {
	s.T.Helper()
	var list []struct{ ID, ReceivedAt string }
	switch m := step.Send; {
	case m != nil:
		to := filled(m.To, fill)
		if to == "" {
			to = in.Address
		}
		err := send(s.SMTP, mailOf(to, m.From, m.Subject, m.Text, m.HTML))
		if (err != nil) != m.Refused {
			s.T.Errorf("%s: mail for %s: %v, want it to be refused: %t", in.Name, to, err, m.Refused)
		}
	case step.Commands != nil:
		s.converse(filled(strings.Join(step.Commands, "\r\n"), fill))
	case step.Open != "":
		open(filled(step.Open, fill))
	case step.Stranger != "":
		s.call(http.MethodPost, "/mailboxes", "", map[string]string{"localPart": step.Stranger}, nil)
	default:
		s.call(http.MethodGet, "/mailboxes/me/messages", in.Token, nil, &list)
		if len(list) == 0 {
			s.T.Errorf("%s: GET /mailboxes/me/messages lists no message, want at least one", in.Name)
			return
		}
		fill["{after}"], fill["{since}"] = list[0].ID, list[0].ReceivedAt
		for _, m := range list {
			if step.See {
				s.call(http.MethodGet, "/messages/"+m.ID, in.Token, nil, nil)
			}
			if step.Clear {
				s.call(http.MethodDelete, "/messages/"+m.ID, in.Token, nil, nil)
			}
		}
	}
}

// mailOf returns a mail, with a text or with HTML.
func mailOf(to, from, subject, text, html string) Mail {
	if from == "" {
		from = "sender@example.org"
	}
	media, body := "text/plain", text
	if html != "" {
		media, body = "text/html", html
	}
	return Mail{From: from, To: []string{to}, Raw: fmt.Appendf(nil, "From: Sender <%s>\r\nTo: %s\r\nSubject: %s\r\nMIME-Version: 1.0\r\nContent-Type: %s; charset=utf-8\r\n\r\n%s\r\n",
		from, to, subject, media, strings.ReplaceAll(body, "\n", "\r\n"))}
}

// converse sends lines of SMTP and waits for the end of the session.
func (s *CauseService) converse(lines string) {
	conn, err := net.Dial("tcp", s.SMTP)
	if err != nil {
		s.T.Errorf("connect to %s: %v", s.SMTP, err)
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(lines + "\r\nQUIT\r\n")); err != nil {
		s.T.Errorf("send %q: %v", lines, err)
		return
	}
	c := textproto.NewConn(conn)
	for {
		if line, err := c.ReadLine(); err != nil || strings.HasPrefix(line, "221") {
			return
		}
	}
}

// key returns the developer key of a new account.
func (s *CauseService) key() string {
	s.accounts++
	var user struct{ Token string }
	s.call(http.MethodPost, "/auth/register", "", map[string]string{"email": fmt.Sprintf("cause%d@example.org", s.accounts), "password": "correct horse"}, &user)
	var key struct{ Key string }
	s.call(http.MethodPost, "/me/api-keys", user.Token, map[string]any{"name": "causes", "scopes": []string{"mailboxes:read", "mailboxes:write", "messages:read", "otp:read"}}, &key)
	return key.Key
}

// call makes a call that must succeed.
func (s *CauseService) call(method, path, credential string, body, data any) {
	s.T.Helper()
	status, text := s.Try(method, path, credential, body)
	if status >= 300 {
		s.T.Fatalf("%s %s: %d %s, want it to succeed", method, path, status, text)
	}
	if data == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Data any }{data}); err != nil {
		s.T.Fatalf("%s %s: decode %s: %v", method, path, text, err)
	}
}

// Try makes a call and returns its status and its body.
func (s *CauseService) Try(method, path, credential string, body any) (status int, text []byte) {
	octets, _ := json.Marshal(body)
	if body == nil {
		octets = nil
	}
	r, err := http.NewRequest(method, s.URL+"/api/v1"+path, bytes.NewReader(octets))
	if err != nil {
		s.T.Errorf("make the request %s %s: %v", method, path, err)
		return 0, nil
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	a, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		s.T.Errorf("call %s %s: %v", method, path, err)
		return 0, nil
	}
	defer a.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(a.Body)
	return a.StatusCode, b.Bytes()
}

// Path returns the path and query of the call that waits.
func (in *Induced) Path(seconds int) string {
	q := url.Values{"wait": {fmt.Sprint(seconds)}}
	for name, value := range in.Query {
		q.Set(name, value)
	}
	path := in.Mailbox + "/messages?"
	switch {
	case in.For == "code" && in.Mailbox != "/keys":
		path = in.Mailbox + "/otp/latest?"
	case in.For == "code":
		q.Add("has", "code")
	case in.For == "link":
		q.Add("has", "bestLink")
	}
	return path + q.Encode()
}

package blackbox_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"
)

// project is a project as a client reads it.
type project struct {
	ID, Name, MailboxID, Token           string
	Retention, MaxMessages, MessageCount int
	CreatedAt                            time.Time
	SMTP                                 struct{ Username, Password string }
	Mailpit                              struct{ URL string }
	Members                              []struct{ Email, Role string }
}

func (p project) members() string {
	var all []string
	for _, m := range p.Members {
		all = append(all, m.Email+" "+m.Role)
	}
	return strings.Join(all, ", ")
}

// openToProjects are the calls on projects.
func openToProjects() []accessRule {
	own := func(e *accountFixture) []string { return []string{e.project().ID} }
	member := func(e *accountFixture) []string {
		p, friend := e.project(), "friend-of-"+e.email
		if a := e.Call(http.MethodPost, "/auth/register", "", fields{"email": friend, "password": userPassword}); a.Status != 201 && a.Status != 409 {
			e.t.Fatalf("register %s: %d %s, want 201 or 409", friend, a.Status, a.Body)
		}
		want(e.t, e.Call(http.MethodPut, "/me/projects/"+p.ID+"/members/"+friend, e.user.Token, nil), 200, "")
		return []string{p.ID, friend}
	}
	creation := func(e *accountFixture) any {
		e.newcomers++
		return fields{"name": fmt.Sprintf("p%d-%s", e.newcomers, strings.Split(e.email, "@")[0])}
	}
	none := []string{"project.not_found"}
	return []accessRule{
		{call: "GET /me/projects", schemes: "userToken", status: 200},
		{call: "POST /me/projects", schemes: "userToken", status: 201, body: creation},
		{call: "GET /me/projects/{id}", schemes: "userToken", status: 200, resources: own, unknown: none},
		{call: "PATCH /me/projects/{id}", schemes: "userToken", status: 200, resources: own, unknown: none, body: always(fields{"maxMessages": 7})},
		{call: "DELETE /me/projects/{id}", schemes: "userToken", status: 204, resources: own, unknown: none},
		{call: "POST /me/projects/{id}/password", schemes: "userToken", status: 200, resources: own, unknown: none},
		{call: "PUT /me/projects/{id}/members/{email}", schemes: "userToken", status: 200, resources: member, unknown: none, body: always(fields{"role": "owner"})},
		{call: "DELETE /me/projects/{id}/members/{email}", schemes: "userToken", status: 204, resources: member, unknown: none},
		{call: "GET /keys/projects", schemes: "apiKey", scope: "mailboxes:read", status: 200},
		{call: "POST /keys/projects", schemes: "apiKey", scope: "mailboxes:write", status: 201, body: creation},
		{call: "GET /keys/projects/{id}", schemes: "apiKey", scope: "mailboxes:read", status: 200, resources: own, unknown: none},
	}
}

// project returns a project of the account, the same one each time.
func (e *accountFixture) project() project {
	e.t.Helper()
	if all := get[[]project](e.service, "/me/projects", e.user.Token); len(all) > 0 {
		return all[len(all)-1]
	}
	return e.newProject(e.user.Token, strings.Split(e.email, "@")[0], nil)
}

// newProject creates a project.
func (s *service) newProject(token, name string, more fields) (p project) {
	s.t.Helper()
	body := fields{"name": name}
	maps.Copy(body, more)
	path := "/me/projects"
	if strings.HasPrefix(token, "x_") {
		path = "/keys/projects"
	}
	a := s.Call(http.MethodPost, path, token, body)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("create the project %s: %d %s, want 201", name, a.Status, a.Body)
	}
	a.Into(s.t, &p)
	return p
}

// startProjects starts a service with projects that serves the Mailpit API behind a proxy.
func startProjects(t testing.TB, more settings) *mailpit {
	t.Helper()
	own := settings{
		"smtp.projects": "on", "plans.free.projects.max": "3", "plans.free.keys.max": "3", "compat.mailpit.addr": "127.0.0.1:0",
		"http.trusted_proxies": "127.0.0.1/32", "smtp.trusted_proxies": "127.0.0.1/32",
	}
	maps.Copy(own, more)
	s := startAccounts(t, own)
	return &mailpit{service: s, base: s.Mailpit}
}

// plain is the argument of AUTH PLAIN.
func plain(name, password string) string {
	return "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+name+"\x00"+password))
}

// signedIn opens a session of a client on a private network that is signed in to a project.
func (s *service) signedIn(p project) *textproto.Conn {
	s.t.Helper()
	c := s.smtpFrom("192.168.7.7")
	reply(s.t, c, 250, "EHLO app")
	reply(s.t, c, 235, plain(p.Name, p.SMTP.Password))
	return c
}

func TestProjectTakesMailForEveryAddress(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada := s.account("ada@example.org")
	p := s.newProject(ada.Token, "shop-tests", fields{"retention": 3600})
	if p.Retention != 3600 || p.MaxMessages != 1000 || p.SMTP.Username != "shop-tests" || len(p.SMTP.Password) < 20 || p.members() != "ada@example.org owner" ||
		!strings.HasSuffix(p.Mailpit.URL, "/p/shop-tests") || !strings.HasPrefix(p.ID, "prj_") {
		t.Errorf(`POST /me/projects {"name": "shop-tests", "retention": 3600} = %+v, want these values, 1000 messages, a password, the owner and the URL`, p)
	}
	other := s.create("", nil)
	c := s.signedIn(p)
	drop(t, c, "one", other.Address, "admin@company.test", "postmaster@gonebox.localhost", "nobody@gonebox.localhost")
	reply(t, c, 250, "MAIL FROM:<app@company.test>")
	reply(t, c, 250, "RCPT TO:<postmaster>")
	reply(t, c, 250, "RSET")
	drop(t, c, "two", "ann@projects.invalid")
	if n := len(get[[]summary](s.service, "/mailboxes/me/messages", other.Token)); n != 0 {
		t.Errorf("mail of a project's session for %s reached that mailbox: %d messages, want 0", other.Address, n)
	}
	for query, want := range map[string]string{"": "two one", "?to=admin@company.test": "one", "?to=nobody": "one", "?to=ann@": "two"} {
		if got := subjects(get[[]summary](s.service, "/mailboxes/me/messages"+query, p.Token)); got != want {
			t.Errorf("GET /mailboxes/me/messages%s with the project's token = %q, want %q", query, got, want)
		}
	}
	if got := get[project](s.service, "/me/projects/"+p.ID, ada.Token); got.MessageCount != 2 || got.SMTP.Password != "" || got.Token == "" {
		t.Errorf("GET /me/projects/%s = %+v, want 2 messages, no password, a token", p.ID, got)
	}
	first := get[[]summary](s.service, "/mailboxes/me/messages", p.Token)[1]
	full := get[message](s.service, "/messages/"+first.ID, p.Token)
	if len(full.Envelope.To) != 4 || full.OTP == nil {
		t.Errorf("the message has the recipients %q and the code %v, want 4 recipients and a code", full.Envelope.To, full.OTP)
	}
	raw := s.call(http.MethodGet, "/messages/"+first.ID+"/raw", p.Token, 200, "").Body
	if !strings.Contains(string(raw), "with ESMTPA\r\n") || !strings.Contains(string(raw), "\r\n\r\nYour sign-in code is 246810.\r\n") {
		t.Errorf("the raw message is %q, want one received with ESMTPA", raw)
	}
	want(t, s.Call(http.MethodPost, "/mailboxes/me/messages", p.Token, fields{"subject": "injected", "text": "hello"}), 201, "")
	if log := get[[]struct{ Reply int }](s.service, "/mailboxes/me/deliveries", p.Token); len(log) != 2 || log[0].Reply != 250 {
		t.Errorf("the delivery log of the project = %+v, want 2 entries with 250", log)
	}

	// Mail from outside that is addressed to it is refused.
	out := s.smtpFrom(stranger)
	reply(t, out, 250, "EHLO sender")
	reply(t, out, 250, "MAIL FROM:<a@company.test>")
	reply(t, out, 550, "RCPT TO:<shop-tests@projects.invalid>")
}

func TestProjectsKeepTheNewestMessages(t *testing.T) {
	t.Parallel()
	s := startProjects(t, settings{"mailbox.erase_every": "1s"})
	ada := s.account("ada@example.org")
	p := s.newProject(ada.Token, "small", fields{"maxMessages": 3, "retention": 600})
	c := s.signedIn(p)
	for i := range 5 {
		s.Clock.Advance(time.Second)
		drop(t, c, fmt.Sprint(i), "a@company.test")
		if n := get[project](s.service, "/me/projects/small", ada.Token).MessageCount; n != min(i+1, 3) {
			t.Errorf("after mail %d the project has %d messages, want %d", i, n, min(i+1, 3))
		}
	}
	list := func() string { return subjects(get[[]summary](s.service, "/mailboxes/me/messages", p.Token)) }
	if got := list(); got != "4 3 2" {
		t.Errorf("the messages are %q, want the newest three", got)
	}
	want(t, s.Call(http.MethodPatch, "/me/projects/small", ada.Token, fields{"maxMessages": 1}), 200, "")
	if got := list(); got != "4" {
		t.Errorf("the messages after maxMessages became 1 are %q, want the newest", got)
	}
	s.Clock.Advance(11 * time.Minute)
	eventually(t, "the end of the retention", func() bool { return list() == "" })
	var f mailpitFrame
	s.asProject(p, "/api/v1/messages", &f)
	if f.Total != 0 {
		t.Errorf("the Mailpit API lists %d mails after the retention, want 0", f.Total)
	}
}

// asProject makes a call of the Mailpit API with the credentials of a project.
func (m *mailpit) asProject(p project, path string, v any) {
	m.t.Helper()
	a := m.try(http.MethodGet, path, "", asUser(p.Name, p.SMTP.Password))
	if a.Status != http.StatusOK {
		m.t.Fatalf("GET %s as the project %s: %d %s, want 200", path, p.Name, a.Status, a.Body)
	}
	if err := json.Unmarshal(a.Body, v); err != nil {
		m.t.Fatalf("GET %s as the project %s: %v in %s", path, p.Name, err, a.Body)
	}
}

func asUser(name, password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(name, password) }
}

func TestProjectsRefuseWhatTheyMust(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	s.newProject(ada.Token, "a", nil)
	s.newProject(ada.Token, strings.Repeat("a", 40), nil)
	s.newProject(ada.Token, "9-", nil)
	for _, c := range []struct {
		token  string
		body   any
		status int
		code   string
	}{
		{ada.Token, fields{"name": "one-more"}, 403, "project.limit_reached"},
		{bob.Token, fields{"name": "a"}, 409, "project.name_taken"},
		{bob.Token, fields{"name": "A"}, 422, "request.invalid"},
		{bob.Token, fields{"name": "-a"}, 422, "request.invalid"},
		{bob.Token, fields{"name": "a_b"}, 422, "request.invalid"},
		{bob.Token, fields{"name": ""}, 422, "request.invalid"},
		{bob.Token, fields{"name": "a\n"}, 422, "request.invalid"},
		{bob.Token, fields{"name": strings.Repeat("b", 41)}, 422, "request.invalid"},
		{bob.Token, fields{"name": "b", "retention": 59}, 422, "request.invalid"},
		{bob.Token, fields{"name": "b", "retention": 31622401}, 422, "request.invalid"},
		{bob.Token, fields{"name": "b", "maxMessages": 0}, 422, "request.invalid"},
		{bob.Token, fields{"name": "b", "maxMessages": 100001}, 422, "request.invalid"},
	} {
		want(t, s.Call(http.MethodPost, "/me/projects", c.token, c.body), c.status, c.code)
	}
	s.newProject(bob.Token, "bobs", nil)
	want(t, s.Call(http.MethodPatch, "/me/projects/bobs", bob.Token, fields{"name": "a"}), 409, "project.name_taken")
	want(t, s.Call(http.MethodPatch, "/me/projects/bobs", bob.Token, fields{"name": "renamed"}), 200, "")
	want(t, s.Call(http.MethodGet, "/me/projects/bobs", bob.Token, nil), 404, "project.not_found")
	want(t, s.Call(http.MethodGet, "/me/projects/renamed", bob.Token, nil), 200, "")
	want(t, s.Call(http.MethodPut, "/me/projects/renamed/members/nobody@example.org", bob.Token, nil), 404, "account.not_found")
	want(t, s.Call(http.MethodPut, "/me/projects/renamed/members/bob@example.org", bob.Token, fields{"role": "member"}), 422, "request.invalid")
	want(t, s.Call(http.MethodDelete, "/me/projects/renamed/members/bob@example.org", bob.Token, nil), 422, "request.invalid")
	want(t, s.Call(http.MethodDelete, "/me/projects/renamed/members/ada@example.org", bob.Token, nil), 404, "account.not_found")
	k := s.key(ada, nil)
	want(t, s.Call(http.MethodPost, "/keys/projects", k.Key, fields{"name": "one-more"}), 403, "project.limit_reached")
	want(t, s.Call(http.MethodPost, "/keys/projects", s.key(bob, nil).Key, fields{"name": "a"}), 409, "project.name_taken")
}

func TestProjectsCanBeOff(t *testing.T) {
	t.Parallel()
	s := startKeys(t, nil)
	ada := s.account("ada@example.org")
	k := s.key(ada, nil)
	for _, call := range []string{
		"GET /me/projects", "POST /me/projects", "GET /me/projects/x", "PATCH /me/projects/x", "DELETE /me/projects/x", "POST /me/projects/x/password",
		"PUT /me/projects/x/members/a@example.org", "DELETE /me/projects/x/members/a@example.org", "GET /keys/projects", "POST /keys/projects", "GET /keys/projects/x",
	} {
		method, path, _ := strings.Cut(call, " ")
		var body any
		if strings.HasSuffix(call, "/projects") && method == http.MethodPost {
			body = fields{"name": "a"}
		} else if method == http.MethodPatch {
			body = fields{"maxMessages": 1}
		}
		token := ada.Token
		if strings.HasPrefix(path, "/keys") {
			token = k.Key
		}
		want(t, s.Call(method, path, token, body), 403, "project.disabled")
	}
}

// Strangers see nothing of a project, members its mail, and owners change it.
func TestProjectMembers(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada, bob, eve := s.account("ada@example.org"), s.account("bob@example.org"), s.account("eve@example.org")
	own := s.create(bob.Token, nil)
	p := s.newProject(ada.Token, "shared", nil)
	c := s.signedIn(p)
	drop(t, c, "early", "a@company.test")
	if got := subjects(get[[]addressed](s.service, "/me/messages?q=early", bob.Token)); got != "" {
		t.Errorf("before bob is a member he finds %q, want nothing", got)
	}
	var set project
	s.Call(http.MethodPut, "/me/projects/shared/members/BOB@example.org", ada.Token, nil).Into(t, &set)
	if got := set.members(); got != "ada@example.org owner, bob@example.org member" {
		t.Errorf("the members are %q, want ada and bob", got)
	}
	s.Clock.Advance(time.Second)
	out := s.smtpFrom(stranger)
	reply(t, out, 250, "EHLO out")
	drop(t, out, "own", own.Address)
	s.Clock.Advance(time.Second)
	drop(t, c, "after", "b@company.test")

	type listed struct {
		summary
		Project *string
	}
	lists := map[string]string{"/me/messages": bob.Token, "/keys/messages": s.key(bob, nil).Key}
	for path, token := range lists {
		for query, want := range map[string]string{
			"": "after own early", "?project=shared": "after early", "?project=none": "", "?q=early": "early", "?q=early&project=shared": "early",
			"?source=project": "after early", "?to=b@company": "after", "?domain=gonebox.localhost": "own", "?mailbox=" + p.MailboxID: "after early",
		} {
			if got := subjects(get[[]listed](s.service, path+query, token)); got != want {
				t.Errorf("GET %s%s of a member = %q, want %q", path, query, got, want)
			}
			if strings.Contains(query, "to=") {
				continue // no parameter of a count
			}
			count := get[struct{ Count, Unread int }](s.service, path+"/count"+query, token)
			if want := len(strings.Fields(want)); count.Count != want || count.Unread != want {
				t.Errorf("GET %s/count%s of a member = %+v, want %d of each", path, query, count, want)
			}
		}
	}
	all := get[[]listed](s.service, "/me/messages", bob.Token)
	if all[0].Project == nil || *all[0].Project != "shared" || all[1].Project != nil {
		t.Errorf("the projects of bob's messages are %v and %v, want shared and null", all[0].Project, all[1].Project)
	}

	// A wait of a member ends with the project's mail.
	waited := make(chan string, 1)
	sleeping := s.Sleepers()
	go func() {
		waited <- subjects(get[[]listed](s.service, "/me/messages?wait=30&after="+all[0].ID, bob.Token))
	}()
	eventually(t, "a wait", func() bool { return s.Sleepers() > sleeping })
	drop(t, c, "awaited", "c@company.test")
	if got := <-waited; got != "awaited" {
		t.Errorf("the wait of a member = %q, want awaited", got)
	}

	// What each may do with the project and its messages.
	id := all[0].ID
	for _, who := range []struct {
		name, token string
		status      int
		code        string
	}{{"stranger", eve.Token, 404, "project.not_found"}, {"member", bob.Token, 403, "project.owner_only"}} {
		for _, call := range []string{"PATCH ", "DELETE ", "POST /password", "PUT /members/eve@example.org", "DELETE /members/bob@example.org", "PUT /members/nobody@example.org"} {
			method, path, _ := strings.Cut(call, " ")
			var body any
			if method == http.MethodPatch {
				body = fields{"maxMessages": 1}
			}
			want(t, s.Call(method, "/me/projects/shared"+path, who.token, body), who.status, who.code)
		}
	}
	want(t, s.Call(http.MethodGet, "/me/projects/shared", eve.Token, nil), 404, "project.not_found")
	want(t, s.Call(http.MethodGet, "/messages/"+id, eve.Token, nil), 404, "message.not_found")
	want(t, s.Call(http.MethodDelete, "/messages/"+id, eve.Token, nil), 404, "message.not_found")
	if got := get[[]project](s.service, "/me/projects", eve.Token); len(got) != 0 {
		t.Errorf("GET /me/projects of a stranger = %+v, want none", got)
	}
	if got := get[[]listed](s.service, "/me/messages?project=shared", eve.Token); len(got) != 0 {
		t.Errorf("GET /me/messages?project=shared of a stranger = %+v, want none", got)
	}
	want(t, s.Call(http.MethodGet, "/messages/"+id, bob.Token, nil), 200, "")
	want(t, s.Call(http.MethodPatch, "/messages/"+id, bob.Token, fields{"seen": false}), 200, "")
	want(t, s.Call(http.MethodDelete, "/messages/"+id, bob.Token, nil), 204, "")

	// The token of a member does not end the project, and ends itself with the membership.
	token := get[project](s.service, "/me/projects/shared", bob.Token).Token
	want(t, s.Call(http.MethodDelete, "/mailboxes/me", token, nil), 403, "project.owner_only")
	want(t, s.Call(http.MethodDelete, "/me/projects/shared/members/bob@example.org", ada.Token, nil), 204, "")
	want(t, s.Call(http.MethodGet, "/mailboxes/me/messages", token, nil), 401, "auth.invalid_token")
	want(t, s.Call(http.MethodGet, "/me/projects/shared", bob.Token, nil), 404, "project.not_found")
	if got := subjects(get[[]listed](s.service, "/me/messages?q=is:unread", bob.Token)); got != "own" {
		t.Errorf("after the membership bob's messages are %q, want his own", got)
	}
	want(t, s.Call(http.MethodGet, "/mailboxes/me/messages", get[project](s.service, "/me/projects/shared", ada.Token).Token, nil), 200, "")

	// An owner beside the first changes the project.
	want(t, s.Call(http.MethodPut, "/me/projects/shared/members/bob@example.org", ada.Token, fields{"role": "owner"}), 200, "")
	if got := subjects(get[[]listed](s.service, "/me/messages?q=early", bob.Token)); got != "early" {
		t.Errorf("after bob joined again he finds %q, want early", got)
	}
	want(t, s.Call(http.MethodPatch, "/me/projects/shared", bob.Token, fields{"retention": 60}), 200, "")
	want(t, s.Call(http.MethodDelete, "/me/projects/shared", bob.Token, nil), 204, "")
	want(t, s.Call(http.MethodGet, "/me/projects/shared", ada.Token, nil), 404, "project.not_found")
	want(t, s.Call(http.MethodGet, "/mailboxes/me", p.Token, nil), 401, "auth.invalid_token")
}

func TestKeyDeletesTheProjectWithItsMailbox(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	k := s.key(ada, nil)
	p := s.newProject(k.Key, "of-a-key", nil)
	if p.Token == "" || p.SMTP.Password == "" {
		t.Errorf("POST /keys/projects = %+v, want a token and a password", p)
	}
	narrow := s.key(ada, fields{"scopes": []string{"mailboxes:read"}})
	if got := get[project](s.service, "/keys/projects/of-a-key", narrow.Key); got.Token != "" {
		t.Errorf("GET /keys/projects/of-a-key with mailboxes:read alone has the token %q, want none", got.Token)
	}
	want(t, s.Call(http.MethodDelete, "/keys/mailboxes/"+p.MailboxID, s.key(bob, nil).Key, nil), 404, "mailbox.not_found")
	want(t, s.Call(http.MethodDelete, "/keys/mailboxes/"+p.MailboxID, k.Key, nil), 204, "")
	want(t, s.Call(http.MethodGet, "/keys/projects/of-a-key", k.Key, nil), 404, "project.not_found")
	s.newProject(bob.Token, "of-a-key", nil) // the name is free
}

func TestProjectSignIn(t *testing.T) {
	t.Parallel()
	s := startProjects(t, settings{"limits.signin": "3/5m", "smtp.auth": "off"})
	ada := s.account("ada@example.org")
	p := s.newProject(ada.Token, "shop", nil)

	out := s.smtpFrom(stranger)
	if text := reply(t, out, 250, "EHLO out"); strings.Contains(text, "AUTH") {
		t.Errorf("EHLO of a client outside without TLS offers AUTH: %q, want none", text)
	}
	reply(t, out, 502, plain("shop", p.SMTP.Password))

	c := s.smtpFrom("192.168.7.8")
	if text := reply(t, c, 250, "EHLO app"); !strings.Contains(text, "AUTH PLAIN LOGIN") || strings.Contains(text, "CRAM") {
		t.Errorf("EHLO of a local client offers %q, want AUTH PLAIN LOGIN", text)
	}
	reply(t, c, 504, "AUTH CRAM-MD5")
	reply(t, c, 535, plain("none", p.SMTP.Password))
	reply(t, c, 535, plain("ada@example.org", userPassword)) // no project can have this name
	reply(t, c, 535, plain("", ""))
	for range 3 {
		reply(t, c, 535, plain("shop", "wrong"))
	}
	reply(t, c, 454, plain("shop", p.SMTP.Password))
	reply(t, c, 250, "MAIL FROM:<a@company.test>")
	reply(t, c, 550, "RCPT TO:<a@company.test>") // a session that is not signed in sends to mailboxes alone
	reply(t, s.signedIn(p), 250, "NOOP")         // other clients go on
	s.Clock.Advance(5 * time.Minute)
	c = s.smtpFrom("192.168.7.8")
	reply(t, c, 250, "EHLO app")
	reply(t, c, 334, "AUTH LOGIN")
	reply(t, c, 334, base64.StdEncoding.EncodeToString([]byte("shop")))
	reply(t, c, 235, base64.StdEncoding.EncodeToString([]byte(p.SMTP.Password)))

	// A new password voids the old one, and sessions go on.
	var rotated project
	s.Call(http.MethodPost, "/me/projects/shop/password", ada.Token, nil).Into(t, &rotated)
	if rotated.SMTP.Password == "" || rotated.SMTP.Password == p.SMTP.Password {
		t.Errorf("POST /me/projects/shop/password = %+v, want another password", rotated)
	}
	drop(t, c, "after the rotation", "a@company.test")
	d := s.smtpFrom("192.168.7.9")
	reply(t, d, 250, "EHLO app")
	reply(t, d, 535, plain("shop", p.SMTP.Password))
	reply(t, d, 235, plain("shop", rotated.SMTP.Password))

	// A session outlives its project, but takes no mail, not even for another project of the name.
	want(t, s.Call(http.MethodDelete, "/me/projects/shop", ada.Token, nil), 204, "")
	again := s.newProject(s.account("bob@example.org").Token, "shop", nil)
	reply(t, d, 250, "MAIL FROM:<a@company.test>")
	reply(t, d, 550, "RCPT TO:<a@company.test>")
	if n := len(get[[]summary](s.service, "/mailboxes/me/messages", again.Token)); n != 0 {
		t.Errorf("the new project has %d messages, want 0", n)
	}
}

func TestMailpitAPINeedsTheCredentialsOfAProject(t *testing.T) {
	t.Parallel()
	s := startProjects(t, settings{"limits.signin": "5/5m"})
	ada := s.account("ada@example.org")
	one, two := s.newProject(ada.Token, "one", nil), s.newProject(ada.Token, "two", nil)
	drop(t, s.signedIn(one), "of-one", "a@company.test")
	s.Clock.Advance(time.Second)
	drop(t, s.signedIn(two), "of-two", "a@company.test")
	var f mailpitFrame
	s.asProject(two, "/api/v1/messages", &f)
	foreign := f.Messages[0].ID
	s.asProject(one, "/api/v1/messages", &f)
	own := f.Messages[0].ID
	if f.Total != 1 || s.subjects(f) != "of-one" {
		t.Errorf("the list of the project one = %+v, want of-one alone", f)
	}
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		status       int
	}{
		{"GET", "/api/v1/messages", nil, 401},
		{"GET", "/", nil, 401},
		{"GET", "/p/one/api/v1/messages", nil, 401},
		{"GET", "/p/one/api/v1/messages", asUser("two", two.SMTP.Password), 401},
		{"GET", "/p/one/api/v1/messages", asUser("one", one.SMTP.Password), 200},
		{"GET", "/api/v1/messages", asUser("one", two.SMTP.Password), 401},
		{"GET", "/api/v1/messages", asUser("none", two.SMTP.Password), 401},
		{"GET", "/api/v1/messages", asUser("No Project", ""), 401},
		{"GET", "/livez", nil, 200},
		{"GET", "/api/v1/message/" + own, asUser("one", one.SMTP.Password), 200},
		{"GET", "/api/v1/message/" + foreign, asUser("one", one.SMTP.Password), 404},
		{"GET", "/api/v1/message/" + foreign + "/raw", asUser("one", one.SMTP.Password), 404},
		{"GET", "/api/v1/message/" + foreign + "/headers", asUser("one", one.SMTP.Password), 404},
		{"GET", "/api/v1/message/" + foreign + "/html-check", asUser("one", one.SMTP.Password), 404},
		{"GET", "/api/v1/message/" + foreign + "/part/1", asUser("one", one.SMTP.Password), 404},
		{"GET", "/api/v1/messages/" + foreign, asUser("one", one.SMTP.Password), 404},
		{"DELETE", "/api/v1/messages/" + foreign, asUser("one", one.SMTP.Password), 404},
		{"GET", "/view/" + foreign + ".txt", asUser("one", one.SMTP.Password), 404},
		{"GET", "/view/latest.txt", asUser("one", one.SMTP.Password), 200},
		{"DELETE", "/api/v1/messages", asUser("one", one.SMTP.Password), 200},
	} {
		a := s.try(c.method, c.path, "", c.change)
		if a.Status != c.status || c.status == 401 && a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s: got %d %s, WWW-Authenticate %q; want %d", c.method, c.path, a.Status, a.Body, a.Header.Get("WWW-Authenticate"), c.status)
		}
		outside := s.try("GET", "/api/v1/messages", "", func(r *http.Request) {
			r.SetBasicAuth("two", two.SMTP.Password)
			r.Header.Set("X-Forwarded-For", stranger)
		})
		if outside.Status != 200 {
			t.Fatalf("a client outside with the credentials of a project: %d %s, want 200", outside.Status, outside.Body)
		}
	}
	body := fmt.Sprintf(`{"IDs": [%q], "Read": true}`, foreign)
	if a := s.try(http.MethodPut, "/api/v1/messages", body, asUser("one", one.SMTP.Password)); a.Status != 200 {
		t.Errorf("PUT /api/v1/messages of another's message: %d %s, want 200, as for an unknown one", a.Status, a.Body)
	}
	if a := s.try(http.MethodDelete, "/api/v1/messages", fmt.Sprintf(`{"IDs": [%q]}`, foreign), asUser("one", one.SMTP.Password)); a.Status != 200 {
		t.Errorf("DELETE /api/v1/messages of another's message: %d %s, want 200, as for an unknown one", a.Status, a.Body)
	}
	s.asProject(two, "/api/v1/messages", &f)
	if f.Total != 1 || f.Unread != 1 {
		t.Errorf("after the calls of project one the list of project two = %+v, want its mail, unread", f)
	}
	send := `{"From": {"Email": "a@company.test"}, "To": [{"Email": "x@gonebox.localhost"}], "Subject": "sent", "Text": "hello"}`
	if a := s.try(http.MethodPost, "/api/v1/send", send, asUser("one", one.SMTP.Password)); a.Status != 200 {
		t.Errorf("POST /api/v1/send: %d %s, want 200", a.Status, a.Body)
	}
	if got := subjects(get[[]summary](s.service, "/mailboxes/me/messages", one.Token)); got != "sent" {
		t.Errorf("the project one has %q after POST /api/v1/send, want sent", got)
	}
	for range 5 {
		s.try("GET", "/api/v1/messages", "", asUser("two", "wrong"))
	}
	if a := s.try("GET", "/api/v1/messages", "", asUser("two", two.SMTP.Password)); a.Status != 429 {
		t.Errorf("the right password after 5 wrong ones: %d %s, want 429", a.Status, a.Body)
	}
}

// A stream of a project ends when its password is replaced or the project is deleted, and sends nothing of what comes afterwards.
func TestStreamOfAProjectEndsWithItsCredentials(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada := s.account("ada@example.org")
	one := s.newProject(ada.Token, "one", nil)
	follow := func(password string) *eventStream {
		return s.follow("Authorization: " + basic("one", password) + "\r\n")
	}
	ends := func(stream *eventStream, after string) {
		t.Helper()
		opcode, payload, err := stream.frame()
		if err != nil || opcode != 8 || len(payload) < 2 || int(payload[0])<<8|int(payload[1]) != 1008 {
			t.Errorf("after %s the stream sends %d %q, %v, want a close with 1008", after, opcode, payload, err)
		}
	}
	old := follow(one.SMTP.Password)
	drop(t, s.signedIn(one), "before", "a@company.test")
	old.expect("new", "stats")
	path := "/me/projects/" + one.ID
	s.call(http.MethodPost, path+"/password", ada.Token, 200, "").Into(t, &one)
	present := follow(one.SMTP.Password)
	drop(t, s.signedIn(one), "after", "a@company.test")
	ends(old, "a new password")
	present.expect("new", "stats")
	s.call(http.MethodDelete, path, ada.Token, 204, "")
	again := s.newProject(ada.Token, "one", nil)
	stream := follow(again.SMTP.Password)
	drop(t, s.signedIn(again), "again", "a@company.test")
	stream.expect("new", "stats")
}

func TestProfileDevOpensProjects(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, settings{"plans.pro.projects.max": "4"})
	m.smtp("of the sink", "", "a@company.test")
	for _, auth := range []string{plain("one", "any"), "AUTH CRAM-MD5 one", "AUTH XOAUTH2 " + base64.StdEncoding.EncodeToString([]byte("user=one\x01auth=Bearer x\x01\x01"))} {
		c := m.smtpFrom("192.168.7.7")
		reply(t, c, 250, "EHLO app")
		if line, ok := strings.CutSuffix(auth, " one"); ok {
			reply(t, c, 334, line)
			reply(t, c, 235, base64.StdEncoding.EncodeToString([]byte("one 0123456789abcdef")))
		} else {
			reply(t, c, 235, auth)
		}
		drop(t, c, "of-one", "a@company.test")
	}
	c := m.smtpFrom("192.168.7.7")
	reply(t, c, 250, "EHLO app")
	reply(t, c, 235, plain("app@company.test", "any")) // no project can have the name
	drop(t, c, "of-nobody", "a@company.test")
	for path, want := range map[string]int{"": 5, "/p/one": 3, "/p/new": 0} {
		var f mailpitFrame
		if m.ask(http.MethodGet, path+"/api/v1/messages", "", &f); f.Total != want {
			t.Errorf("GET %s/api/v1/messages lists %d mails, want %d", path, f.Total, want)
		}
	}
	var f mailpitFrame
	m.asProject(project{Name: "one"}, "/api/v1/messages", &f)
	if f.Total != 3 {
		t.Errorf("the list with Basic one: %d mails, want 3", f.Total)
	}
	m.asProject(project{Name: "app@company.test"}, "/api/v1/messages", &f)
	if f.Total != 5 {
		t.Errorf("the list with Basic app@company.test: %d mails, want all 5", f.Total)
	}
	if m.asProject(project{Name: "not-yet"}, "/api/v1/messages", &f); f.Total != 5 {
		t.Errorf("the list with Basic not-yet, which is no project, is %q, want all 5 mails", m.subjects(f))
	}
	if a := m.try(http.MethodGet, "/p/No_Name/api/v1/messages", "", nil); a.Status != 404 {
		t.Errorf("GET /p/No_Name/…: %d %s, want 404", a.Status, a.Body)
	}
	m.ask(http.MethodDelete, "/p/one/api/v1/messages", "", nil)
	m.ask(http.MethodGet, "/api/v1/messages", "", &f)
	if got := m.subjects(f); f.Total != 2 || strings.Contains(got, "of-one") {
		t.Errorf("after the deletion of the mail of project one the list is %q, want that of the sink", got)
	}
	all := get[[]project](m.service, "/keys/projects", devKey)
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	if slices.Sort(names); strings.Join(names, " ") != "new one" {
		t.Errorf("GET /keys/projects has %q, want new and one", names)
	}
	want(t, m.Call(http.MethodPost, "/mailboxes", "", fields{"domain": "projects.invalid", "localPart": "three"}), 422, "mailbox.domain_unavailable")
	// Clients outside need the password, and their number is bounded.
	out := m.smtpFrom(stranger)
	reply(t, out, 250, "EHLO out")
	reply(t, out, 502, plain("one", "any"))
	d := m.smtpFrom("192.168.7.7")
	reply(t, d, 250, "EHLO app")
	for i, code := range []int{235, 235, 454} {
		reply(t, d, code, plain(fmt.Sprintf("more%d", i), "any"))
		if code == 235 {
			d = m.smtpFrom("192.168.7.7")
			reply(t, d, 250, "EHLO app")
		}
	}
}

// A member that leaves the service leaves its projects, and those of an owner end.
func TestProjectsOfAccountsThatLeave(t *testing.T) {
	t.Parallel()
	s := startProjects(t, settings{"mailbox.erase_every": "1s"})
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	p := s.newProject(ada.Token, "left", nil)
	c := s.signedIn(p)
	want(t, s.Call(http.MethodPut, "/me/projects/left/members/bob@example.org", ada.Token, fields{"role": "owner"}), 200, "")
	token := get[project](s.service, "/me/projects/left", bob.Token).Token
	want(t, s.Call(http.MethodDelete, "/me", bob.Token, fields{"password": userPassword}), 204, "")
	if got := get[project](s.service, "/me/projects/left", ada.Token).members(); got != "ada@example.org owner" {
		t.Errorf("after bob has left the members are %q, want ada alone", got)
	}
	want(t, s.Call(http.MethodGet, "/mailboxes/me/messages", token, nil), 401, "auth.invalid_token")
	drop(t, c, "still taken", "a@company.test")
	want(t, s.Call(http.MethodDelete, "/me", ada.Token, fields{"password": userPassword}), 204, "")
	reply(t, c, 250, "MAIL FROM:<a@company.test>")
	if err := c.PrintfLine("RCPT TO:<a@company.test>"); err != nil {
		t.Fatal(err)
	}
	if code, text, _ := c.ReadResponse(0); code == 250 {
		t.Errorf("RCPT after the owner has left: %d %s, want a refusal", code, text)
	}
	eve := s.account("eve@example.org")
	s.Clock.Advance(2 * time.Second)
	eventually(t, "the name to be free", func() bool {
		return s.Call(http.MethodPost, "/me/projects", eve.Token, fields{"name": "left"}).Status == http.StatusCreated
	})
	eventually(t, "the end of the project's rows", func() bool {
		s.Clock.Advance(time.Minute) // the places of mail in lists of the Mailpit API are forgotten last
		return len(s.columnsWith(p.ID)) == 0
	})
}

// Members get the events of a project in the stream of their account, whoever causes them.
func TestMembersFollowProjects(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	p := s.newProject(ada.Token, "followed", nil)
	want(t, s.Call(http.MethodPut, "/me/projects/followed/members/bob@example.org", ada.Token, nil), 200, "")
	stream := s.OpenStream("/me/events", bob.Token)
	drop(t, s.signedIn(p), "news", "a@company.test")
	var got summary
	if e := stream.Next(); e.Name != "message" {
		t.Fatalf("the first event of a member's stream is %+v, want message", e)
	} else if e.Into(t, &got); got.Subject != "news" {
		t.Errorf("the message in a member's stream is %+v, want news", got)
	}
	want(t, s.Call(http.MethodPatch, "/messages/"+got.ID, ada.Token, fields{"seen": true}), 200, "")
	if e := stream.Next(); e.Name != "seen" {
		t.Errorf("the event after the owner marked the message is %+v, want seen", e)
	}
	want(t, s.Call(http.MethodDelete, "/messages/"+got.ID, p.Token, nil), 204, "")
	if e := stream.Next(); e.Name != "deleted" {
		t.Errorf("the event after the message was deleted is %+v, want deleted", e)
	}
}

// A client at any address signs in over TLS, and its mail is not looked up in blocklists.
func TestProjectSignInOverTLS(t *testing.T) {
	t.Parallel()
	s := startProjects(t, settings{"smtp.tls.self_signed": "true"})
	p := s.newProject(s.account("ada@example.org").Token, "shop", nil)
	conn, err := net.Dial("tcp", s.SMTP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "PROXY TCP4 %s 127.0.0.1 40000 25\r\n", stranger); err != nil {
		t.Fatal(err)
	}
	c := textproto.NewConn(conn)
	reply(t, c, 220, "")
	reply(t, c, 250, "EHLO out")
	reply(t, c, 220, "STARTTLS")
	secure := textproto.NewConn(tls.Client(conn, &tls.Config{InsecureSkipVerify: true})) // made at the start
	if text := reply(t, secure, 250, "EHLO out"); !strings.Contains(text, "AUTH PLAIN LOGIN") || strings.Contains(text, "CRAM") {
		t.Errorf("EHLO over TLS offers %q, want AUTH PLAIN LOGIN", text)
	}
	reply(t, secure, 535, plain("shop", "wrong"))
	reply(t, secure, 235, plain("shop", p.SMTP.Password))
	drop(t, secure, "over TLS", "a@company.test")
	m := get[[]summary](s.service, "/mailboxes/me/messages", p.Token)
	if subjects(m) != "over TLS" {
		t.Fatalf("the project has %q, want the mail over TLS", subjects(m))
	}
	if raw := s.call(http.MethodGet, "/messages/"+m[0].ID+"/raw", p.Token, 200, "").Body; !strings.Contains(string(raw), "with ESMTPSA") {
		t.Errorf("the raw message is %q, want one received with ESMTPSA", raw)
	}
}

package blackbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// tagged is a summary as the API of accounts has it.
type tagged struct {
	ID      string
	Subject string
	Tags    []string
}

// tagsOf returns the tags of the messages that a search finds, by subject, and the tags of the list.
func (m *mailpit) tagsOf(query string) (bySubject map[string]string, all string) {
	m.t.Helper()
	f := m.search(query)
	bySubject = make(map[string]string)
	for _, s := range f.Messages {
		bySubject[s.Subject] = strings.Join(s.Tags, ",")
	}
	return bySubject, strings.Join(f.Tags, ",")
}

// withTags returns a mail with a field X-Tags.
func withTags(subject, tags string, to string) string {
	return "From: app@company.test\r\nTo: " + to + "\r\nSubject: " + subject + "\r\nX-Tags: " + tags + "\r\n\r\nHello.\r\n"
}

// A mail arrives with the tags of its X-Tags field and of its addresses, as in Mailpit.
func TestMailArrivesWithTags(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for i, c := range []struct {
		field, to, want string
	}{
		{"Welcome, sign-up", "ada@company.test", "sign-up,Welcome"},
		{" , ,welcome,WELCOME", "ada@company.test", "Welcome"}, // spelt as the first one
		{"plain", "ada+promo@company.test", "plain,promo"},
		{"", "ada+one+two@company.test", "one,two"},
		{"a_b.c@d, under_score", "ada@company.test", "a_b.c@d,under_score"},
		{"gr\xc3\xbc\xc3\x9fe \xf0\x9f\x98\x80 ok, \xe2\x80\xae, \xff", "ada@company.test", "gr e ok"},
		{"=?utf-8?q?caf=C3=A9=0D=0AX-Evil:_1?=", "ada@company.test", "caf X-Evil 1"},
		{"<script>alert(1)</script>", "ada@company.test", "script alert 1 script"},
		{strings.Repeat("x", 300), "ada@company.test", strings.Repeat("x", 100)},
		{strings.Repeat("many,", 500), "ada@company.test", "many"},
	} {
		subject := fmt.Sprintf("mail%d", i)
		m.smtp(subject, withTags(subject, c.field, c.to), c.to)
		got, _ := m.tagsOf("subject:" + subject)
		if got[subject] != c.want {
			t.Errorf("a mail to %s with X-Tags %.40q has the tags %q, want %q", c.to, c.field, got[subject], c.want)
		}
		var full mailpitMessage
		m.ask(http.MethodGet, "/api/v1/message/latest", "", &full)
		if got := strings.Join(full.Tags, ","); got != c.want {
			t.Errorf("the message with X-Tags %.40q has the tags %q, want %q", c.field, got, c.want)
		}
	}
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	m.smtp("fifty", withTags("fifty", strings.Join(names, ","), "ada@company.test"), "ada@company.test")
	if got, _ := m.tagsOf("subject:fifty"); got["fifty"] != strings.Join(names[:20], ",") {
		t.Errorf("a mail with 50 tags has %s, want the first 20", got["fifty"])
	}
	m.smtp("hidden", "", "ada@company.test", "bob+secret@company.test")
	if got, _ := m.tagsOf("is:tagged subject:hidden"); got["hidden"] != "secret" {
		t.Errorf("a mail with a tag in a recipient of the envelope alone has the tags %q, want secret", got["hidden"])
	}
}

func TestMailpitTags(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, subject := range []string{"first", "second", "third"} {
		m.smtp(subject, "", "ada@company.test", "bob@company.test")
	}
	ids := make(map[string]string)
	for _, s := range m.search("code").Messages {
		ids[s.Subject] = s.ID
	}
	change := func(method, path, body string, status int) {
		t.Helper()
		a := m.try(method, path, body, nil)
		if a.Status != status || status == 200 && string(a.Body) != "ok" || status != 200 && (len(a.Body) == 0 || strings.Contains(string(a.Body), "<")) {
			t.Errorf("%s %s %.60s: %d %s, want %d", method, path, body, a.Status, a.Body, status)
		}
	}
	check := func(what, query, want, wantAll string) {
		t.Helper()
		got, all := m.tagsOf(query)
		var texts []string
		for _, subject := range []string{"first", "second", "third"} {
			if tags, found := got[subject]; found {
				texts = append(texts, subject+"="+tags)
			}
		}
		if strings.Join(texts, " ") != want || all != wantAll {
			t.Errorf("%s, search %s: %v with all tags %q, want %s with %q", what, query, texts, all, want, wantAll)
		}
		var list []string
		if m.ask(http.MethodGet, "/api/v1/tags", "", &list); strings.Join(list, ",") != wantAll {
			t.Errorf("%s, GET /api/v1/tags: %v, want %s", what, list, wantAll)
		}
	}
	two := fmt.Sprintf(`"IDs":[%q,%q,"nobody","msg_01jzq8w3v5e4t9n2k7m6x0y1dr"]`, ids["first"], ids["second"])
	change(http.MethodPut, "/api/v1/tags", `{"Tags":["zeta","Alpha Beta","ALPHA beta","é"],`+two+`}`, 200)
	check("tagged", "is:tagged", "first=Alpha Beta,zeta second=Alpha Beta,zeta", "Alpha Beta,zeta")
	check("tagged", `tag:"alpha beta"`, "first=Alpha Beta,zeta second=Alpha Beta,zeta", "Alpha Beta,zeta")
	check("tagged", `-tag:zeta`, "third=", "Alpha Beta,zeta")
	check("tagged", `!is:tagged`, "third=", "Alpha Beta,zeta")
	check("tagged", `tag:alpha`, "", "Alpha Beta,zeta") // the whole tag
	change(http.MethodPut, "/api/v1/tags", fmt.Sprintf(`{"Tags":["ZETA","third"],"IDs":[%q]}`, ids["third"]), 200)
	check("another", "tag:zeta", "first=Alpha Beta,zeta second=Alpha Beta,zeta third=third,zeta", "Alpha Beta,third,zeta")

	change(http.MethodPut, "/api/v1/tags/zeta", `{"Name":"Third"}`, 400)
	change(http.MethodPut, "/api/v1/tags/zeta", `{"Name":"\u00e9 \u202e"}`, 400)
	change(http.MethodPut, "/api/v1/tags/zeta", `{"Name":`, 400)
	change(http.MethodPut, "/api/v1/tags/nobody", `{"Name":"x"}`, 404)
	change(http.MethodDelete, "/api/v1/tags/nobody", "", 404)
	change(http.MethodDelete, "/api/v1/tags/%00%ff", "", 404)
	change(http.MethodPut, "/api/v1/tags/Zeta", `{"Name":"o me\r\nga"}`, 200)
	check("renamed", `tag:"o me ga"`, "first=Alpha Beta,o me ga second=Alpha Beta,o me ga third=o me ga,third", "Alpha Beta,o me ga,third")
	change(http.MethodPut, "/api/v1/tags/"+url.PathEscape("o me ga"), `{"Name":"O ME ga"}`, 200)
	check("respelt", `tag:"o me ga"`, "first=Alpha Beta,O ME ga second=Alpha Beta,O ME ga third=O ME ga,third", "Alpha Beta,O ME ga,third")
	change(http.MethodDelete, "/api/v1/tags/"+url.PathEscape("alpha beta"), "", 200)
	check("deleted", `is:tagged`, "first=O ME ga second=O ME ga third=O ME ga,third", "O ME ga,third")
	var info struct{ Tags map[string]int }
	if m.ask(http.MethodGet, "/api/v1/info", "", &info); info.Tags["O ME ga"] != 3 || info.Tags["third"] != 1 || len(info.Tags) != 2 {
		t.Errorf("GET /api/v1/info: Tags %v, want 3 and 1", info.Tags)
	}
	change(http.MethodPut, "/api/v1/tags", `{"Tags":[],`+two+`}`, 200)
	check("none", `is:tagged`, "third=O ME ga,third", "O ME ga,third")
	m.ask(http.MethodDelete, "/api/v1/search?query=tag:third", "", nil)
	check("gone", "code", "first= second=", "")

	// No more than 20 tags, and no body without end.
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("t%d", i))
	}
	change(http.MethodPut, "/api/v1/tags", `{"Tags":["`+strings.Join(many, `","`)+`"],`+two+`}`, 400)
	change(http.MethodPut, "/api/v1/tags", `{"Tags":["`+strings.Repeat("x", 5<<20)+`"],`+two+`}`, 413)
	change(http.MethodPut, "/api/v1/tags/t1", `{"Name":"`+strings.Repeat("x", 1<<20)+`"}`, 413)
	change(http.MethodPut, "/api/v1/tags", ``, 400)
	check("as before", "code", "first= second=", "")
}

// The messages of an account have the tags of the mail, are found by them, and streams report when they change.
func TestMessagesHaveTheTagsOfTheirMail(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	list := func(path string) (all []tagged) {
		t.Helper()
		return get[[]tagged](m.service, path, devKey)
	}
	m.smtp("plain", "", "ada@company.test")
	m.smtp("hello", withTags("hello", "news", "ada@company.test"), "ada@company.test", "bob@company.test")
	check := func(query string, want ...string) {
		t.Helper()
		var got []string
		for _, s := range list("/keys/messages?q=" + url.QueryEscape(query)) {
			got = append(got, s.Subject+" "+strings.Join(s.Tags, ","))
		}
		if !slices.Equal(got, want) {
			t.Errorf("GET /keys/messages?q=%s: %q, want %q", query, got, want)
		}
	}
	check("tag:news", "hello news", "hello news")
	check("-is:tagged", "plain ")
	for _, s := range list("/keys/messages") {
		if got, want := s.Tags != nil, s.Subject == "hello"; got != want {
			t.Errorf("GET /keys/messages: %s has tags %v, want some: %t", s.Subject, s.Tags, want)
		}
	}
	stream := m.OpenStream("/keys/events", devKey)
	id := m.search("plain").Messages[0].ID
	m.ask(http.MethodPut, "/api/v1/tags", fmt.Sprintf(`{"Tags":["later"],"IDs":[%q]}`, id), nil)
	message := list("/keys/messages?q=tag:later")[0]
	if e := stream.Next(); e.Name != "tagged" || !strings.HasSuffix(e.Data, `"id":"`+message.ID+`","tags":["later"]}`) {
		t.Errorf("GET /keys/events after a message was tagged: %+v, want tagged with its id and tags", e)
	}
	check("tag:news", "hello news", "hello news")
	m.ask(http.MethodPut, "/api/v1/tags/later", `{"Name":"now"}`, nil)
	check("is:tagged", "hello news", "hello news", "plain now")
	full := get[tagged](m.service, "/messages/"+message.ID, devKey)
	if !slices.Equal(full.Tags, []string{"now"}) {
		t.Errorf("GET /messages/%s: tags %v, want now", message.ID, full.Tags)
	}
	m.ask(http.MethodDelete, "/api/v1/tags/now", "", nil)
	check("tag:now")
	check("is:unread subject:plain") // it was read, and changing tags leaves it so
}

// Mail that is sent by the API has tags, which cannot add a field to its header.
func TestMailpitSendsTags(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	send := func(tags string, status int) {
		t.Helper()
		a := m.try(http.MethodPost, "/api/v1/send", `{"From":{"Email":"app@company.test"},"To":[{"Email":"ada@company.test"}],"Subject":"sent","Text":"x","Tags":`+tags+`}`, func(r *http.Request) {
			r.SetBasicAuth("ci-runner", "any")
		})
		if a.Status != status {
			t.Errorf("POST /api/v1/send with Tags %.60s: %d %s, want %d", tags, a.Status, a.Body, status)
		}
	}
	send(`["one","two words","x\u00e9,y"]`, 200)
	f := m.search("subject:sent")
	if got := strings.Join(f.Messages[0].Tags, "|"); got != "one|two words|x y" || f.Messages[0].Username != "ci-runner" {
		t.Errorf("a mail sent with tags has %q and the user name %q, want one|two words|x y of ci-runner", got, f.Messages[0].Username)
	}
	for _, tags := range []string{`["a\r\nX-Evil: 1"]`, `["a\nb"]`, `["` + strings.Repeat("x", 70_000) + `"]`, `[` + strings.Repeat(`"a",`, 100) + `"a"]`, `["\u0000"]`} {
		send(tags, 400)
	}
	send(`["é","",","]`, 200)
	if a := m.ask(http.MethodGet, "/api/v1/message/latest/headers", "", nil); strings.Contains(string(a.Body), "X-Tags") {
		t.Errorf("headers of a mail whose tags were none: %s, want no X-Tags", a.Body)
	}
}

// Mailpit's page reads the list again when a tag is gone.
func TestMailpitEventsOfTags(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, subject := range []string{"one", "two"} {
		m.smtp(subject, withTags(subject, "kept,"+subject, "ada@company.test"), "ada@company.test")
	}
	s := m.follow()
	change := func(method, path, body string, types ...string) {
		t.Helper()
		m.ask(method, path, body, nil)
		s.expect(types...)
	}
	one := m.search("subject:one").Messages[0].ID
	change(http.MethodPut, "/api/v1/tags", fmt.Sprintf(`{"Tags":["kept","one","more"],"IDs":[%q]}`, one), "update", "stats")
	change(http.MethodPut, "/api/v1/tags/one", `{"Name":"first"}`, "update", "prune", "stats")
	change(http.MethodDelete, "/api/v1/tags/kept", "", "update", "update", "prune", "stats")
	m.ask(http.MethodPut, "/api/v1/messages", `{"Read":true,"IDs":["`+one+`"]}`, nil)
	if _, e := s.next(); e.Type != "update" || !slices.Equal(e.Data.Tags, []string{"first", "more"}) || !e.Data.Read {
		t.Errorf("event %s of the tags %v, read %t; want update of first and more, read", e.Type, e.Data.Tags, e.Data.Read)
	}
	s.expect("stats")
	change(http.MethodDelete, "/api/v1/messages", "", "delete", "delete", "truncate", "stats")
}

// Tags of a project are those of its mail alone, whatever identifiers a call names.
func TestTagsOfProjectsAreApart(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	for _, name := range []string{"one", "two"} {
		c := m.smtpFrom("192.168.7.7")
		reply(t, c, 250, "EHLO app")
		reply(t, c, 235, plain(name, "any"))
		reply(t, c, 250, "MAIL FROM:<app@company.test>")
		reply(t, c, 250, "RCPT TO:<ada@company.test>")
		reply(t, c, 354, "DATA")
		reply(t, c, 250, withTags("of-"+name, "shared,"+name, "ada@company.test")+".")
		m.Clock.Advance(time.Second)
	}
	check := func(what, base, wantAll, wantMail string) {
		t.Helper()
		var list []string
		m.ask(http.MethodGet, base+"/api/v1/tags", "", &list)
		var f mailpitFrame
		m.ask(http.MethodGet, base+"/api/v1/search?query=is:tagged", "", &f)
		if got := strings.Join(list, ","); got != wantAll || strings.Join(f.Tags, ",") != wantAll {
			t.Errorf("%s: the tags below %q are %s, in the list %v; want %s", what, base, got, f.Tags, wantAll)
		}
		if len(f.Messages) != 1 || strings.Join(f.Messages[0].Tags, ",") != wantMail {
			t.Errorf("%s: below %q is:tagged finds %+v, want one mail with %s", what, base, f.Messages, wantMail)
		}
	}
	check("at first", "/p/one", "one,shared", "one,shared")
	var two mailpitFrame
	m.ask(http.MethodGet, "/p/two/api/v1/messages", "", &two)
	foreign := two.Messages[0].ID
	m.ask(http.MethodPut, "/p/one/api/v1/tags", fmt.Sprintf(`{"IDs":[%q],"Tags":["stolen"]}`, foreign), nil)
	m.ask(http.MethodPut, "/p/one/api/v1/tags/shared", `{"Name":"mine"}`, nil)
	for method, body := range map[string]string{http.MethodPut: `{"Name":"x"}`, http.MethodDelete: ""} {
		if a := m.try(method, "/p/one/api/v1/tags/two", body, nil); a.Status != 404 {
			t.Errorf("%s of a tag of another project: %d %s, want 404", method, a.Status, a.Body)
		}
	}
	check("renamed", "/p/one", "mine,one", "mine,one")
	check("renamed", "/p/two", "shared,two", "shared,two")
	if a := m.try(http.MethodPost, "/p/one/api/v1/message/"+foreign+"/release", `{"To":["a@b.example"]}`, nil); a.Status != 404 {
		t.Errorf("release of a message of another project: %d %s, want 404", a.Status, a.Body)
	}
}

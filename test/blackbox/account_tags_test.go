package blackbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// tagsOfAccount returns the tags of the messages that a search of an account finds, as "subject tag,tag", newest first.
func (s *service) tagsOfAccount(token, q string) (all []string) {
	s.t.Helper()
	for _, m := range get[[]tagged](s, "/me/messages?limit=100&q="+url.QueryEscape(q), token) {
		all = append(all, m.Subject+" "+strings.Join(m.Tags, ","))
	}
	return all
}

// checkTags checks what tagsOfAccount returns.
func (s *service) checkTags(what, token, q string, want ...string) {
	s.t.Helper()
	if got := s.tagsOfAccount(token, q); !slices.Equal(got, want) {
		s.t.Errorf("%s: GET /me/messages?q=%s has %q, want %q", what, q, got, want)
	}
}

// localUser is the account of profile: dev, as a local page gets it.
func (m *mailpit) localUser() (u user) {
	m.t.Helper()
	m.Call(http.MethodPost, "/auth/local", "", nil).Into(m.t, &u)
	return u
}

// The tags that an account gives to a message of the sink are those of its mail and of all messages of that mail.
func TestAccountTagsMailOfTheSink(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	u := m.localUser()
	m.smtp("one", withTags("one", "News", "ada@company.test"), "ada@company.test", "bob@company.test")
	m.smtp("two", "", "ada@company.test")
	m.smtp("three", "", "carol@company.test")
	ids := make(map[string]string)
	for _, s := range get[[]tagged](m.service, "/me/messages", u.Token) {
		ids[s.Subject] = s.ID
	}
	check := func(what string, count, wantCount int, wantTags string, want ...string) {
		t.Helper()
		if count != wantCount {
			t.Errorf("PATCH /me/messages, %s: count %d, want %d", what, count, wantCount)
		}
		m.checkTags(what, u.Token, "is:tagged", want...)
		bySubject, names := m.tagsOf("is:tagged")
		if names != wantTags {
			t.Errorf("%s: the Mailpit API has the tags %q, want %q", what, names, wantTags)
		}
		for _, text := range want {
			if subject, tags, _ := strings.Cut(text, " "); bySubject[subject] != tags {
				t.Errorf("%s: %s has the tags %q in the Mailpit API, want %q", what, subject, bySubject[subject], tags)
			}
		}
	}
	stream := m.OpenStream("/me/events", u.Token)
	check("one message of two", m.count(http.MethodPatch, u, fields{"ids": []string{ids["one"]}, "tags": []string{" checkout ", "NEWS"}}), 1, "checkout,News",
		"one checkout,News", "one checkout,News")
	var reported []string
	for range 2 {
		e := stream.Next()
		if e.Name != "tagged" || !strings.HasSuffix(e.Data, `"tags":["checkout","News"]}`) {
			t.Errorf("GET /me/events after PATCH /me/messages: %+v, want tagged with checkout and News", e)
		}
		reported = append(reported, e.Data)
	}
	if !strings.Contains(strings.Join(reported, " "), ids["one"]) {
		t.Errorf("GET /me/events after PATCH /me/messages: %q, want an event of %s", reported, ids["one"])
	}
	check("by a search, with seen", m.count(http.MethodPatch, u, fields{"q": "is:unread -subject:one", "seen": true, "tags": []string{"o\tm<e>ga"}}), 2, "checkout,News,o m e ga",
		"three o m e ga", "two o m e ga", "one checkout,News", "one checkout,News")
	m.checkTags("marked by the same call", u.Token, "is:read", "three o m e ga", "two o m e ga")
	check("again", m.count(http.MethodPatch, u, fields{"q": "subject:three", "tags": []string{"O M E GA"}}), 1, "checkout,News,o m e ga",
		"three o m e ga", "two o m e ga", "one checkout,News", "one checkout,News")
	check("seen alone", m.count(http.MethodPatch, u, fields{"all": true, "seen": false}), 4, "checkout,News,o m e ga",
		"three o m e ga", "two o m e ga", "one checkout,News", "one checkout,News")
	check("none", m.count(http.MethodPatch, u, fields{"q": "tag:news", "tags": []string{}}), 2, "o m e ga", "three o m e ga", "two o m e ga")
	check("all", m.count(http.MethodPatch, u, fields{"all": true, "tags": []string{"z", "a"}}), 4, "a,z", "three a,z", "two a,z", "one a,z", "one a,z")
	full := get[tagged](m.service, "/messages/"+ids["two"], u.Token)
	if !slices.Equal(full.Tags, []string{"a", "z"}) {
		t.Errorf("GET /messages/%s: tags %q, want a and z", ids["two"], full.Tags)
	}
	m.ask(http.MethodDelete, "/api/v1/tags/a", "", nil)
	m.checkTags("a tag that Mailpit's API removed", u.Token, "is:tagged", "three z", "two z", "one z", "one z")
}

// A change of more messages than fit into a transaction gives the tags to all of them.
func TestAccountTagsManyMessages(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	u := m.localUser()
	var to []string
	for i := range 60 {
		to = append(to, fmt.Sprintf("user%d@company.test", i))
	}
	for i := range 4 {
		m.smtp(fmt.Sprint("mail", i), "", to...)
	}
	if got := m.count(http.MethodPatch, u, fields{"q": "subject:mail", "tags": []string{"bulk"}}); got != 240 {
		t.Errorf("PATCH /me/messages by a search: count %d, want 240", got)
	}
	if got := get[struct{ Count int }](m.service, "/me/messages/count?q=tag:bulk", u.Token).Count; got != 240 {
		t.Errorf("GET /me/messages/count?q=tag:bulk: %d, want 240", got)
	}
	if bySubject, _ := m.tagsOf("tag:bulk"); len(bySubject) != 4 {
		t.Errorf("the Mailpit API finds the tag at %v, want it at 4 mails", bySubject)
	}
}

// Messages that did not come by the sink get tags of their own, and those of other accounts get none.
func TestAccountTagsOtherMail(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	own, second, others := s.create(ada.Token, nil), s.create(ada.Token, nil), s.create(bob.Token, nil)
	first := s.mail(own.box(), apptest.Mail{Subject: "first", Text: "Hello."})
	s.mail(second.box(), apptest.Mail{Subject: "second", Text: "Hello."})
	foreign := s.mail(others.box(), apptest.Mail{Subject: "foreign", Text: "Hello."})
	ids := []string{foreign.ID, first.ID, "nothing"}
	stream := s.OpenStream("/mailboxes/me/events", own.Token)
	if got := s.count(http.MethodPatch, ada, fields{"ids": ids, "tags": []string{"Mine", "b"}}); got != 1 {
		t.Errorf("PATCH /me/messages with a message of one's own and one of another account: count %d, want 1", got)
	}
	if e := stream.Next(); e.Name != "tagged" || !strings.HasSuffix(e.Data, `"tags":["b","Mine"]}`) {
		t.Errorf("GET /mailboxes/me/events after PATCH /me/messages: %+v, want tagged with b and Mine", e)
	}
	s.checkTags("tagged", ada.Token, "", "second ", "first b,Mine")
	s.checkTags("of another account", bob.Token, "", "foreign ")
	s.checkTags("searched", ada.Token, "tag:mine", "first b,Mine")
	if got := get[[]tagged](s, "/mailboxes/me/messages", own.Token); len(got) != 1 || !slices.Equal(got[0].Tags, []string{"b", "Mine"}) {
		t.Errorf("GET /mailboxes/me/messages has %+v, want first with b and Mine", got)
	}
	s.count(http.MethodPatch, ada, fields{"all": true, "tags": []string{"MINE"}})
	s.checkTags("tagged again", ada.Token, "tag:mine", "second MINE", "first MINE")
	s.count(http.MethodPatch, ada, fields{"ids": []string{first.ID}, "tags": []string{}})
	if got := get[[]map[string]any](s, "/me/messages", ada.Token); got[1]["tags"] != nil || got[0]["tags"] == nil {
		t.Errorf("GET /me/messages after the tags of first were removed: tags %v and %v, want none, and those of second", got[1]["tags"], got[0]["tags"])
	}
}

func TestAccountTagsAreChecked(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	box := s.create(u.Token, nil)
	s.mail(box.box(), apptest.Mail{Subject: "hello", Text: "Hello."})
	numbered := func(n int) (tags []string) {
		for i := range n {
			tags = append(tags, fmt.Sprintf("t%02d", i))
		}
		return tags
	}
	for _, c := range []struct {
		body    fields
		pointer string
	}{
		{fields{}, ""},
		{fields{"tags": nil}, "/tags"},
		{fields{"tags": "one"}, "/tags"},
		{fields{"tags": []any{1}}, "/tags/0"},
		{fields{"tags": []any{"a", nil}}, "/tags/1"},
		{fields{"tags": []string{"a", ""}}, "/tags/1"},
		{fields{"tags": []string{"é \u202e,"}}, "/tags/0"},
		{fields{"tags": numbered(21)}, "/tags"},
		{fields{"tags": numbered(1001)}, "/tags"},
		{fields{"tags": []string{"a"}, "seen": nil}, "/seen"},
		{fields{"tags": []string{"a"}, "tag": "b"}, "/tag"},
	} {
		c.body["all"] = true
		a := s.Call(http.MethodPatch, "/me/messages", u.Token, c.body)
		want(t, a, 422, "request.invalid")
		var pointers []string
		for _, f := range problemOf(t, a).Errors {
			pointers = append(pointers, f.Pointer)
		}
		if got := strings.Join(pointers, " "); got != c.pointer {
			t.Errorf("PATCH /me/messages %.80v: the errors are at %q, want %q", c.body, got, c.pointer)
		}
	}
	want(t, s.Call(http.MethodDelete, "/me/messages", u.Token, fields{"q": "nothing", "tags": []string{"a"}}), 422, "request.invalid")
	s.checkTags("refused", u.Token, "", "hello ")
	for _, c := range []struct {
		tags []string
		want string
	}{
		{numbered(20), strings.Join(numbered(20), ",")},
		{append(numbered(20), "T00", " t01 ", "t02!"), strings.Join(numbered(20), ",")},
		{[]string{strings.Repeat("x", 300), strings.Repeat("x", 100) + "y"}, strings.Repeat("x", 100)},
		{[]string{"café, 1", "<b>"}, "b,caf 1"},
	} {
		s.count(http.MethodPatch, u, fields{"all": true, "tags": c.tags})
		s.checkTags(fmt.Sprintf("PATCH with %.60q", c.tags), u.Token, "", "hello "+c.want)
	}
}

// A member gives tags to the mail of a project, spelt as the project spells them, and others do not.
func TestMembersTagMailOfProjects(t *testing.T) {
	t.Parallel()
	s := startProjects(t, nil)
	ada, bob, eve := s.account("ada@example.org"), s.account("bob@example.org"), s.account("eve@example.org")
	p, foreign := s.newProject(ada.Token, "shared", nil), s.newProject(eve.Token, "foreign", nil)
	want(t, s.Call(http.MethodPut, "/me/projects/shared/members/bob@example.org", ada.Token, nil), 200, "")
	drop(t, s.signedIn(p), "invoice", "a@company.test")
	drop(t, s.signedIn(foreign), "elsewhere", "a@company.test")
	s.count(http.MethodPatch, eve, fields{"all": true, "tags": []string{"URGENT"}})
	id := get[[]tagged](s.service, "/me/messages", bob.Token)[0].ID
	if got := s.count(http.MethodPatch, eve, fields{"ids": []string{id}, "tags": []string{"stolen"}}); got != 0 {
		t.Errorf("PATCH /me/messages of a stranger with a message of the project: count %d, want 0", got)
	}
	s.count(http.MethodPatch, bob, fields{"ids": []string{id}, "tags": []string{"urgent", "Paid"}})
	for name, token := range map[string]string{"an owner": ada.Token, "a member": bob.Token} {
		s.checkTags(name, token, "tag:urgent", "invoice Paid,urgent")
	}
	s.checkTags("a stranger", eve.Token, "", "elsewhere URGENT")
	var f mailpitFrame
	s.asProject(p, "/api/v1/search?query=tag:paid", &f)
	if len(f.Messages) != 1 || strings.Join(f.Messages[0].Tags, ",") != "Paid,urgent" || strings.Join(f.Tags, ",") != "Paid,urgent" {
		t.Errorf("the Mailpit API of the project has %+v, want invoice with Paid and urgent", f)
	}
	s.count(http.MethodPatch, ada, fields{"q": "subject:invoice", "tags": []string{"PAID"}})
	s.checkTags("spelt as before", bob.Token, "", "invoice Paid")
}

// Changes of the same messages at once all succeed, and a mail has the tags of its messages in the end.
func TestAccountTagsBesideOtherChanges(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	u := m.localUser()
	for i := range 6 {
		m.smtp(fmt.Sprint("mail", i), "", "ada@company.test", "bob@company.test", "carol@company.test")
	}
	var mails []string
	for _, s := range m.search("subject:mail").Messages {
		mails = append(mails, strconv.Quote(s.ID))
	}
	var changes sync.WaitGroup
	for w := range 4 {
		changes.Go(func() {
			for i := range 5 {
				tags := []string{fmt.Sprintf("t%d-%d", w, i)}
				body := []fields{{"all": true, "tags": tags}, {"q": "subject:mail", "tags": tags, "seen": i%2 == 0}, {"all": true, "seen": i%2 == 1}}[(w+i)%3]
				if a := m.Call(http.MethodPatch, "/me/messages", u.Token, body); a.Status != 200 {
					t.Errorf("PATCH /me/messages %v beside others: %d %s, want 200", body, a.Status, a.Body)
				}
				if a := m.try(http.MethodPut, "/api/v1/tags", fmt.Sprintf(`{"Tags":["m%d-%d"],"IDs":[%s]}`, w, i, strings.Join(mails, ",")), nil); a.Status != 200 {
					t.Errorf("PUT /api/v1/tags beside others: %d %s, want 200", a.Status, a.Body)
				}
			}
		})
	}
	changes.Wait()
	bySubject, _ := m.tagsOf("subject:mail")
	for _, text := range m.tagsOfAccount(u.Token, "subject:mail") {
		if subject, tags, _ := strings.Cut(text, " "); bySubject[subject] != tags || tags == "" {
			t.Errorf("a message of %s has the tags %q, and its mail %q, want the same", subject, tags, bySubject[subject])
		}
	}
}

package blackbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// filterMails are mails by name, of which each filter finds some.
func filterMails() map[string][]byte {
	mail := func(from, subject, text string) []byte {
		return crlf("From: "+from, "Subject: "+subject, "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "", text)
	}
	return map[string][]byte{
		"code":   mail("Bank <no-reply@bank.example>", "Your 100% code", "Your verification code is 482913."),
		"link":   mail("=?utf-8?q?Stra=C3=9Fe_GMBH?= <shop@strasse.example>", "=?utf-8?q?Gr=C3=BC=C3=9Fe_a=5Fb?=", "Read https://shop.example/news today."),
		"both":   mail("Bank <no-reply@bank.example>", "=?utf-8?b?zqPOmc6jzqXOps6fzqM=?=", "Your verification code is 771204. Or go to https://bank.example/verify?t=1"),
		"file":   withAttachment("a.txt", "aGk="),
		"plain":  mail("plain@example.org", "axb 1000", "hello"),
		"markup": crlf("From: m@example.org", "Subject: markup", "Content-Type: text/html", "", `<p><a href="https://shop.example/">shop</a></p>`),
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, fields{"name": "n", "scopes": []string{"messages:read", "otp:read"}})
	m := s.create(u.Token, nil)
	order := []string{"code", "link", "both", "file", "plain", "markup"}
	names := make(map[string]string)
	for _, name := range order {
		names[s.mail(m.box(), apptest.Mail{Raw: filterMails()[name]}).ID] = name
	}
	for query, want := range map[string]string{
		"":                                    "markup plain file both link code",
		"from=BANK":                           "both code",
		"from=no-reply%40bank":                "both code",
		"from=STRASSE+gmbh":                   "link", // full case folding, in the name
		"from=stra%C3%9Fe":                    "link",
		"from=%25":                            "",
		"subject=100%25":                      "code", // % and _ stand for themselves
		"subject=A_B":                         "link",
		"subject=a%25b":                       "",
		"subject=%CF%83%CE%B9%CF%83%CF%8D":    "", // an accent is not a matter of case
		"subject=%CF%83%CE%B9%CF%83%CF%85":    "both",
		"subject=%CF%86%CE%BF%CF%82":          "both", // a final sigma
		"has=code":                            "both code",
		"has=link":                            "markup both link",
		"has=link&has=code":                   "both",
		"has=attachment":                      "file",
		"has=attachment&has=code":             "",
		"has=code&has=code":                   "both code",
		"from=bank&subject=code&has=code":     "code",
		"unseen=true&has=link":                "markup both link",
		"unseen=false&has=link":               "markup both link",
		"has=link&limit=2":                    "markup both",
		"from=" + strings.Repeat("x", 255):    "",
		"subject=axb&from=plain&unseen=true":  "plain",
		"from=&subject=":                      "markup plain file both link code",
		"has=code&since=2026-03-14T13:00:00Z": "",
	} {
		for path, token := range map[string]string{
			"/mailboxes/me/messages?": m.Token, "/keys/mailboxes/" + m.ID + "/messages?": k.Key, "/me/messages?": u.Token, "/keys/messages?": k.Key,
		} {
			var got []string
			for _, found := range get[[]summary](s, path+query, token) {
				got = append(got, names[found.ID])
			}
			if strings.Join(got, " ") != want {
				t.Errorf("GET %s%s lists %v, want %s", path, query, got, want)
			}
		}
	}
	for _, query := range []string{"has=codes", "has=code,link", "has=code&has=x", "unseen=1x", "from=a&from=b", "from=" + strings.Repeat("x", 256)} {
		s.call(http.MethodGet, "/mailboxes/me/messages?"+query, m.Token, 422, "request.invalid")
		s.call(http.MethodGet, "/keys/mailboxes/"+m.ID+"/messages?"+query, k.Key, 422, "request.invalid")
	}
	for query, code := range map[string]string{"subject=100%25": "482913", "from=bank&subject=%CF%83%CE%B9": "771204", "from=Bank": "771204"} {
		for path, token := range map[string]string{"/mailboxes/me/otp/latest?": m.Token, "/keys/mailboxes/" + m.ID + "/otp/latest?": k.Key} {
			var got struct{ Code string }
			s.call(http.MethodGet, path+query, token, 200, "").Into(t, &got)
			if got.Code != code {
				t.Errorf("GET %s%s = %s, want %s", path, query, got.Code, code)
			}
		}
	}
	s.call(http.MethodGet, "/mailboxes/me/otp/latest?subject=axb", m.Token, 404, "otp.not_found")
}

func TestFilteredListHasPages(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	for i := range 7 {
		s.Send(apptest.Mail{To: []string{m.Address}, Subject: []string{"even", "odd"}[i%2] + fmt.Sprint(i), Text: "x"})
	}
	var got []string
	for one := range pages[summary](s, "/mailboxes/me/messages?subject=EVEN&limit=1", m.Token) {
		got = append(got, one.Subject)
	}
	if !slices.Equal(got, []string{"even6", "even4", "even2", "even0"}) {
		t.Errorf("the pages of subject=EVEN list %v, want %v", got, []string{"even6", "even4", "even2", "even0"})
	}
}

func TestWaitEndsWithTheFirstMatch(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	send := func(subject, text string) {
		s.Send(apptest.Mail{To: []string{m.Address}, Subject: subject, Text: text})
	}
	send("before", "hello")
	match := s.waiting(waitForMail+"&subject=wanted&has=code&unseen=true", m.Token)
	late := s.waiting(waitForMail+"&from=sender&subject="+url.QueryEscape("é"), m.Token)
	code := s.waiting(waitForCode+"&subject=wanted", m.Token)
	send("wanted", "no number")
	send("other", "Your verification code is 111222.")
	send("Wanted: this", "Your verification code is 482913.")
	send("=?utf-8?q?CAF=C3=89?=", "hello")
	for name, a := range map[string]apptest.Response{"match": match(), "late": late()} {
		var list []summary
		a.Into(t, &list)
		if len(list) != 1 || list[0].Subject != map[string]string{"match": "Wanted: this", "late": "CAFÉ"}[name] {
			t.Errorf("%s: the list is %s, want %s alone", name, a.Body, map[string]string{"match": "Wanted: this", "late": "CAFÉ"}[name])
		}
	}
	if a := code(); !strings.Contains(string(a.Body), "482913") {
		t.Errorf("the wait for a code = %s, want 482913 in it", a.Body)
	}
	want(t, s.waiting("/mailboxes/me/messages?wait=1&subject=never", m.Token)(), 200, "")
}

func TestMarkingAMessageAsSeenCounts(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	one := s.mail(m.box(), apptest.Mail{Subject: "one", Text: "x"})
	two := s.mail(m.box(), apptest.Mail{Subject: "two", Text: "x"})
	unread := func() int { return get[mailbox](s, "/mailboxes/me", m.Token).UnreadCount }
	for _, step := range []struct {
		id     string
		seen   bool
		unread int
	}{{one.ID, true, 1}, {one.ID, true, 1}, {two.ID, true, 0}, {one.ID, false, 1}, {one.ID, false, 1}, {one.ID, true, 0}, {one.ID, false, 1}} {
		a := s.Call(http.MethodPatch, "/messages/"+step.id, m.Token, fields{"seen": step.seen})
		want(t, a, 200, "")
		var got summary
		a.Into(t, &got)
		if got.ID != step.id || got.Seen != step.seen || got.Source != "smtp" || unread() != step.unread {
			t.Errorf(`PATCH /messages/%s with seen %t: got %s and %d unread, want that message, seen so, with source "smtp", and %d unread`, step.id, step.seen, a.Body, unread(), step.unread)
		}
	}
	if list := get[[]summary](s, "/mailboxes/me/messages?unseen=true", m.Token); len(list) != 1 || list[0].ID != one.ID {
		t.Errorf("GET /mailboxes/me/messages?unseen=true = %+v, want %s alone", list, one.ID)
	}
	plain := func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
	want(t, s.do(http.MethodPatch, "/messages/"+one.ID, m.Token, []byte(`{"seen":true}`), plain), 415, "request.media_type")
	for _, body := range []any{fields{}, fields{"seen": "yes"}, fields{"seen": nil}, fields{"seen": true, "subject": "x"}} {
		want(t, s.Call(http.MethodPatch, "/messages/"+one.ID, m.Token, body), 422, "request.invalid")
	}
	large := fields{"seen": true, "x": strings.Repeat("x", 20<<10)}
	want(t, s.Call(http.MethodPatch, "/messages/"+one.ID, m.Token, large), 413, "request.too_large")
	want(t, s.Call(http.MethodPatch, "/messages/msg_01jzq8w3v5e4t9n2k7m6x0y1dr", m.Token, fields{"seen": true}), 404, "message.not_found")
	want(t, s.Call(http.MethodPatch, "/messages/x", m.Token, fields{"seen": true}), 404, "message.not_found")
}

// A wait for unread messages hears of one that becomes unread again, and no other wait ends because of it.
func TestMarkingAsUnseenEndsOnlyTheWaitForIt(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	one := s.mail(m.box(), apptest.Mail{Subject: "one", Text: "x"})
	mark := func(seen bool) {
		want(t, s.Call(http.MethodPatch, "/messages/"+one.ID, m.Token, fields{"seen": seen}), 200, "")
	}
	mark(true)
	unseen := s.waiting(waitForMail+"&unseen=true", m.Token)
	newer := s.waiting(waitForMail+"&after="+one.ID, m.Token)
	mark(false)
	if a := unseen(); !strings.Contains(string(a.Body), one.ID) {
		t.Errorf("the wait for an unseen message = %s, want %s in it", a.Body, one.ID)
	}
	mark(true)
	two := s.mail(m.box(), apptest.Mail{Subject: "two", Text: "x"})
	if a := newer(); !strings.Contains(string(a.Body), two.ID) || strings.Contains(string(a.Body), one.ID) {
		t.Errorf("the wait for a newer message = %s, want %s and not %s", a.Body, two.ID, one.ID)
	}
}

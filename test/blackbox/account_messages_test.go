package blackbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// addressed is a message in the list of an account.
type addressed struct {
	summary
	Address string
}

// accountList are the lists of all messages of an account, with the credential of each.
func accountLists(u user, k developerKey) map[string]string {
	return map[string]string{"/me/messages": u.Token, "/keys/messages": k.Key}
}

// subjects are the subjects of a list.
func subjects[T interface{ subject() string }](all []T) string {
	var names []string
	for _, m := range all {
		names = append(names, m.subject())
	}
	return strings.Join(names, " ")
}

func (m summary) subject() string { return m.Subject }

func TestAccountListHasTheMessagesOfAllMailboxes(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	w.verified(w.ada, shop)
	k := w.key(w.ada, nil)
	one, two, short := w.create(w.ada.Token, nil), w.keyMailbox(k, nil), w.create(w.ada.Token, fields{"ttl": 60})
	bob := w.account("bob@example.org")
	others := w.create(bob.Token, nil)
	for _, m := range []struct{ to, subject string }{
		{one.Address, "1"}, {two.Address, "2"}, {others.Address, "others"}, {"ann@" + shop, "3"}, {short.Address, "expires"}, {one.Address, "4"},
	} {
		w.Clock.Advance(time.Second)
		w.Send(apptest.Mail{To: []string{m.to}, Subject: m.subject, Text: "hello"})
	}
	w.Clock.Advance(time.Minute)
	for path, token := range accountLists(w.ada, k) {
		for query, want := range map[string]string{
			"":                            "4 3 2 1",
			"mailbox=" + one.ID:           "4 1",
			"mailbox=" + one.Address:      "4 1",
			"mailbox=ANN@" + shop:         "3",
			"mailbox=" + others.ID:        "", // as one that does not exist
			"mailbox=" + others.Address:   "",
			"mailbox=" + short.ID:         "",
			"mailbox=x":                   "",
			"domain=" + shop:              "3",
			"domain=GONEBOX.localhost":    "4 2 1",
			"domain=none.example":         "",
			"source=account":              "4 1",
			"source=key":                  "2",
			"source=catchall":             "3",
			"source=guest":                "",
			"source=key&domain=" + shop:   "",
			"limit=2":                     "4 3",
			"q=subject:2":                 "2",
			"q=hello&source=catchall":     "3",
			"q=":                          "4 3 2 1",
			"q=is:unread&subject=4":       "4",
			"since=2026-03-14T23:00:00Z":  "",
			"to=ann@&q=hello&unseen=true": "3",
		} {
			list := get[[]addressed](w.service, path+"?"+query, token)
			if got := subjects(list); got != want {
				t.Errorf("GET %s?%s: %s, want %s", path, query, got, want)
			}
			for _, m := range list {
				if want := map[string]string{one.ID: one.Address, two.ID: two.Address}[m.MailboxID]; m.Subject != "3" && m.Address != want || m.Subject == "3" && m.Address != "ann@"+shop {
					t.Errorf("GET %s?%s: the message %s of %s has the address %q, want %q", path, query, m.Subject, m.MailboxID, m.Address, want)
				}
			}
		}
		var paged []addressed
		for m := range pages[addressed](w.service, path+"?limit=1", token) {
			paged = append(paged, m)
		}
		if got := subjects(paged); got != "4 3 2 1" {
			t.Errorf("the pages of GET %s?limit=1: %s, want 4 3 2 1", path, got)
		}
		for _, query := range []string{"q=after:soon", "q=" + strings.Repeat("a+", 17), "q=" + strings.Repeat("a", 1001), "source=x", "cursor=x", "after=x", "limit=101", "projects=x", "project=" + strings.Repeat("a", 41), "to=" + strings.Repeat("a", 256)} {
			w.call(http.MethodGet, path+"?"+query, token, 422, "request.invalid")
		}
		foreign := get[[]addressed](w.service, "/me/messages", bob.Token)[0].ID
		after := get[[]addressed](w.service, path+"?after="+foreign, token)
		if got := subjects(after); got != "4 3" {
			t.Errorf("GET %s after a message of another account: %s, want 4 3", path, got)
		}
	}
}

// The filter to looks at the recipients of the envelope that are the mailbox's, and at To and Cc.
func TestToFilter(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, nil)
	m := s.create(u.Token, nil)
	tagged := strings.Replace(m.Address, "@", "+signup@", 1)
	for _, c := range []struct {
		to     string
		header []string
	}{
		{tagged, []string{"Subject: tag", "To: list@team.example"}},
		{m.Address, []string{"Subject: to", "To: =?utf-8?q?Zo=C3=AB?= <zoe@team.example>, other@team.example"}},
		{m.Address, []string{"Subject: cc", "To: list@team.example", "Cc: Carol C <carol@team.example>"}},
		{m.Address, []string{"Subject: none"}},
	} {
		s.Send(apptest.Mail{To: []string{c.to}, Raw: crlf(append(c.header, "From: a@shop.example", "", "Your verification code is 482913.")...)})
	}
	lists := accountLists(u, k)
	lists["/mailboxes/me/messages"], lists["/keys/mailboxes/"+m.ID+"/messages"] = m.Token, k.Key
	codes := map[string]string{"/mailboxes/me/otp/latest": m.Token, "/keys/mailboxes/" + m.ID + "/otp/latest": k.Key}
	for to, want := range map[string]string{
		"+SIGNUP@": "tag", "zoë": "to", "ZOË": "to", "zoe@": "to", "other@team": "to", "carol": "cc", "Carol C": "cc", "list@": "cc tag",
		m.Address: "none cc to tag", "%": "", "shop": "", "team.example": "cc to tag", "": "none cc to tag",
	} {
		if to == m.Address { // the tag is between the local part and the domain
			want = "none cc to"
		}
		for path, token := range lists {
			if got := subjects(get[[]summary](s, path+"?to="+url.QueryEscape(to), token)); got != want {
				t.Errorf("GET %s?to=%s: %s, want %s", path, to, got, want)
			}
		}
		for path, token := range codes {
			a := s.Call(http.MethodGet, path+"?to="+url.QueryEscape(to), token, nil)
			var got code
			if first, _, _ := strings.Cut(want, " "); first == "" {
				if a.Code() != "otp.not_found" {
					t.Errorf("GET %s?to=%s: %d %s, want otp.not_found", path, to, a.Status, a.Body)
				}
			} else if a.Into(t, &got); got.Subject != first {
				t.Errorf("GET %s?to=%s: the code of %s, want that of %s", path, to, got.Subject, first)
			}
		}
	}
	for to, want := range map[string]string{ // the prefix to: of searches, which does not look at Cc
		"+signup@": "tag", "ZOË": "to", "carol": "", "list@": "cc tag", m.Address: "none cc to", "shop": "",
	} {
		for path, token := range accountLists(u, k) {
			if got := subjects(get[[]summary](s, path+"?q="+url.QueryEscape("to:"+to), token)); got != want {
				t.Errorf("GET %s?q=to:%s: %s, want %s", path, to, got, want)
			}
		}
	}
	wait := s.waiting("/mailboxes/me/messages?wait=60&to=dave", m.Token)
	s.Send(apptest.Mail{To: []string{m.Address}, Raw: crlf("Subject: other", "To: erin@team.example", "", "x")})
	s.Send(apptest.Mail{To: []string{m.Address}, Raw: crlf("Subject: awaited", "Cc: dave@team.example", "", "x")})
	var got []summary
	if wait().Into(t, &got); subjects(got) != "awaited" {
		t.Errorf("a wait for mail to dave ended with %s, want awaited", subjects(got))
	}
}

func TestAccountCounts(t *testing.T) {
	t.Parallel()
	w := startDomains(t, nil)
	w.verified(w.ada, shop)
	k := w.key(w.ada, nil)
	one, short, others := w.create(w.ada.Token, nil), w.create(w.ada.Token, fields{"ttl": 60}), w.create(w.account("bob@example.org").Token, nil)
	for i, to := range []string{one.Address, one.Address, "ann@" + shop, short.Address, others.Address} {
		w.Send(apptest.Mail{To: []string{to}, Subject: "mail " + strconv.Itoa(i), Text: "hello"})
	}
	w.call(http.MethodGet, "/messages/"+get[[]summary](w.service, "/me/messages?q=subject:%22mail+1%22", w.ada.Token)[0].ID, w.ada.Token, 200, "")
	type count struct{ Count, Unread int }
	check := func(want map[string]count) {
		t.Helper()
		for path, token := range accountLists(w.ada, k) {
			for query, want := range want {
				if got := get[count](w.service, path+"/count?"+query, token); got != want {
					t.Errorf("GET %s/count?%s = %+v, want %+v", path, query, got, want)
				}
			}
		}
	}
	check(map[string]count{
		"": {4, 3}, "q=": {4, 3}, "q=hello": {4, 3}, "q=zzz": {0, 0}, "q=is:unread": {3, 3}, "q=is:read": {1, 0}, "mailbox=" + one.ID: {2, 1}, "mailbox=" + others.ID: {0, 0},
		"domain=" + shop: {1, 1}, "source=catchall": {1, 1}, "source=catchall&q=mail+2": {1, 1}, "source=catchall&q=mail+1": {0, 0},
	})
	w.Clock.Advance(2 * time.Minute) // a mailbox has ended
	check(map[string]count{"": {3, 2}, "q=hello": {3, 2}})
	for path, token := range accountLists(w.ada, k) {
		for _, query := range []string{"q=after:soon", "source=x", "q=" + strings.Repeat("a", 1001), "limit=1", "from=x"} {
			w.call(http.MethodGet, path+"/count?"+query, token, 422, "request.invalid")
		}
	}
}

// A search in the list of an account takes the language of the Mailpit API.
func TestAccountSearch(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	one, two := s.create(u.Token, nil), s.create(u.Token, nil)
	s.Send(apptest.Mail{To: []string{one.Address}, Subject: "Welcome", Text: "Your code is 482913."})
	s.Send(apptest.Mail{To: []string{two.Address}, Raw: crlf("From: Shop <shop@store.test>", `To: "Ada L" <ada@company.test>, `+two.Address, "Cc: carol@company.test", "Reply-To: help@store.test",
		"Message-ID: <invoice-1@store.test>", "Subject: INVOICE =?utf-8?q?=C3=84pfel?=", "MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=b", "", "--b", "",
		strings.Repeat("many words ", 100)+"Pay 100% now", "--b", "Content-Type: application/pdf", "Content-Disposition: attachment; filename=bill.pdf", "", "pdf", "--b--", "")})
	s.call(http.MethodGet, "/messages/"+get[[]summary](s, "/me/messages?limit=1", u.Token)[0].ID, u.Token, 200, "")
	for query, want := range map[string]string{
		"code": "Welcome", "CODE": "Welcome", `"code is"`: "Welcome", `"is code"`: "", "zzz": "", "100%": "INVOICE Äpfel", "_": "",
		"to:ada@company.test": "INVOICE Äpfel", `to:"Ada L"`: "INVOICE Äpfel", "to:carol": "", "cc:carol": "INVOICE Äpfel", "from:shop@store.test": "INVOICE Äpfel", "reply-to:help@": "INVOICE Äpfel",
		"bcc:" + one.Address: "", "bcc:" + two.Address: "", "addressed:help": "INVOICE Äpfel", "subject:äpfel": "INVOICE Äpfel", "message-id:invoice-1@store.test": "INVOICE Äpfel",
		"-subject:invoice": "Welcome", "!subject:invoice": "Welcome", "-zzz": "INVOICE Äpfel Welcome", "is:read": "INVOICE Äpfel", "is:unread": "Welcome", "is:tagged": "",
		"has:attachment": "INVOICE Äpfel", "-has:attachment": "Welcome", "bill.pdf": "INVOICE Äpfel", "larger:1mb": "", "smaller:1mb": "INVOICE Äpfel Welcome",
		"after:2026-03-14": "INVOICE Äpfel Welcome", "before:2026-03-14": "", `after:"2026-03-14 12:00"`: "INVOICE Äpfel Welcome",
	} {
		if got := subjects(get[[]summary](s, "/me/messages?q="+url.QueryEscape(query), u.Token)); got != want {
			t.Errorf("GET /me/messages?q=%s: %s, want %s", query, got, want)
		}
	}
	// The search sees what has changed since.
	welcome := get[[]summary](s, "/me/messages?q=welcome", u.Token)[0]
	want(t, s.Call(http.MethodPatch, "/messages/"+welcome.ID, u.Token, fields{"seen": true}), 200, "")
	s.Send(apptest.Mail{To: []string{one.Address}, Subject: "Later", Text: "hello"})
	for query, want := range map[string]string{"is:unread": "Later", "is:read": "INVOICE Äpfel Welcome", "later": "Later"} {
		if got := subjects(get[[]summary](s, "/me/messages?q="+query, u.Token)); got != want {
			t.Errorf("after a change, GET /me/messages?q=%s: %s, want %s", query, got, want)
		}
	}
	s.call(http.MethodDelete, "/messages/"+welcome.ID, u.Token, 204, "")
	s.call(http.MethodDelete, "/mailboxes/me", two.Token, 204, "")
	if got := subjects(get[[]summary](s, "/me/messages?q=-zzz", u.Token)); got != "Later" {
		t.Errorf("after deleting a message and a mailbox, GET /me/messages?q=-zzz: %s, want Later", got)
	}
	// Of a message that is so large that it is stored apart, the beginning of the text is searched.
	s.Send(apptest.Mail{To: []string{one.Address}, Subject: "Large", Text: "quokka " + strings.Repeat("many words\n", 20_000) + "wombat"})
	for query, want := range map[string]string{"quokka": "Large", "wombat": "", "large": "Large"} {
		if got := subjects(get[[]summary](s, "/me/messages?q="+query, u.Token)); got != want {
			t.Errorf("beside a large message, GET /me/messages?q=%s: %s, want %s", query, got, want)
		}
	}
}

func TestAccountWaits(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, nil)
	one := s.create(u.Token, nil)
	first := s.mail(one.box(), apptest.Mail{Subject: "first", Text: "hello"})
	s.call(http.MethodGet, "/messages/"+first.ID, one.Token, 200, "")
	after := "?wait=60&after=" + first.ID
	two := s.create(u.Token, nil)
	waits := map[string]func() apptest.Response{}
	for query, token := range map[string]string{
		"/me/messages" + after: u.Token, "/keys/messages" + after: k.Key, "/me/messages" + after + "&q=second": u.Token, "/keys/messages?wait=60&subject=second": k.Key,
		"/me/messages?wait=60&q=subject:second": u.Token, "/me/messages?wait=60&mailbox=" + two.Address: u.Token, "/me/messages?wait=60&unseen=true&q=is:unread": u.Token, "/keys/messages?wait=60&unseen=true": k.Key,
	} {
		waits[query] = s.waiting(query, token)
	}
	third := s.waiting("/me/messages?wait=60&q=third", u.Token)
	unread := s.waiting("/me/messages?wait=60&q=is:unread+subject:first", u.Token) // which the mail wakes, and then the mark
	s.Send(apptest.Mail{To: []string{two.Address}, Subject: "second", Text: "hello"})
	for query, wait := range waits {
		a := wait()
		want(t, a, 200, "")
		var got []addressed
		if a.Into(t, &got); subjects(got) != "second" || got[0].Address != two.Address {
			t.Errorf("GET %s: %s, want the message second of %s", query, a.Body, two.Address)
		}
	}
	unseen := s.waiting("/me/messages?wait=60&unseen=true&mailbox="+one.ID, u.Token)
	want(t, s.Call(http.MethodPatch, "/me/messages", u.Token, fields{"ids": []string{first.ID}, "seen": false}), 200, "")
	var got []addressed
	if unseen().Into(t, &got); subjects(got) != "first" {
		t.Errorf("a wait for unread mail ended with %s, want first, which was marked as unread", subjects(got))
	}
	if unread().Into(t, &got); subjects(got) != "first" {
		t.Errorf("a search for unread mail that waits ended with %s, want first, which was marked as unread", subjects(got))
	}
	ends := s.waiting("/keys/messages?wait=60&q=never", k.Key)
	s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, u.Token, 204, "")
	want(t, ends(), 401, "auth.invalid_token")
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	want(t, third(), 200, "")
}

// A call that waits is one of those that an address may have open.
func TestAccountWaitsAreLimited(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.long_polls": "1"})
	u := s.account("ada@example.org")
	wait := s.waiting("/me/messages?wait=60", u.Token)
	a := s.call(http.MethodGet, "/me/messages?wait=1", u.Token, 429, "rate.limited")
	if a.Header.Get("Retry-After") == "" {
		t.Errorf("GET /me/messages?wait=1 beside another wait: the header is %v, want Retry-After in it", a.Header)
	}
	box := s.create(u.Token, nil)
	s.post(box, "hello")
	want(t, wait(), 200, "")
}

// However mails interleave, clients that ask for what came after the newest message they have, with a search or without one, get each mail
// of each mailbox once.
func TestAccountWaitsMissNoMail(t *testing.T) {
	t.Parallel()
	const writers, mails = 3, 12
	s := startAccounts(t, settings{"limits.long_polls": "100000", "limits.other": "100000/1m"})
	u := s.account("ann@example.org")
	boxes := []mailbox{s.create(u.Token, nil), s.create(u.Token, nil), s.create(u.Token, nil)}
	done := make(chan string)
	readers := []string{"", "&q=hello", "&from=example", "&q=hello&unseen=true"}
	for _, filter := range readers {
		go func() {
			seen, after := make(map[string]bool), ""
			for len(seen) < writers*mails {
				a, err := s.TryCall(t.Context(), http.MethodGet, "/me/messages?wait=60&limit=100"+filter+after, u.Token, nil)
				var p page
				if err != nil || a.Status != 200 {
					done <- fmt.Sprintf("a reader with %q after %d mails: %v %d %s", filter, len(seen), err, a.Status, a.Body)
					return
				}
				if unmarshal(t, a.Body, &p); len(p.Data) == 0 {
					done <- fmt.Sprintf("a reader with %q has %d of %d mails", filter, len(seen), writers*mails)
					return
				}
				for _, id := range ids(p.Data) {
					if seen[id] {
						done <- fmt.Sprintf("a reader with %q got %s twice", filter, id)
						return
					}
					seen[id] = true
				}
				after = "&after=" + p.Data[0].ID
			}
			done <- ""
		}()
	}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range mails {
				if err := s.TrySend(apptest.Mail{From: "a@example.org", To: []string{boxes[(w+i)%len(boxes)].Address}, Subject: fmt.Sprint(w, "-", i), Text: "hello"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	defer writing.Wait()
	for range readers {
		if fault := <-done; fault != "" {
			t.Errorf("%s, want every mail once", fault)
		}
	}
}

// A value that the database cannot store is that of no mailbox.
func TestAccountListWithUnstorableValues(t *testing.T) {
	t.Parallel()
	w := startAccounts(t, nil)
	ada := w.account("ada@example.org")
	box := w.create(ada.Token, nil)
	w.Send(apptest.Mail{To: []string{box.Address}, Subject: "sample", Text: "hello"})
	for _, parameter := range []string{"mailbox", "domain", "to", "from", "subject", "q"} {
		for _, value := range []string{"%00", "a%00b", "%ff", "%ed%a0%80"} {
			for _, more := range []string{"", "&unseen=true", "&has=code"} {
				w.call(http.MethodGet, "/me/messages?"+parameter+"="+value+more, ada.Token, http.StatusOK, "")
			}
		}
	}
}

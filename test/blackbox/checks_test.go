package blackbox_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// messageChecks is the result of checking a message.
type messageChecks struct {
	Score       float64
	ClientsAsOf string
	Warnings    []struct {
		Code, Title, Detail, Feature string
		Line                         int
		Clients                      []string
	}
}

// codes returns the codes of the warnings, each once.
func (c messageChecks) codes() string {
	var all []string
	for _, w := range c.Warnings {
		if !slices.Contains(all, w.Code) {
			all = append(all, w.Code)
		}
	}
	return strings.Join(all, " ")
}

// checked delivers a mail from a client and returns the result of checking it.
func (s *service) checked(client, mailFrom, raw string) messageChecks {
	s.t.Helper()
	m := s.create("", nil)
	c := s.smtpFrom(client)
	reply(s.t, c, 250, "EHLO mx.example")
	reply(s.t, c, 250, "MAIL FROM:<"+mailFrom+">")
	reply(s.t, c, 250, "RCPT TO:<"+m.Address+">")
	reply(s.t, c, 354, "DATA")
	reply(s.t, c, 250, raw+"\r\n.")
	got := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]
	result := get[messageChecks](s, "/messages/"+got.ID+"/checks", m.Token)
	if after := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0]; after.Seen {
		s.t.Errorf("after GET /messages/%s/checks the message counts as seen, want it unseen", got.ID)
	}
	return result
}

const complete = "From: The Shop <shop@shop.example>\r\nDate: Sat, 14 Mar 2026 11:59:00 +0000\r\nMessage-ID: <1@shop.example>\r\n" +
	"List-Unsubscribe: <https://shop.example/u/1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nMIME-Version: 1.0\r\n"

// alternative is a mail with a text part and an HTML part.
func alternative(text, html string) string {
	return complete + "Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\n" + text + "\r\n--b\r\nContent-Type: text/html\r\n\r\n" + html + "\r\n--b--"
}

func TestChecks(t *testing.T) {
	t.Parallel()
	names := startNameServer(t)
	names.put(`shop.example. 60 IN TXT "v=spf1 -all"`, `_dmarc.shop.example. 60 IN TXT "v=DMARC1; p=none"`)
	s := start(t, settings{"dns.resolver": names.addr, "smtp.trusted_proxies": "127.0.0.1/32"})
	const ours = "192.168.7.7"
	html := complete + "Content-Type: text/html\r\n\r\n"
	for name, tt := range map[string]struct{ client, raw, want string }{
		"nothing":                        {ours, alternative("Hello Ada", "<p>Hello Ada"), ""},
		"a text part that says the same": {ours, alternative("Hello", "<p>Hello"), ""},
		"text alone":                     {ours, complete + "\r\nHello", ""},
		"HTML alone":                     {ours, html + "<p>Hello", "text_part_missing"},
		"an empty text part":             {ours, alternative("", "<p>Hello"), "text_part_missing"},
		"another text":                   {ours, alternative("This mail has pictures", "<p>Hello Ada, your order was sent today"), "text_differs"},
		"images":                         {ours, alternative("Hello", "<p>Hello<img src=x>"), "image_without_alt image_without_size"},
		"large":                          {ours, alternative("Hello", "<p>Hello"+strings.Repeat("<!--"+strings.Repeat(" ", 500)+"-->\r\n", 220)), "too_large"},
		"no header":                      {ours, "Subject: x\r\n\r\nHello", "from_invalid date_missing message_id_missing unsubscribe_missing"},
		"no address":                     {ours, "From: The Shop\r\n" + strings.TrimPrefix(complete, "From: The Shop <shop@shop.example>\r\n") + "\r\nHello", "from_invalid"},
		"a Date that is none":            {ours, strings.Replace(complete, "Sat, 14 Mar 2026 11:59:00 +0000", "yesterday", 1) + "\r\nHello", "date_missing"},
		"no one-click":                   {ours, strings.Replace(complete, "List-Unsubscribe-Post", "X-Post", 1) + "\r\nHello", "one_click_missing"},
		"features":                       {ours, alternative("Hello", "<p style='display:grid'>Hello"), "html_feature"},
		"a client outside":               {stranger, complete + "\r\nHello", "spf_failed dmarc_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.checked(tt.client, "shop@shop.example", tt.raw); got.codes() != tt.want {
				t.Errorf("GET /messages/{id}/checks of a mail from %s, %.300q: codes %q, want %q; %+v", tt.client, tt.raw, got.codes(), tt.want, got)
			}
		})
	}
	got := s.checked(ours, "shop@shop.example", alternative("Hello", "<p>\r\n<b style='display:grid'>Hello</b>"))
	if got.Score >= 100 || got.Score <= 0 || got.ClientsAsOf < "2026-01-01" {
		t.Errorf("GET /messages/{id}/checks of a mail with display:grid has score %v as of %q, want less than 100 and a day of 2026", got.Score, got.ClientsAsOf)
	}
	found := false
	for _, w := range got.Warnings {
		found = found || w.Feature == "css-display-grid" && w.Title == "display:grid" && w.Line == 2 && slices.Contains(w.Clients, "Outlook Windows")
	}
	if !found {
		t.Errorf("GET /messages/{id}/checks of a mail with display:grid in line 2 = %+v, want a warning of it with Outlook Windows", got)
	}
}

func TestChecksOfAnInjectedMessage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	want(t, s.inject(m.Token, fields{"text": "Hello", "html": "<p>Hello"}), 201, "")
	id := get[[]summary](s, "/mailboxes/me/messages", m.Token)[0].ID
	if got := get[messageChecks](s, "/messages/"+id+"/checks", m.Token).codes(); got != "unsubscribe_missing" {
		t.Errorf("GET /messages/%s/checks of an injected message: codes %q, want %q", id, got, "unsubscribe_missing")
	}
	other := s.create("", nil)
	s.call(http.MethodGet, "/messages/"+id+"/checks", other.Token, 404, "message.not_found")
	s.call(http.MethodGet, "/messages/nonsense/checks", m.Token, 404, "message.not_found")
}

// mailpitCheck is the answer of Mailpit's HTML check.
type mailpitCheck struct {
	Warnings []struct {
		Slug, Title, Description, URL, Category, Keywords string
		Tags                                              []string
		Results                                           []struct{ Name, Platform, Family, Version, Support, NoteNumber string }
		NotesByNumber                                     map[string]string
		Score                                             struct {
			Found                           int
			Supported, Partial, Unsupported float64
		}
	}
	Platforms map[string][]string
	Total     struct {
		Tests, Nodes                    int
		Supported, Partial, Unsupported float64
	}
}

func TestMailpitChecksHTML(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	m.smtp("page", complete+"Subject: page\r\nContent-Type: text/html\r\n\r\n<p style='margin-top:1px'>a</p><p style='display:flex'>b</p><script>c</script>\r\n", "ada@company.test")
	id := m.search("subject:page").Messages[0].ID
	var got mailpitCheck
	m.ask(http.MethodGet, "/api/v1/message/"+id+"/html-check", "", &got)
	var slugs []string
	for _, w := range got.Warnings {
		slugs = append(slugs, w.Slug)
		if w.Score.Found != 1 || w.Tags == nil || w.Results == nil || w.NotesByNumber == nil || w.Title == "" || w.Category == "" {
			t.Errorf("GET html-check warns of %+v, want it found once, no member missing", w)
		}
	}
	slices.Sort(slugs)
	if want := "css-display css-display-flex html-script"; strings.Join(slugs, " ") != want || got.Total.Nodes != 3 || got.Total.Tests < 100 || !slices.Contains(got.Platforms["ios"], "Gmail") {
		t.Errorf("GET html-check = slugs %q, total %+v, platforms %v; want %q, 3 nodes, and Gmail among those of ios", slugs, got.Total, got.Platforms, want)
	}
	if sum := got.Total.Supported + got.Total.Partial + got.Total.Unsupported; sum < 99 || sum > 101 {
		t.Errorf("GET html-check = total %+v, want parts of 100", got.Total)
	}
	latest := m.ask(http.MethodGet, "/api/v1/message/latest/html-check", "", nil)
	if again := m.ask(http.MethodGet, "/api/v1/message/"+id+"/html-check", "", nil); string(latest.Body) != string(again.Body) {
		t.Errorf("GET html-check of the latest message = %s, want %s as of its identifier", latest.Body, again.Body)
	}
	m.smtp("picture", complete+"Subject: picture\r\nContent-Type: text/html\r\n\r\n<svg></svg>\r\n", "ada@company.test")
	m.ask(http.MethodGet, "/api/v1/message/latest/html-check", "", &got)
	if w := got.Warnings; len(w) != 1 || !strings.Contains(w[0].Description, "<code>&lt;svg&gt;</code>") || !strings.Contains(w[0].Description, `<a href="https://www.caniemail.com/features/`) {
		t.Errorf("GET html-check of <svg> = %+v, want a description with code and a link", w)
	}
	m.smtp("plain", "", "ada@company.test")
	for path, status := range map[string]int{"latest/html-check": 400, "none/html-check": 404, "none/link-check": 404} {
		if a := m.try(http.MethodGet, "/api/v1/message/"+path, "", nil); a.Status != status {
			t.Errorf("GET /api/v1/message/%s = %d %s, want %d", path, a.Status, a.Body, status)
		}
	}
	if f := m.search("is:unread"); f.MessagesCount != 3 {
		t.Errorf("after the checks %d messages are unread, want 3", f.MessagesCount)
	}
}

func TestMailpitListsLinksAndFetchesNone(t *testing.T) {
	t.Parallel()
	m := startMailpit(t, nil)
	var fetched atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	t.Cleanup(site.Close)
	server := site.URL
	m.smtp("links", alternative("Read "+server+"/text and "+server+"/a.", "<p><a href='"+server+"/a?x=1&amp;y=2'>a</a> <a href='#top'>b</a> <a href='mailto:a@b.example'>c</a><img src='"+server+"/i.png'><a href='"+server+"/a?x=1&amp;y=2'>d</a><link rel=stylesheet href='"+server+"/s.css'>")+"\r\n", "ada@company.test")
	var got struct {
		Errors int
		Links  []struct {
			URL, Status string
			StatusCode  int
		}
	}
	m.ask(http.MethodGet, "/api/v1/message/latest/link-check?follow=true", "", &got)
	var paths []string
	for _, l := range got.Links {
		paths = append(paths, strings.TrimPrefix(l.URL, server))
		if l.StatusCode != 0 || l.Status != "not checked" {
			t.Errorf("GET link-check says of %s %d %q, want 0 %q", l.URL, l.StatusCode, l.Status, "not checked")
		}
	}
	if want := "/a?x=1&y=2 /s.css /i.png /text /a"; got.Errors != 0 || strings.Join(paths, " ") != want {
		t.Errorf("GET link-check = %d errors, links %q, want 0 and %q", got.Errors, paths, want)
	}
	if n := fetched.Load(); n != 0 {
		t.Errorf("GET link-check fetched %d of the addresses, want none", n)
	}
	m.smtp("plain", "From: a@company.test\r\nSubject: plain\r\n\r\nNo links.\r\n", "ada@company.test")
	if a := m.ask(http.MethodGet, "/api/v1/message/latest/link-check", "", nil); strings.TrimSpace(string(a.Body)) != `{"Errors":0,"Links":[]}` {
		t.Errorf("GET link-check of a mail without links = %s, want no links and no errors", a.Body)
	}
}

package blackbox_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// costly is a mail whose text takes 8 MiB as JSON.
func costly() []byte {
	return append(crlf("From: Sender <sender@example.org>", "Subject: costly", "Content-Type: text/plain", ""),
		bytes.Repeat([]byte(strings.Repeat(`"`, 62)+"\r\n"), 4<<20/64)...)
}

// later makes a call that waits, and moves the clock until it is answered.
func (s *service) later(path, token string) (apptest.Response, time.Duration) {
	s.t.Helper()
	answered := make(chan apptest.Response, 1)
	go func() { answered <- s.Call(http.MethodGet, path, token, nil) }()
	for waited := time.Duration(0); ; waited += time.Second {
		select {
		case a := <-answered:
			return a, waited
		case <-time.After(20 * time.Millisecond):
			s.Clock.Advance(time.Second)
		}
	}
}

func TestCallWithoutMemoryAnswers503(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"memory.budget": "128MiB"})
	if s.OnPostgres() {
		t.Skip("its processes have a budget each, and calls go to them in turn")
	}
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: costly()}).ID
	conn := s.idle("/messages/"+id, m.Token)
	until(t, "the answer is under way", func() bool { return s.memory() > 0 && s.memory() < 20<<20 }) // and its making is over

	a, _ := s.later("/messages/"+id, m.Token)
	if a.Status != http.StatusServiceUnavailable || a.Code() != "server.unavailable" || a.Header.Get("Retry-After") != "5" {
		t.Fatalf(`%d %s, Retry-After %q, want Status %v, Code "server.unavailable" and Retry-After "5"`, a.Status, a.Code(), a.Header.Get("Retry-After"), http.StatusServiceUnavailable)
	}
	small := s.mail(m.box(), apptest.Mail{Subject: "small"}).ID
	for range 10 { // small answers do not wait
		s.page(m.Token, "limit=100")
		s.call(http.MethodGet, "/messages/"+small, m.Token, 200, "")
		s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 200, "")
	}
	conn.Close()
	until(t, "the memory is given back", func() bool { return s.memory() == 0 })
	s.call(http.MethodGet, "/messages/"+id, m.Token, 200, "")
}

// A long page is read only once there is memory for it, and is the same as ever.
func TestLongPageReservesMemory(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"memory.budget": "128MiB"})
	if s.OnPostgres() {
		t.Skip("the metrics are those of one of its processes")
	}
	m := s.create("", nil)
	raw := longFields(strings.Repeat("\U0001F600", 10_000), strings.Repeat("😀", 998), 20)
	for range 30 {
		s.Send(apptest.Mail{To: []string{m.Address}, Raw: raw})
	}
	conn := s.idle("/mailboxes/me/messages?limit=100", m.Token)
	until(t, "the page is under way", func() bool { return s.memory() > 0 })
	if p := s.page(m.Token, "limit=100"); len(p.Data) != 30 || p.NextCursor != nil {
		t.Errorf("GET /mailboxes/me/messages?limit=100 lists %d messages, want 30 and no next page", len(p.Data))
	}
	conn.Close() // else its memory is held until http.write_timeout
	until(t, "nothing is held", func() bool { return s.memory() == 0 })
}

func TestRepeatedInlineImageIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 300<<10)...)
	raw := crlf("From: Sender <sender@example.org>", "Subject: images", "MIME-Version: 1.0", `Content-Type: multipart/related; boundary="b"`, "",
		"--b", "Content-Type: text/html", "", strings.Repeat("<img src=\"cid:a\" alt=x>\r\n", 30_000),
		"--b", "Content-Type: image/png", "Content-ID: <a>", "Content-Transfer-Encoding: base64", "", apptest.Base64Lines(png), "--b--")
	id := s.mail(m.box(), apptest.Mail{Raw: raw}).ID
	full := get[message](s, "/messages/"+id, m.Token)
	if full.HTML == nil {
		t.Fatal("the message has no HTML, want some")
	}
	if n, all := strings.Count(*full.HTML, "data:image/png"), strings.Count(*full.HTML, "<img"); n != 6 || all != 30_000 {
		t.Errorf("%d images of %d were inlined, want 6 of 30000", n, all)
	}
}

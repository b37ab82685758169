package blackbox_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// rawKeys returns the keys of the raw messages of all stored messages, each of which is in no other place than the rows of its messages.
func (s *service) rawKeys() (keys []string) {
	s.t.Helper()
	for _, ref := range column(s.t, s.Database(), "SELECT raw_ref FROM message") {
		keys = append(keys, ref[strings.LastIndexByte(ref, '.')+1:])
	}
	return keys
}

// A minute after an account was deleted, neither its raw messages nor the keys to them are in a file or a table, also of what ended
// before. What another mailbox shares stays readable there.
func TestRawMessagesOfDeletedAccountCannotBeRead(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	u, guest := s.account("leaving@elsewhere.example"), s.create("", fields{"ttl": 3600})
	const mark = "markofthisaccount"
	sample := func(size int) apptest.Mail {
		text := fmt.Sprintf("%s\r\n%s\r\n", mark, strings.Repeat("and more of "+mark+"\r\n", size/30))
		return apptest.Mail{Raw: []byte("From: a@sender.example\r\nSubject: " + mark + "\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" + text +
			"--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=" + mark + "\r\n\r\n" + text + "--b--\r\n")}
	}
	box, ended := s.create(u.Token, nil), s.create(u.Token, nil)
	for _, size := range []int{0, 50_000, 3 << 20} {
		s.mail(box.box(), sample(size))
	}
	deleted := s.mail(box.box(), sample(0))
	s.mail(ended.box(), sample(50_000))
	keys := s.rawKeys()
	s.call(http.MethodDelete, "/messages/"+deleted.ID, box.Token, 204, "")
	s.call(http.MethodDelete, "/mailboxes/me", ended.Token, 204, "")
	if err := s.TrySend(apptest.Mail{To: []string{box.Address, guest.Address}, Subject: "shared", Text: "shared by two"}); err != nil {
		t.Fatal(err)
	}
	c := s.dialFrom("127.0.0.1") // a mail that is still being received
	c.begin(box.Address, 100)
	c.say("DATA", "354 ")
	want(t, s.leave(u, userPassword, ""), 204, "")
	c.say("Subject: "+mark+"\r\n\r\n"+mark+"\r\n.", "4")
	eventually(t, "the erasure within a minute", func() bool {
		s.pass(time.Minute)
		return len(s.columnsWith(mark)) == 0
	})

	if len(keys) != 5 {
		t.Fatalf("the keys of raw messages are %q, want 5", keys)
	}
	for _, text := range append(keys, mark) {
		if left := s.columnsWith(text); len(left) > 0 {
			t.Errorf("after the deletion %q is left in the columns %v, want it in none", text, left)
		}
		if left := s.filesWith(text); !s.OnPostgres() && len(left) > 0 {
			t.Errorf("after the deletion %q is left in the files %v, want it in none", text, left)
		}
	}
	shared := get[[]summary](s, "/mailboxes/me/messages", guest.Token)
	if len(shared) != 1 {
		t.Fatalf("the other recipient has %d messages, want 1", len(shared))
	}
	if a := s.Call(http.MethodGet, "/messages/"+shared[0].ID+"/raw", guest.Token, nil); a.Status != 200 || !bytes.Contains(a.Body, []byte("shared by two")) {
		t.Errorf("GET of the raw message that another mailbox shares: %d, %d bytes, want 200 and its text", a.Status, len(a.Body))
	}
}

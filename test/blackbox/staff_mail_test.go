package blackbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestMailToPostmasterAndAbuseIsForStaff(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	staff, box := s.promote(s.account("staff@example.org")), s.create("", nil)
	domain := strings.SplitN(box.Address, "@", 2)[1]
	if got := get[[]fields](s, "/staff/messages", staff.Token); len(got) != 0 {
		t.Errorf("GET /staff/messages before the first mail: got %v, want none", got)
	}
	s.call(http.MethodGet, "/staff/messages/msg_01jzq8w3v5e4t9n2k7m6x0y1dr", staff.Token, 404, "message.not_found")
	s.call(http.MethodDelete, "/staff/messages/msg_01jzq8w3v5e4t9n2k7m6x0y1dr", staff.Token, 404, "message.not_found")
	for i, to := range [][]string{
		{"Postmaster"}, {"PostMaster@" + domain}, {"ABUSE+spam@" + strings.ToUpper(domain)}, {"postmaster", "abuse@" + domain, box.Address},
	} {
		s.Send(apptest.Mail{To: to, Raw: fmt.Appendf(nil, "Subject: %d\r\n\r\nhello\r\n", i)})
		s.Clock.Advance(time.Second)
	}
	var subjects, ids []string
	for m := range pages[fields](s, "/staff/messages?limit=3", staff.Token) {
		subjects, ids = append(subjects, m["subject"].(string)), append(ids, m["id"].(string))
	}
	if !slices.Equal(subjects, []string{"3", "2", "1", "0"}) {
		t.Errorf("GET /staff/messages in pages of 3: got the subjects %v, want 3, 2, 1, 0", subjects)
	}
	path := "/staff/messages/" + ids[0]
	if got := get[fields](s, path, staff.Token); !strings.Contains(got["text"].(string), "hello") {
		t.Errorf("GET %s: got %v, want hello in its text", path, got)
	}
	own := get[[]fields](s, "/mailboxes/me/messages", box.Token)
	if len(own) != 1 {
		t.Fatalf("GET /mailboxes/me/messages of another recipient: got %v, want one message", own)
	}
	s.call(http.MethodGet, "/messages/"+ids[0], box.Token, 404, "message.not_found")
	s.call(http.MethodDelete, "/staff/messages/"+own[0]["id"].(string), staff.Token, 404, "message.not_found")
	s.call(http.MethodDelete, path, staff.Token, 204, "")
	s.call(http.MethodGet, path, staff.Token, 404, "message.not_found")
	if got := get[[]fields](s, "/staff/audit", staff.Token); len(got) != 1 || got[0]["action"] != "message.delete" || got[0]["target"] != ids[0] {
		t.Errorf("GET /staff/audit: got %v, want message.delete of %s alone", got, ids[0])
	}
	if err := s.TrySend(apptest.Mail{To: []string{"abuse@elsewhere.example"}}); err == nil {
		t.Error("mail to abuse@elsewhere.example, whose domain is not served: got it accepted, want it refused")
	}
}

func TestMailToStaffIsErasedAfter30Days(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	s.Send(apptest.Mail{To: []string{"postmaster"}})
	counts := func() string {
		return strings.Join(append(column(t, s.Database(), "SELECT count(*) FROM message"),
			column(t, s.Database(), "SELECT message_count FROM mailbox WHERE source = 'staff'")...), " ")
	}
	s.Clock.Advance(29 * day * time.Second)
	s.nextRound()
	s.Send(apptest.Mail{To: []string{"postmaster"}})
	if got := counts(); got != "2 2" {
		t.Fatalf("messages of staff, stored and counted, after 29 days: got %s, want 2 2", got)
	}
	s.Clock.Advance(day * time.Second)
	eventually(t, "the end of the first", func() bool {
		s.nextRound()
		return counts() == "1 1"
	})
	s.Clock.Advance(29 * day * time.Second)
	eventually(t, "the end of the second", func() bool {
		s.nextRound()
		return counts() == "0 0"
	})
	s.Send(apptest.Mail{To: []string{"postmaster"}})
	if got := counts(); got != "1 1" {
		t.Errorf("messages of staff, stored and counted, after a new mail: got %s, want 1 1", got)
	}
}

// Mail to staff is deferred while their mailbox is full, and that to others is not. Mail that is erased makes room again.
func TestMailToStaffIsDeferredWhileItsMailboxIsFull(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	box := s.create("", nil)
	s.Send(apptest.Mail{To: []string{"postmaster"}})
	count := func(n int) {
		t.Helper()
		if _, err := s.Database().ExecContext(t.Context(), "UPDATE mailbox SET message_count = $1 WHERE source = 'staff'", n); err != nil {
			t.Fatal(err)
		}
	}
	deferred := func(to ...string) {
		t.Helper()
		const want = "4.2.2"
		if err := s.TrySend(apptest.Mail{To: to}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("mail to %v while the mailbox of staff is full: got the error %v, want %s", to, err, want)
		}
	}
	count(1999) // twice as many as are kept
	s.Send(apptest.Mail{To: []string{"abuse@" + box.Domain, box.Address}})
	deferred("postmaster")
	deferred("abuse@" + box.Domain)
	s.Send(apptest.Mail{To: []string{box.Address}})
	count(2)
	s.Send(apptest.Mail{To: []string{"postmaster"}})
}

// Of mail to staff the newest 1,000 messages are kept.
func TestOldestMailToStaffIsErasedBeyondItsBound(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.smtp_messages": "100000/1m"})
	const kept, more = 1000, 3
	c := s.dialFrom("127.0.0.1")
	for i := range kept + more {
		c.say("MAIL FROM:<a@sender.example>", "250 ")
		c.say("RCPT TO:<postmaster>", "250 ")
		c.say("DATA", "354 ")
		c.say(fmt.Sprintf("Subject: %d\r\n\r\nx\r\n.", i), "250 ")
		s.Clock.Advance(time.Millisecond)
	}
	staff := s.promote(s.account("staff@example.org"))
	var subjects []string
	eventually(t, "the end of the oldest", func() bool {
		s.nextRound()
		subjects = nil
		for m := range pages[fields](s, "/staff/messages?limit=100", staff.Token) {
			subjects = append(subjects, m["subject"].(string))
		}
		return len(subjects) <= kept
	})
	if len(subjects) != kept || subjects[0] != fmt.Sprint(kept+more-1) || subjects[kept-1] != fmt.Sprint(more) {
		t.Errorf("GET /staff/messages after %d mails: got %d, from %s to %s, want %d, from %d to %d", kept+more, len(subjects), subjects[0], subjects[len(subjects)-1], kept, kept+more-1, more)
	}
}

// One client cannot push out the mail that others have sent to postmaster, nor use up what may come in a day.
func TestOneClientDoesNotPushOutMailToStaff(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"limits.smtp_messages": "100000/1m", "smtp.max_commands": "100000"})
	staff := s.promote(s.account("staff@example.org"))
	send := func(c *sender, subject string) {
		t.Helper()
		c.say("MAIL FROM:<a@sender.example>", "250 ")
		c.say("RCPT TO:<postmaster>", "250 ")
		c.say("DATA", "354 ")
		c.say("Subject: "+subject+"\r\n\r\nx\r\n.", "250 ")
		s.Clock.Advance(time.Millisecond)
	}
	honest, flood := s.dialFrom("127.0.0.2"), s.dialFrom("127.0.0.3")
	send(honest, "report 1")
	send(honest, "report 2")
	for range 1010 {
		send(flood, "flood")
	}
	send(honest, "report 3")
	var reports, all int
	eventually(t, "the end of the oldest", func() bool {
		s.nextRound()
		reports, all = 0, 0
		for m := range pages[fields](s, "/staff/messages?limit=100", staff.Token) {
			if all++; strings.HasPrefix(m["subject"].(string), "report") {
				reports++
			}
		}
		return all <= 1000
	})
	if all != 1000 || reports != 3 {
		t.Errorf("GET /staff/messages after a flood of 1,010 from one client: got %d, %d of another client, want 1000 and its 3", all, reports)
	}
	refused := 0
	for range 1010 { // 2,000 a day
		flood.say("MAIL FROM:<a@sender.example>", "250 ")
		if err := flood.PrintfLine("RCPT TO:<postmaster>"); err != nil {
			t.Fatal(err)
		}
		if line, err := flood.ReadLine(); err != nil || strings.HasPrefix(line, "452 4.2.2 ") {
			refused++
		}
		flood.say("RSET", "250 ")
	}
	if refused < 10 || refused > 20 { // the clock has moved on meanwhile, which allows a few more
		t.Errorf("of 2,020 recipients of one client for staff %d were refused, want 10 to 20", refused)
	}
	send(honest, "report 4")
}

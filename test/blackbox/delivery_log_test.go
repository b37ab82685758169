package blackbox_test

import (
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// mailDelivery is an entry of the delivery log as a client reads it.
type mailDelivery struct {
	At                                 time.Time
	From, RemoteIP, Helo, Code, Reason string
	TLS                                bool
	Reply                              int
	MessageID                          *string
}

func (s *service) deliveries(token string) []mailDelivery {
	s.t.Helper()
	return get[[]mailDelivery](s, "/mailboxes/me/deliveries", token)
}

// awaitDeliveries waits until the log has n entries: another process of a cluster writes them a moment after the reply.
func (s *service) awaitDeliveries(token string, n int) (all []mailDelivery) {
	s.t.Helper()
	eventually(s.t, "entries of the delivery log", func() bool {
		all = s.deliveries(token)
		return len(all) >= n
	})
	return all
}

// converse sends commands without waiting for replies, and returns when the server has closed the connection.
func (s *service) converse(commands ...string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.SMTP)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	c := textproto.NewConn(conn)
	if _, err := conn.Write([]byte(strings.Join(commands, "\r\n") + "\r\nQUIT\r\n")); err != nil {
		s.t.Fatal(err)
	}
	for {
		if line, err := c.ReadLine(); err != nil || strings.HasPrefix(line, "221") {
			return
		}
	}
}

func TestDeliveryLogListsStoredAndRefusedMail(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"mailbox.max_messages": "2", "smtp.max_size": "1MiB"})
	s.converse("EHLO early.example", "MAIL FROM:<early@shop.example>", "RCPT TO:<ann@gonebox.localhost>")
	s.Clock.Advance(time.Second)
	m := s.create("", body{"localPart": "ann"})
	mail := func() error {
		return s.TrySend(apptest.Mail{From: "bounce@shop.example", To: []string{"ANN+tag@gonebox.localhost"}, Raw: crlf("Subject: one", "", "text")})
	}
	for range 2 {
		s.Clock.Advance(time.Second)
		if err := mail(); err != nil {
			t.Fatal(err)
		}
	}
	s.Clock.Advance(time.Second)
	if mail() == nil {
		t.Fatal("a full mailbox took a mail, want it refused")
	}
	ids := get[[]summary](s, "/mailboxes/me/messages", m.Token)
	s.call(http.MethodDelete, "/messages/"+ids[0].ID, m.Token, 204, "")
	s.Clock.Advance(time.Second)
	s.converse("EHLO large.example", "MAIL FROM:<large@shop.example> SIZE=2000000", "RCPT TO:<ann@gonebox.localhost>", "DATA")
	s.Clock.Advance(time.Second)
	s.converse("EHLO odd.example", "MAIL FROM:<>", "RCPT TO:<ann@gonebox.localhost>", "DATA", "Subject: bare\n\r\n.")

	all := s.awaitDeliveries(m.Token, 6)
	want := []mailDelivery{
		{Reply: 550, Code: "5.6.0", Helo: "odd.example"},
		{Reply: 552, Code: "5.3.4", Helo: "large.example", From: "large@shop.example"},
		{Reply: 452, Code: "4.2.2", From: "bounce@shop.example"},
		{Reply: 250, Code: "2.0.0", From: "bounce@shop.example", MessageID: &ids[0].ID},
		{Reply: 250, Code: "2.0.0", From: "bounce@shop.example", MessageID: &ids[1].ID},
		{Reply: 550, Code: "5.1.1", From: "early@shop.example", Helo: "early.example"},
	}
	for i, w := range want {
		got := all[i]
		if got.Reply != w.Reply || got.Code != w.Code || got.From != w.From || w.Helo != "" && got.Helo != w.Helo ||
			got.RemoteIP != "127.0.0.1" || got.TLS || got.Reason == "" || (got.MessageID == nil) != (w.MessageID == nil) ||
			w.MessageID != nil && *got.MessageID != *w.MessageID || i > 0 && got.At.After(all[i-1].At) {
			t.Errorf("entry %d is %+v, want %+v", i, got, w)
		}
	}
	s.Clock.Advance(24 * time.Hour)
	if status := s.Call(http.MethodGet, "/mailboxes/me/deliveries", m.Token, nil).Status; status != http.StatusGone {
		t.Errorf("after the end of the mailbox: %d, want %v", status, http.StatusGone)
	}
}

func TestDeliveryLogForKeys(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, nil)
	u := s.account("ada@example.org")
	k := s.key(u, fields{"name": "n", "scopes": allScopes})
	var m mailbox
	s.Call(http.MethodPost, "/keys/mailboxes", k.Key, nil).Into(t, &m)
	s.Send(apptest.Mail{From: "a@shop.example", To: []string{m.Address}, Raw: crlf("Subject: one", "", "text")})
	s.awaitDeliveries(m.Token, 1)
	path := "/keys/mailboxes/" + m.ID + "/deliveries"
	eventually(t, "the entry", func() bool {
		all := get[[]mailDelivery](s, path, k.Key)
		return len(all) == 1 && all[0].Reply == 250 && all[0].MessageID != nil
	})
	s.call(http.MethodGet, "/keys/mailboxes/mbx_none/deliveries", k.Key, 404, "mailbox.not_found")
	s.call(http.MethodGet, "/mailboxes/me/deliveries?limit=1", m.Token, 422, "request.invalid")
	s.call(http.MethodGet, path+"?limit=1", k.Key, 422, "request.invalid")
	s.call(http.MethodDelete, "/me/api-keys/"+k.Prefix, u.Token, 204, "")
	reader := s.key(u, fields{"name": "n", "scopes": []string{"otp:read"}})
	s.call(http.MethodGet, path, reader.Key, 403, "auth.scope_missing")
}

// A new owner of an address does not see the mail of the mailbox that had it before.
func TestDeliveryLogIsErasedWithTheMailbox(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"mailbox.address_cooldown": "1m"})
	m := s.create("", body{"localPart": "ann"})
	s.Send(apptest.Mail{From: "secret@shop.example", To: []string{m.Address}, Raw: crlf("Subject: one", "", "text")})
	s.awaitDeliveries(m.Token, 1)
	s.call(http.MethodDelete, "/mailboxes/me", m.Token, 204, "")
	s.Clock.Advance(2 * time.Minute)
	eventually(t, "erasing the entries", func() (erased bool) {
		if err := s.Database().QueryRowContext(t.Context(), "SELECT count(*) = 0 FROM mail_delivery").Scan(&erased); err != nil {
			t.Fatal(err)
		}
		return erased
	})
	again := s.create("", body{"localPart": "ann"})
	if all := s.deliveries(again.Token); len(all) != 0 {
		t.Errorf("the delivery log of the new mailbox has %+v, want nothing", all)
	}
}

// The next owner of an address does not see who wrote to the last one after its mailbox had ended either; the last owner does.
func TestDeliveryLogBelongsToTheHolder(t *testing.T) {
	t.Parallel()
	s := startAccounts(t, settings{"mailbox.address_cooldown": "0s"})
	ada, bob := s.account("ada@example.org"), s.account("bob@example.org")
	refused := func(name string, before mailbox) {
		t.Helper()
		s.call(http.MethodDelete, "/mailboxes/me", before.Token, 204, "")
		s.Clock.Advance(time.Second)
		s.converse("EHLO late.example", "MAIL FROM:<secret@shop.example>", "RCPT TO:<"+name+"@gonebox.localhost>")
		eventually(t, "the entry of the refusal", func() (written bool) {
			if err := s.Database().QueryRowContext(t.Context(), "SELECT count(*) > 0 FROM mail_delivery WHERE sender = 'secret@shop.example' AND has_mailbox = 0").Scan(&written); err != nil {
				t.Fatal(err)
			}
			return written
		})
		s.Clock.Advance(time.Second)
	}
	for name, owners := range map[string][2]string{"ann": {"", ""}, "bea": {ada.Token, bob.Token}, "cid": {ada.Token, ""}, "dan": {"", bob.Token}} {
		refused(name, s.create(owners[0], body{"localPart": name}))
		if all := s.deliveries(s.create(owners[1], body{"localPart": name}).Token); len(all) != 0 {
			t.Errorf("%s: the next holder's GET /mailboxes/me/deliveries lists %+v, want nothing of mail to the last one", name, all)
		}
	}
	refused("eva", s.create(ada.Token, body{"localPart": "eva"}))
	if all := s.deliveries(s.create(ada.Token, body{"localPart": "eva"}).Token); len(all) != 1 || all[0].From != "secret@shop.example" {
		t.Errorf("eva: the holder who took the address back lists %+v, want the refusal since", all)
	}
}

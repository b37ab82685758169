package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The sender of a mail to two mailboxes, one of which ends after RCPT, tries again and reaches the other.
func TestMailboxEndingBeforeFinalDotDefersMail(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	ending, living := s.create("", nil), s.create("", nil)
	c := s.dialFrom("127.0.0.1")
	c.begin(living.Address, 100)
	c.say("RCPT TO:<"+ending.Address+">", "250 ")
	c.say("DATA", "354 ")
	s.call(http.MethodDelete, "/mailboxes/me", ending.Token, 204, "")
	c.say("Subject: first\r\n\r\nx\r\n.", "451 4.2.1 ")
	if all := get[[]summary](s, "/mailboxes/me/messages", living.Token); len(all) != 0 {
		t.Errorf("GET /mailboxes/me/messages = %v, want nothing of the deferred mail", all)
	}

	c.begin(living.Address, 100)
	c.say("RCPT TO:<"+ending.Address+">", "550 5.1.1 ")
	c.say("DATA", "354 ")
	c.say("Subject: second\r\n\r\nx\r\n.", "250 ")
	if all := get[[]summary](s, "/mailboxes/me/messages", living.Token); len(all) != 1 || all[0].Subject != "second" {
		t.Errorf("GET /mailboxes/me/messages = %v, want second alone", all)
	}
}

func TestRefusedRecipientsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"limits.smtp_refused": "3/1h"})
	box := s.create("", nil)
	c := s.dialFrom("127.0.0.1")
	c.say("MAIL FROM:<sender@example.org>", "250 ")
	domain := box.Address[strings.Index(box.Address, "@"):]
	for i := range 3 {
		c.say(fmt.Sprintf("RCPT TO:<no.such.mailbox.%d%s>", i, domain), "550 5.1.1 ")
	}
	c.say("RCPT TO:<no.such.mailbox"+domain+">", "421 4.7.0 ")
	again := s.greetedFrom("127.0.0.1")
	again.expect("421 4.7.0 ")
	other := s.dialFrom("127.0.0.2")
	other.begin(box.Address, 100)
}

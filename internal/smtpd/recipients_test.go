package smtpd_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// counted starts a server on pipes that allows ten rejected recipients a minute and address. Recipients noN are unknown.
func counted(t *testing.T) (*pipeServer, *clock.Fake) {
	in := &fakeInbound{refuse: map[string]error{}}
	for i := range 1000 {
		in.refuse[fmt.Sprintf("no%d@example.test", i)] = problem.New(problem.MailMailboxUnknown)
	}
	c := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
	return serveOnPipes(t, smtpd.Config{Clock: c, MaxErrors: 1000, RefusedRecipients: ratelimit.Limit{{Count: 10, Per: time.Minute}}}, in), c
}

// rcpt sends RCPT for the recipients from…to-1 of a kind and expects the same reply to each.
func (c *client) rcpt(kind string, from, to int, reply string) {
	c.t.Helper()
	for i := from; i < to; i++ {
		c.send(fmt.Sprintf("RCPT TO:<%s%d@example.test>\r\n", kind, i))
		c.expect(reply)
	}
}

// sender connects from an address and begins a mail.
func (b *pipeServer) sender(from string) *client {
	c := b.dial(from)
	c.hello()
	c.mail()
	return c
}

func (c *client) mail() {
	c.t.Helper()
	c.send("MAIL FROM:<alice@sender.test>\r\n")
	c.expect("250")
}

func TestAddressWithTooManyRejectedRecipientsIsBlockedUntilTheWindowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, now := counted(t)
		defer b.stop()
		before := b.sender(home)
		c := b.sender(home)
		c.rcpt("no", 0, 10, "550 5.1.1")
		now.Advance(20 * time.Second)
		c.rcpt("no", 10, 11, "421 4.7.0 Too many refused recipients from your address, try again in 40 seconds")
		c.expectEnd()
		b.dial(home).expect("421 4.7.0 Too many refused recipients from your address, try again in 40 seconds")

		before.rcpt("box", 0, 1, "250") // an accepted recipient: fewer than nine in ten are rejected now
		before.rcpt("no", 11, 12, "421 4.7.0")
		before.expectEnd()
		b.dial(other).hello()

		now.Advance(40 * time.Second)
		c = b.sender(home)
		c.rcpt("no", 0, 10, "550 5.1.1")
	})
}

func TestLargeSenderMayHaveManyRejectedRecipients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := counted(t)
		defer b.stop()
		c := b.sender(home)
		c.rcpt("box", 0, 10, "250")
		c.rcpt("no", 0, 89, "550 5.1.1")
		b.dial(home).hello()
		c.rcpt("no", 89, 90, "421 4.7.0") // 90 of 100
		c.expectEnd()
	})
}

func TestRepeatedRecipientCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := counted(t)
		defer b.stop()
		c := b.sender(home)
		for range 20 {
			c.rcpt("box", 0, 1, "250")
		}
		c.rcpt("no", 0, 10, "550 5.1.1")
		c.rcpt("no", 10, 11, "421 4.7.0")
		c.expectEnd()
	})
}

// A site cannot probe on from one of its networks after the other: its /48 may have 16 times what one /64 may.
func TestSiteWithTooManyRejectedRecipientsIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := counted(t)
		defer b.stop()
		for n := range 16 {
			b.sender(fmt.Sprintf("[2001:db8:1:%x::1]:1", n)).rcpt("no", 0, 10, "550 5.1.1") // as many as one may
		}
		last := b.sender("[2001:db8:1:99::1]:1")
		last.rcpt("no", 0, 1, "421 4.7.0")
		last.expectEnd()
		b.dial("[2001:db8:1:aa::1]:1").expect("421 4.7.0")
		b.sender("[2001:db8:2::1]:1").rcpt("no", 0, 1, "550 5.1.1") // another site
	})
}

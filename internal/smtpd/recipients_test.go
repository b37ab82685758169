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

// counted is a server on pipes that lets an address name ten refused recipients in a minute, and knows no mailbox called noN.
func counted(t *testing.T) (*bench, *clock.Fake) {
	in := &fakeInbound{refuse: map[string]error{}}
	for i := range 1000 {
		in.refuse[fmt.Sprintf("no%d@example.test", i)] = problem.New(problem.MailMailboxUnknown)
	}
	c := clock.NewFake(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
	return serveOnPipes(t, smtpd.Config{Clock: c, MaxErrors: 1000, RefusedRecipients: ratelimit.Limit{{Count: 10, Per: time.Minute}}}, in), c
}

// rcpt names the recipients from…to-1 of a kind and expects the same reply to each.
func (c *client) rcpt(kind string, from, to int, reply string) {
	c.t.Helper()
	for i := from; i < to; i++ {
		c.send(fmt.Sprintf("RCPT TO:<%s%d@example.test>\r\n", kind, i))
		c.expect(reply)
	}
}

func (c *client) mail() {
	c.t.Helper()
	c.send("MAIL FROM:<alice@sender.test>\r\n")
	c.expect("250")
}

func TestAnAddressThatTriesOutMailboxesIsTurnedAwayUntilTheWindowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, now := counted(t)
		defer b.stop()
		before := b.dial(home)
		before.hello()
		before.mail()
		c := b.dial(home)
		c.hello()
		c.mail()
		c.rcpt("no", 0, 10, "550 5.1.1")
		now.Advance(20 * time.Second)
		c.rcpt("no", 10, 11, "421 4.7.0 Too many refused recipients from your address, try again in 40 seconds")
		c.expectEnd()
		b.dial(home).expect("421 4.7.0 Too many refused recipients from your address, try again in 40 seconds")

		before.rcpt("box", 0, 1, "250") // who is there hears so: it is no longer one of nine in ten
		before.rcpt("no", 11, 12, "421 4.7.0")
		before.expectEnd()
		b.dial(other).hello()

		now.Advance(40 * time.Second)
		c = b.dial(home)
		c.hello()
		c.mail()
		c.rcpt("no", 0, 10, "550 5.1.1")
	})
}

func TestALargeSenderMayNameManyMailboxesThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := counted(t)
		defer b.stop()
		c := b.dial(home)
		c.hello()
		c.mail()
		c.rcpt("box", 0, 10, "250")
		c.rcpt("no", 0, 89, "550 5.1.1")
		b.dial(home).hello()
		c.rcpt("no", 89, 90, "421 4.7.0") // 90 of 100
		c.expectEnd()
	})
}

// A recipient that is named again and again is one.
func TestNamingARecipientAgainDoesNotMakeAnAddressALargeSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := counted(t)
		defer b.stop()
		c := b.dial(home)
		c.hello()
		c.mail()
		for range 20 {
			c.rcpt("box", 0, 1, "250")
		}
		c.rcpt("no", 0, 10, "550 5.1.1")
		c.rcpt("no", 10, 11, "421 4.7.0")
		c.expectEnd()
	})
}

package smtpd_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// Blocklists are queried once for each client that a relay names, and never for the relay itself.
func TestRelayIsNotLookedUpButItsClientsAre(t *testing.T) {
	asked := make(map[string]int)
	c := dialRelay(t, smtpd.Config{Listed: func(_ context.Context, a netip.Addr) func() string {
		asked[a.String()]++ // before the reply, so that no lock is needed
		return func() string { return map[bool]string{true: "bl.test"}[a.String() == "192.0.2.1"] }
	}}, &fakeInbound{})()
	rcpt := func(reply string) {
		t.Helper()
		say(c, "MAIL FROM:<alice@sender.test>", "250")
		say(c, "RCPT TO:<box@example.test>", reply)
		say(c, "RCPT TO:<box@example.test>", reply)
		say(c, "RSET", "250")
	}
	say(c, "HELO relay.test", "250")
	rcpt("250")
	say(c, "XFORWARD ADDR=192.0.2.1", "250")
	rcpt("554 5.7.1 Mail from your address is refused, it is listed by bl.test")
	rcpt("250")
	say(c, "XCLIENT ADDR=192.0.2.2", "220")
	say(c, "HELO client.test", "250")
	rcpt("250")
	rcpt("250")
	if len(asked) != 2 || asked["192.0.2.1"] != 1 || asked["192.0.2.2"] != 1 {
		t.Errorf("the lists were asked %v times, want once for 192.0.2.1 and once for 192.0.2.2", asked)
	}
}

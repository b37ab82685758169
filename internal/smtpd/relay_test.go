package smtpd_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/ratelimit"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// blockedAddr blocks one client, and the senders of one domain.
type blockedAddr struct{ addr netip.Addr }

func (b blockedAddr) Client(a netip.Addr) bool { return a == b.addr }
func (blockedAddr) Sender(s string) bool       { return strings.HasSuffix(s, "@blocked.test") }
func (blockedAddr) Recipient(string) bool      { return false }

// dialRelay returns a function that opens connections to a server for which loopback is a relay.
func dialRelay(t *testing.T, cfg smtpd.Config, in smtpd.Inbound) func() *client {
	cfg.Relays = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	_, addr := serve(t, cfg, in)
	return func() *client {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		c := newClient(t, conn)
		c.expect("220")
		return c
	}
}

// say sends a command and expects a reply to it.
func say(c *client, command, reply string) {
	c.send(command + "\r\n")
	c.expect(reply)
}

func mailBy(c *client) {
	say(c, "MAIL FROM:<a@sender.test>", "250 2.1.0")
	say(c, "RCPT TO:<box@example.test>", "250 2.1.5")
	say(c, "DATA", "354")
	say(c, "one\r\n.", "250 2.0.0")
}

// wantClient checks the client of a delivery.
func wantClient(t *testing.T, d delivery, addr, helo string) {
	t.Helper()
	if d.env.RemoteIP != netip.MustParseAddr(addr) || d.env.Helo != helo {
		t.Errorf("the envelope says %v and %q, want %v and %q", d.env.RemoteIP, d.env.Helo, addr, helo)
	}
}

func TestXClientNamesTheClient(t *testing.T) {
	in := &fakeInbound{}
	dial := dialRelay(t, smtpd.Config{
		AcceptAuth: func(a netip.Addr) bool { return a.IsLoopback() },
		Unlimited:  func(a netip.Addr) bool { return a.IsLoopback() },
	}, in)
	c := dial()
	say(c, "XCLIENT ADDR=192.0.2.1 HELO=named.test", "220 mx.example.test")
	say(c, "HELO relay.test", "250")
	mailBy(c)
	say(c, "XCLIENT ADDR=IPV6:2001:db8::1 HELO=[UNAVAILABLE]", "220")
	say(c, "HELO client.test", "250")
	say(c, "AUTH PLAIN", "502 5.5.1")
	mailBy(c)
	say(c, "XCLIENT ADDR=[UNAVAILABLE]", "220")
	say(c, "HELO client.test", "250")
	mailBy(c)
	got := in.deliveries()
	wantClient(t, got[0], "192.0.2.1", "named.test")
	wantClient(t, got[1], "2001:db8::1", "unknown")
	wantClient(t, got[2], "0.0.0.0", "unknown")
}

// The limits and blocks of the session are those of the client that XCLIENT names.
func TestXClientIsLimitedAsTheClient(t *testing.T) {
	dial := dialRelay(t, smtpd.Config{MaxConnections: 1, Blocks: blockedAddr{netip.MustParseAddr("192.0.2.9")}}, &fakeInbound{})
	one := dial()
	say(one, "XCLIENT ADDR=192.0.2.1", "220")
	two := dial() // fails if the first connection still counts for the relay
	say(two, "XCLIENT ADDR=192.0.2.1", "421 4.7.0")
	three := dial()
	say(three, "XCLIENT ADDR=192.0.2.9", "554 5.7.1")
	four := dial()
	say(four, "XCLIENT ADDR=192.0.2.2", "220")
	say(four, "XCLIENT ADDR=192.0.2.2", "220")
}

// A blocked mail is counted and logged with the client's address, whether the client connected itself or was named by a relay.
func TestBlocksAreCountedAndLogged(t *testing.T) {
	var log bytes.Buffer // written before the count
	counts := make(chan smtpd.Block, 10)
	dial := dialRelay(t, smtpd.Config{
		Blocks: blockedAddr{netip.MustParseAddr("192.0.2.9")}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Metrics: smtpd.Metrics{Blocked: func(b smtpd.Block) { counts <- b }},
	}, &fakeInbound{})
	say(dial(), "XCLIENT ADDR=192.0.2.9", "554 5.7.1")
	c := dial()
	say(c, "HELO relay.test", "250")
	say(c, "XFORWARD ADDR=192.0.2.9", "250")
	say(c, "MAIL FROM:<a@sender.test>", "554 5.7.1")
	say(c, "MAIL FROM:<spam@blocked.test>", "550 5.7.1")
	for i, want := range []smtpd.Block{smtpd.BlockedClient, smtpd.BlockedClient, smtpd.BlockedSender} {
		if got := <-counts; got != want {
			t.Errorf("refusal %d is counted as %s, want %s", i, got, want)
		}
	}
	for _, line := range []string{`msg="client blocked"`, `msg="sender blocked"`, "client=192.0.2.9", `reply="554 5.7.1"`, "senderDomain=blocked.test"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log has no %s:\n%s\nwant %v in it", line, log.String(), line)
		}
	}
}

func TestXForwardNamesTheClientOfATransaction(t *testing.T) {
	in := &fakeInbound{}
	dial := dialRelay(t, smtpd.Config{}, in)
	c := dial()
	say(c, "HELO relay.test", "250")
	say(c, "XFORWARD NAME=client.test ADDR=192.0.2.1", "250 2.0.0")
	say(c, "XFORWARD PROTO=ESMTP HELO=client.test SOURCE=REMOTE", "250 2.0.0")
	mailBy(c)
	mailBy(c)
	say(c, "XFORWARD ADDR=192.0.2.2", "250 2.0.0")
	mailBy(c)
	say(c, "XFORWARD ADDR=192.0.2.3", "250 2.0.0")
	say(c, "MAIL FROM:nonsense", "501")
	mailBy(c)
	say(c, "XFORWARD ADDR=192.0.2.4", "250 2.0.0")
	say(c, "RSET", "250 2.0.0")
	mailBy(c)
	got := in.deliveries()
	wantClient(t, got[0], "192.0.2.1", "client.test")
	wantClient(t, got[1], "127.0.0.1", "relay.test")
	wantClient(t, got[2], "192.0.2.2", "unknown")
	wantClient(t, got[3], "127.0.0.1", "relay.test")
	wantClient(t, got[4], "127.0.0.1", "relay.test")
}

// The limits and blocks of a transaction are those of the client that XFORWARD names, so that one client behind a relay does not use up the
// limits of the others.
func TestXForwardIsLimitedAsTheClient(t *testing.T) {
	in := &fakeInbound{refuse: map[string]error{"no@example.test": problem.New(problem.MailMailboxUnknown)}}
	dial := dialRelay(t, smtpd.Config{
		RefusedRecipients: ratelimit.Limit{{Count: 1, Per: time.Hour}}, Blocks: blockedAddr{netip.MustParseAddr("192.0.2.9")},
	}, in)
	c := dial()
	say(c, "HELO relay.test", "250")
	say(c, "XFORWARD ADDR=192.0.2.9", "250")
	say(c, "MAIL FROM:<a@sender.test>", "554 5.7.1")
	say(c, "XFORWARD ADDR=192.0.2.1", "250")
	say(c, "MAIL FROM:<a@sender.test>", "250")
	say(c, "RCPT TO:<no@example.test>", "550 5.1.1")
	say(c, "RCPT TO:<no@example.test>", "421 4.7.0")
	c = dial()
	say(c, "HELO relay.test", "250")
	say(c, "XFORWARD ADDR=192.0.2.2", "250")
	mailBy(c)
	for range 3 { // the refused recipients do not count against the relay
		say(c, "MAIL FROM:<>", "250")
		say(c, "RCPT TO:<no@example.test>", "550 5.1.1")
		say(c, "RSET", "250")
	}
	say(c, "XFORWARD ADDR=192.0.2.1", "250")
	say(c, "MAIL FROM:<a@sender.test>", "421 4.7.0")
}

// FuzzAttributes checks that only valid addresses and names without control characters are accepted, and that the case of keywords does
// not matter.
func FuzzAttributes(f *testing.F) {
	for _, seed := range []string{
		"NAME=a ADDR=192.0.2.1 PORT=25 PROTO=ESMTP HELO=a.test LOGIN=x DESTADDR=IPV6:::1 DESTPORT=[UNAVAILABLE]", "ADDR=[TEMPUNAVAIL]",
		"addr=ipv6:::ffff:192.0.2.1", "HELO=a+2Bb", "HELO=a+", "HELO=+00", "ADDR=0.0.0.0", "ADDR=1.2.3.4 ADDR=1.2.3.4", "", " ", "=", "NAME=",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		addr, helo, ok := smtpd.ParseXClient(p)
		if !ok {
			return
		}
		if addr.IsValid() && (addr.Is4In6() || addr.Zone() != "" || addr == netip.IPv6Unspecified()) {
			t.Errorf("ParseXClient(%q) has the address %v, want none that is unspecified, mapped or has a zone", p, addr)
		}
		if strings.ContainsAny(helo, "\r\n\x00") || len(helo) > 255 {
			t.Errorf("ParseXClient(%q) has the name %q, want at most 255 octets without line ends and NUL", p, helo)
		}
		if again, _, ok := smtpd.ParseXClient(bytes.ReplaceAll(p, []byte("ADDR="), []byte("addr="))); !ok || again != addr {
			t.Errorf("ParseXClient(%q) has the address %v, and with addr= in small letters %v, want the same", p, addr, again)
		}
	})
}

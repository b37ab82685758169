package blackbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
)

// sender is an SMTP session from one client address, driven command by command.
type sender struct {
	*textproto.Conn
	t testing.TB
}

// dialFrom connects to the service from a loopback address and says EHLO.
func (s *service) dialFrom(address string) *sender {
	s.t.Helper()
	c := s.greetedFrom(address)
	c.expect("220 ")
	c.say("EHLO client.test", "250 ")
	return c
}

// greetedFrom connects to the service from a loopback address. The greeting is not yet read.
func (s *service) greetedFrom(address string) *sender {
	s.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: patience}
	conn, err := dialer.DialContext(s.t.Context(), "tcp", s.SMTP)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return &sender{textproto.NewConn(conn), s.t}
}

// say sends a line and reads a reply, which must begin with want.
func (c *sender) say(line, want string) {
	c.t.Helper()
	if err := c.PrintfLine("%s", line); err != nil {
		c.t.Fatal(err)
	}
	c.expect(want)
}

func (c *sender) expect(want string) {
	c.t.Helper()
	code, text, err := c.ReadResponse(0)
	lines := strings.Split(text, "\n")
	if reply := fmt.Sprintf("%d %s", code, lines[len(lines)-1]); code == 0 || !strings.HasPrefix(reply, want) {
		c.t.Fatalf("the reply is %q, %v, want %q", reply, err, want)
	}
}

// begin starts a transaction for a mail of size octets.
func (c *sender) begin(to string, size int) {
	c.t.Helper()
	c.say(fmt.Sprintf("MAIL FROM:<sender@example.org> SIZE=%d", size), "250 ")
	c.say("RCPT TO:<"+to+">", "250 ")
}

// metric is the value of a metric, named with its labels, in the process that the senders reach.
func (s *service) metric(name string) float64 {
	s.t.Helper()
	res, err := http.Get(s.Admin + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return value
		}
	}
	s.t.Fatalf("the metrics have no %s, want a value", name)
	return 0
}

// An address that has used up its share of the memory for mail waits, then receives 452. Other addresses are not
// affected.
func TestMailWaitsForItsAddressesShareOfMemory(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"memory.budget": "128MiB", "smtp.memory_timeout": "300ms"})
	const used, refused = `gonebox_memory_used_bytes{kind="mail"}`, `gonebox_memory_refused_total{kind="mail"}`
	box := s.create("", nil)
	holder, waiter, other := s.dialFrom("127.0.0.1"), s.dialFrom("127.0.0.1"), s.dialFrom("127.0.0.2")
	holder.begin(box.Address, 25<<20)
	holder.say("DATA", "354 ")
	if got := s.metric(used); got < 25<<20 {
		t.Errorf("%s is %.0f while a mail of 25 MiB comes in, want at least %v", used, got, 25<<20)
	}

	waiter.begin(box.Address, 10<<20)
	waiter.say("DATA", "452 4.3.1 ")
	if got := s.metric(refused); got != 1 {
		t.Errorf("%s is %.0f, want 1", refused, got)
	}
	for _, size := range []int{100, 10 << 20} {
		other.begin(box.Address, size)
		other.say("DATA", "354 ")
		other.say("Subject: other\r\n\r\nx\r\n.", "250 ")
	}
	waiter.begin(box.Address, 100) // small mail of the same address has its own share
	waiter.say("DATA", "354 ")
	waiter.say("Subject: small\r\n\r\nx\r\n.", "250 ")

	holder.say("Subject: large\r\n\r\nx\r\n.", "250 ")
	eventually(t, "the memory of the first mail given back", func() bool { return s.metric(used) == 0 }) // soon after the reply
	waiter.begin(box.Address, 10<<20)
	waiter.say("DATA", "354 ")
	waiter.say("Subject: again\r\n\r\nx\r\n.", "250 ")
	eventually(t, "the memory given back", func() bool { return s.metric(used) == 0 })
	var subjects []string
	for _, m := range get[[]summary](s, "/mailboxes/me/messages", box.Token) {
		subjects = append(subjects, m.Subject)
	}
	if got := strings.Join(subjects, " "); got != "again large small other other" {
		t.Errorf(`there are %s, want "again large small other other"`, got)
	}
}

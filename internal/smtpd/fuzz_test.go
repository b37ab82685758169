package smtpd_test

import (
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/smtpd"
)

const fuzzedSize, fuzzedRecipients = 300, 3

// grammar is an independent description, with regular expressions, of what a session may send and deliver.
type grammar struct {
	reply, status, trace, local, domain *regexp.Regexp
}

func newGrammar() grammar {
	atom := "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10ffff}-]"
	return grammar{
		reply:  regexp.MustCompile(`^(?:[245][0-9][0-9]-[ -~]+\r\n)*(?:[245][0-9][0-9] [ -~]+|354 [ -~]+)\r\n`),
		status: regexp.MustCompile(`^([245])[0-9][0-9] ([245])\.[0-9]{1,3}\.[0-9]{1,3} `),
		trace:  regexp.MustCompile(`trace [0-9a-f]{32}`),
		local:  regexp.MustCompile(`^(?:` + atom + `+|"(?:[ !#-\[\]-~\x{80}-\x{10ffff}]|\\[ -~])*")$`),
		domain: regexp.MustCompile(`^(?:[a-zA-Z0-9_\x{80}-\x{10ffff}](?:[a-zA-Z0-9_\x{80}-\x{10ffff}-]*[a-zA-Z0-9_\x{80}-\x{10ffff}])?(?:\.[a-zA-Z0-9_\x{80}-\x{10ffff}](?:[a-zA-Z0-9_\x{80}-\x{10ffff}-]*[a-zA-Z0-9_\x{80}-\x{10ffff}])?)*|\[[!-Z^-~]+\])$`),
	}
}

func (g grammar) address(a string) bool {
	at := strings.LastIndexByte(a, '@')
	if at < 0 || len(a) > 254 || !utf8.ValidString(a) {
		return false
	}
	return at <= 64 && g.local.MatchString(a[:at]) && g.domain.MatchString(a[at+1:])
}

// checked is an Inbound that fails the test if it gets anything that the grammar does not allow.
type checked struct {
	fakeInbound
	t *testing.T
	g grammar
}

func (c *checked) Accept(ctx context.Context, address string) (inbound.Recipient, error) {
	if address != "postmaster" && !c.g.address(address) {
		c.t.Errorf("Accept was asked for %q, want an address of RFC 5321", address)
	}
	if strings.HasPrefix(address, "no") {
		return inbound.Recipient{}, problem.New(problem.MailMailboxUnknown)
	}
	return c.fakeInbound.Accept(ctx, address)
}

func (c *checked) Deliver(ctx context.Context, env *inbound.Envelope, data []byte) (inbound.Receipt, error) {
	plain := strings.ReplaceAll(string(data), "\r\n", "")
	if strings.ContainsAny(plain, "\r\n\x00") || len(data) > fuzzedSize {
		c.t.Errorf("the delivered mail is %q, want at most %d octets, with lines that end with CRLF and without NUL", data, fuzzedSize)
	}
	if env.From != "" && !c.g.address(env.From) {
		c.t.Errorf("the delivered mail is from %q, want an address of RFC 5321", env.From)
	}
	if n := len(env.To); n == 0 || n > fuzzedRecipients {
		c.t.Errorf("the mail was delivered to %d recipients, want 1 to %d", n, fuzzedRecipients)
	}
	if env.Helo == "" || strings.ContainsAny(env.Helo, "\r\n\x00") {
		c.t.Errorf("the delivered mail has the HELO name %q, want one without line ends and NUL", env.Helo)
	}
	return c.fakeInbound.Deliver(ctx, env, data)
}

// converse sends the octets in writes of at most the given size, and reads all replies until the server ends the session, at the latest when
// the clock of the synctest bubble reaches the session's deadline.
func converse(t *testing.T, g grammar, octets []byte, size int) (said string, in *checked) {
	in = &checked{t: t, g: g}
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{MaxSize: fuzzedSize, MaxRecipients: fuzzedRecipients, MaxErrors: 40}, in)
		defer b.stop()
		server, conn := net.Pipe()
		b.pipes.conns <- server
		go func() {
			for left := octets; len(left) > 0; {
				n := min(size, len(left))
				if _, err := conn.Write(left[:n]); err != nil {
					return
				}
				left = left[n:]
			}
		}()
		all, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("read: %v", err)
		}
		said = string(all)
		_ = conn.Close()
	})
	return g.trace.ReplaceAllString(said, "trace"), in
}

// FuzzSession sends arbitrary octets. The session must end in bounded time, send nothing but replies, deliver nothing that the grammar does
// not allow, and behave the same however the octets are split into writes.
func FuzzSession(f *testing.F) {
	hello := "EHLO c.test\r\n"
	envelope := hello + "MAIL FROM:<a@b.test>\r\nRCPT TO:<box@example.test>\r\n"
	for _, seed := range []string{
		hello + "NOOP\r\nHELP\r\nVRFY x\r\nEXPN x\r\nAUTH PLAIN x\r\nSTARTTLS\r\nRSET\r\nQUIT\r\n",
		envelope + "DATA\r\nSubject: x\r\n\r\n..dot\r\n.\r\nQUIT\r\n",
		envelope + "DATA\r\none\n.\nMAIL FROM:<>\r\n.\r\nMAIL FROM:<> SIZE=10 BODY=8BITMIME SMTPUTF8\r\nRCPT TO:<Postmaster>\r\nDATA\r\nx\r\n.\r\n",
		envelope + "RCPT TO:<no@x.test>\r\nRCPT TO:<@a,@b:\"q \\\" q\"@[1.2.3.4]>\r\nBDAT 3\r\nabcBDAT 2 LAST\r\n\r\nQUIT\r\n",
		envelope + "BDAT 5\r\nabc\r\nRSET\r\nBDAT 4 LAST\r\nNOOPBDAT 0 LAST\r\nBDAT x\r\nNOOP\r\n",
		envelope + "DATA\r\n" + strings.Repeat("x", fuzzedSize) + "\r\n.\r\nNOOP\r\n",
		envelope + "BDAT 301 LAST\r\n" + strings.Repeat("x", 301) + "NOOP\r\n",
		"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "HELO x\nNOOP\r\r\nNO\x00OP\r\n" + strings.Repeat("y", 3000) + "\r\nNOOP\r\n",
		hello + "MAIL FROM:<\xc3\xbc@b.test> SMTPUTF8\r\nRCPT TO:<b\xff@c.test>\r\nRCPT TO:<b\xc3\xb8@c.test>\r\nDATA\r\n.\r\n",
	} {
		f.Add([]byte(seed))
	}
	g := newGrammar()
	f.Fuzz(func(t *testing.T, octets []byte) {
		said, in := converse(t, g, octets, len(octets)+1)
		rest := said
		for greeting := true; rest != ""; greeting = false {
			r := in.g.reply.FindString(rest)
			if r == "" {
				t.Fatalf("the server said %q, want a reply at %.200q", said, rest)
			}
			rest = rest[len(r):]
			status := in.g.status.FindStringSubmatch(r)
			plain := greeting || strings.HasPrefix(r, "354 ") || strings.HasPrefix(r, "250-") || r == "250 mx.example.test\r\n"
			if !plain && (status == nil || status[1] != status[2]) {
				t.Errorf("the reply is %q, want an enhanced status code of its class", r)
			}
		}
		if n := len(in.deliveries()); n != strings.Count(said, " Message taken, trace") {
			t.Errorf("%d messages were delivered, want %d as by the replies %q", n, strings.Count(said, " Message taken, trace"), said)
		}
		pieces, other := converse(t, g, octets, 3)
		if pieces != said {
			t.Errorf("sent in pieces, the server says %q, want %q as at once", pieces, said)
		}
		ignore := cmpopts.IgnoreFields(inbound.Envelope{}, "ReceivedAt", "RemoteIP", "Memory")
		if diff := cmp.Diff(in.deliveries(), other.deliveries(), ignore, cmpopts.IgnoreUnexported(inbound.Recipient{}, inbound.Envelope{}), cmp.AllowUnexported(delivery{})); diff != "" {
			t.Errorf("sent in pieces, other mail is delivered (-want as at once, +got):\n%s", diff)
		}
	})
}

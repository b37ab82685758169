package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/gonebox/gonebox/internal/clock"
)

const (
	// connectTimeout is how long the relay may take to accept a connection and to greet, if Policy.Timeout is longer.
	connectTimeout = 20 * time.Second
	// finalTimeout is how long the relay may take to reply to the content (RFC 5321 §4.5.3.2.6): giving up too early would send a
	// mail twice.
	finalTimeout = 10 * time.Minute
	// quitTimeout is how long the reply to QUIT is waited for. The mail has been sent by then.
	quitTimeout = 2 * time.Second
	// repliesMax bounds the octets that a relay may send in a connection.
	repliesMax = 256 << 10
)

// result is the outcome of a try.
type result struct {
	reply  int // of SMTP; 451 where the relay could not be asked
	code   string
	reason string
	remote netip.Addr // of the relay; zero if it was not reached
	tls    bool
	final  bool // no later try is made: a 5yz reply to the mail, or it has expired

	expired bool
}

// isSent reports whether the relay has taken the mail.
func (r result) isSent() bool { return r.reply/100 == 2 }

// outcome returns the outcome, and the line of the log that says it.
func (r result) outcome() (o Outcome, line string) {
	switch {
	case r.isSent():
		return Sent, "mail sent"
	case r.expired:
		return Expired, "mail not sent, and given up"
	case r.final:
		return Refused, "mail not sent, and given up"
	}
	return Deferred, "mail not sent, it will be tried again"
}

// fail sets the outcome of a step that failed. A reply of the relay that concerns the mail, and not the connection, is that of the
// try; it is final if it is 5yz.
func (r *result) fail(err error, step string, concernsMail bool) {
	r.reply, r.code = 451, "4.4.2"
	var reply *textproto.Error
	switch {
	case !errors.As(err, &reply):
		r.reason = step + ": " + describe(err)
	case concernsMail && (reply.Code/100 == 4 || reply.Code/100 == 5):
		r.reply, r.final = reply.Code, reply.Code/100 == 5
		r.code, r.reason = splitReply(reply)
	default: // the relay is not what it was configured as, which the operator can mend
		code, text := splitReply(reply)
		r.code, r.reason = "4.7.0", fmt.Sprintf("%s: %d %s %s", step, reply.Code, code, text)
	}
}

// describe returns an error without the addresses in it.
func describe(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return "the name of the relay cannot be looked up"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "the relay did not respond in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the relay closed the connection"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}

// enhanced matches an enhanced status code at the beginning of a line of a reply (RFC 2034).
var enhanced = regexp.MustCompile(`^[245]\.[0-9]{1,3}\.[0-9]{1,3}\s+`)

// splitReply returns the enhanced status code and the text of a reply, the lines joined by spaces. A reply without a code has that of
// its class.
func splitReply(e *textproto.Error) (code, text string) {
	lines := strings.Split(e.Msg, "\n")
	for i, line := range lines {
		if found := enhanced.FindString(line); found != "" {
			code, lines[i] = strings.TrimSpace(found), line[len(found):]
		}
	}
	if code == "" {
		code = fmt.Sprintf("%d.0.0", e.Code/100)
	}
	return code, strings.TrimSpace(strings.Join(lines, " "))
}

// send makes one try to hand a mail to the relay. next returns the parts of the mail, io.EOF behind the last. An error is not the
// relay's: the mail cannot be read.
func (s *Service) send(ctx context.Context, to string, next func(context.Context) ([]byte, error)) (r result, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptMax)
	defer cancel()
	conn, err := s.dial(ctx)
	if err != nil {
		r.fail(err, string(Connecting), false)
		return r, nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if addr, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		r.remote = addr.Addr().Unmap().WithZone("")
	}
	c, step, err := s.open(ctx, conn)
	if err != nil {
		r.fail(err, string(step), false)
		return r, nil
	}
	_, r.tls = c.TLSConnectionState()
	if err := s.transfer(ctx, c, conn, &r, to, next); err != nil || !r.isSent() {
		return r, err
	}
	conn.timeout = quitTimeout
	_ = c.Quit()
	return r, nil
}

// dial connects to the relay, with TLS if that is implicit.
func (s *Service) dial(ctx context.Context) (*connection, error) {
	timeout := min(connectTimeout, s.Policy.Timeout)
	dialer := net.Dialer{Timeout: timeout}
	plain, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(s.Relay.Host, s.Relay.Port))
	if err != nil {
		return nil, err
	}
	return &connection{Conn: plain, timeout: timeout, left: repliesMax}, nil
}

// tlsConfig is how the relay must prove its name.
func (s *Service) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.Relay.Host, MinVersion: tls.VersionTLS12}
}

// open greets the relay, turns TLS on and authenticates. After an error, step says what failed.
func (s *Service) open(ctx context.Context, conn *connection) (c *smtp.Client, step Step, err error) {
	var stream net.Conn = conn
	if s.Relay.ImplicitTLS {
		secure := tls.Client(conn, s.tlsConfig())
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, ImplicitTLS, err
		}
		stream = secure
	}
	if c, err = smtp.NewClient(stream, s.Relay.Host); err != nil {
		return nil, Greeting, err
	}
	conn.timeout = s.Policy.Timeout
	c.SkipSMTPUTF8(true) // the addresses are ASCII; asking for more would keep the mail from hosts without it
	if err := c.Hello(s.Hostname); err != nil {
		return nil, Hello, err
	}
	if !s.Relay.ImplicitTLS && !s.Relay.Loopback {
		if offered, _ := c.Extension("STARTTLS"); !offered {
			return nil, StartTLS, errNoTLS
		}
		if err := c.StartTLS(s.tlsConfig()); err != nil {
			return nil, StartTLS, err
		}
	}
	if s.Relay.User == "" {
		return c, "", nil
	}
	auth, err := s.authentication(c)
	if err == nil {
		err = c.Auth(auth)
	}
	return c, Authentication, err
}

// authentication returns the best mechanism that the relay offers. On loopback the password may be sent without TLS.
func (s *Service) authentication(c *smtp.Client) (smtp.Auth, error) {
	_, offer := c.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(offer))
	r := s.Relay
	switch {
	case slices.Contains(offered, "SCRAM-SHA-256"):
		return smtp.ScramSHA256Auth(r.User, r.Password), nil
	case slices.Contains(offered, "PLAIN"):
		return smtp.PlainAuth("", r.User, r.Password, r.Host, r.Loopback), nil
	case slices.Contains(offered, "LOGIN"):
		return smtp.LoginAuth(r.User, r.Password, r.Host, r.Loopback), nil
	case slices.Contains(offered, "CRAM-MD5"):
		return smtp.CRAMMD5Auth(r.User, r.Password), nil
	}
	return nil, errNoMechanism
}

// transfer is the mail transaction. It sets r.reply unless reading the mail fails.
func (s *Service) transfer(ctx context.Context, c *smtp.Client, conn *connection, r *result, to string, next func(context.Context) ([]byte, error)) error {
	if err := c.Mail("<" + s.From.Address + ">"); err != nil {
		r.fail(err, "MAIL", true)
		return nil
	}
	if err := c.Rcpt("<" + to + ">"); err != nil {
		r.fail(err, "RCPT", true)
		return nil
	}
	w, err := c.Data()
	if err != nil {
		r.fail(err, "DATA", true)
		return nil
	}
	for {
		octets, err := next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err // the connection is closed without the final dot
		}
		if _, err := w.Write(octets); err != nil {
			r.fail(err, "the content", true)
			return nil
		}
	}
	conn.timeout = finalTimeout
	if err := w.Close(); err != nil {
		r.fail(err, "the content", true)
		return nil
	}
	r.reply, r.code, r.reason = 250, "2.0.0", "Accepted by the relay"
	if d, ok := w.(*smtp.DataCloser); ok {
		if code, text := splitReply(&textproto.Error{Code: 250, Msg: d.ServerResponse()}); text != "" {
			r.code, r.reason = code, text
		}
	}
	return nil
}

// connection is a connection on which each read and write has a deadline, and the octets that can be read are bounded.
type connection struct {
	net.Conn
	timeout time.Duration
	left    int
}

// Read reads at most the octets that are left.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the relay sends too much")
	}
	if err := c.SetReadDeadline(clock.System().Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// Write writes p before the deadline.
func (c *connection) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(clock.System().Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

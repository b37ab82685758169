package smtpd

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/gonebox/gonebox/internal/ratelimit"
)

// session is the dialog with one client. All but its wire's interrupt belongs to one goroutine.
type session struct {
	srv   *Server
	wire  wire
	ip    netip.Addr
	owner string // of the memory that its messages take: ip as limits count it
	trace string // 16 random octets in hex: what the replies and the log lines of a session have in common
	begun time.Time

	helo     string // the argument of EHLO or HELO; "" before
	extended bool   // EHLO, not HELO
	tls      string // version and cipher; "" without TLS
	tx       transaction

	total    int   // commands
	commands int   // since a message was last taken
	errors   int   // likewise
	messages int   // taken
	last     int64 // octets of the last message: the next one is likely to need as much room
	over     bool  // the session ends after what was said
	unheard  bool  // the client may still be sending when it ends
}

func newSession(srv *Server, conn net.Conn) *session {
	now := srv.wall.Now()
	return &session{
		srv:   srv,
		begun: now,
		wire: wire{
			raw:      conn,
			conn:     conn,
			timeouts: srv.cfg.Timeouts,
			wall:     srv.wall,
			end:      now.Add(srv.cfg.Timeouts.Session),
		},
	}
}

// run serves the client and closes the connection.
func (s *session) run() {
	defer s.wire.close()
	defer s.recover()
	s.ip = ipOf(s.wire.raw.RemoteAddr()) // waits for the header where the PROXY protocol is spoken
	s.owner = ratelimit.AddrIdentity(s.ip)
	if wait := s.srv.recipients.blocked(s.owner); wait > 0 {
		s.turnAway(tooManyRefused(wait))
		return
	}
	release, ok := s.srv.connections.Acquire(ratelimit.SMTPConnections, s.owner, s.srv.cfg.MaxConnections)
	if !ok {
		s.turnAway(replyTooMany)
		return
	}
	defer release()
	widen()
	s.srv.cfg.Metrics.Connections(1)
	defer s.srv.cfg.Metrics.Connections(-1)

	s.wire.open()
	defer s.wire.release()
	defer s.reset()
	s.trace = newTrace()
	s.dialog()
	s.logSession()
}

// stackOfMail makes a stack grow to 16 KiB, to which taking a mail brings it.
const stackOfMail = 9 << 10

// widen grows the goroutine's stack at once. By itself it would double three times within the first mail, and each time all that
// is on it would be copied: a third of what a session with one mail cost beside the mail. The collector takes from idle sessions
// what they do not need.
//
//go:noinline
func widen() {
	var room [stackOfMail]byte
	use(&room)
}

// use keeps the compiler from leaving room out.
//
//go:noinline
func use(room *[stackOfMail]byte) { room[0] = 1 }

// dialog answers commands until the session is over.
func (s *session) dialog() {
	s.say(s.srv.hello.greeting)
	for !s.over {
		s.say(s.next())
	}
	if s.wire.flush() == nil && s.unheard {
		s.wire.linger()
	}
}

// next reads a command, carries it out and returns its reply.
func (s *session) next() reply {
	s.wire.within = s.tx.open
	line, err := s.wire.line()
	if err != nil && !errors.Is(err, errLineTooLong) {
		return s.ending(err)
	}
	s.total++
	if s.commands++; s.commands > s.srv.cfg.MaxCommands {
		return replyCommands
	}
	r := replyLongLine
	if err == nil {
		r = s.command(line)
	}
	if r.permanent() {
		if s.errors++; s.errors > s.srv.cfg.MaxErrors {
			return replyErrors
		}
	}
	return r
}

// ending is what is said when no command came. To a client that is gone, nothing.
func (s *session) ending(err error) reply {
	s.over = true
	switch {
	case errors.Is(err, errDraining):
		return replyDraining
	case isTimeout(err):
		return replyTimeout
	case !errors.Is(err, io.EOF):
		s.fail("read", err)
	}
	return ""
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errSessionOver)
}

// command carries out one command line.
func (s *session) command(line []byte) reply {
	if s.total == 1 && foreign(line) {
		return replyNotSMTP
	}
	line, ok := commandText(line)
	if !ok {
		return replyControl
	}
	verb, arg, _ := bytes.Cut(line, []byte(" "))
	arg = bytes.TrimLeft(arg, " ")
	var upper [len("STARTTLS")]byte
	if len(verb) > len(upper) {
		return replyUnknown
	}
	for i, c := range verb {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	return s.dispatch(string(upper[:len(verb)]), arg)
}

func (s *session) dispatch(verb string, arg []byte) reply {
	switch verb {
	case "EHLO", "HELO":
		return s.greet(arg, verb == "EHLO")
	case "MAIL":
		return s.mail(arg)
	case "RCPT":
		return s.rcpt(arg)
	case "DATA":
		return s.data(arg)
	case "BDAT":
		return s.bdat(arg)
	case "RSET", "QUIT":
		return s.bare(verb, arg)
	case "STARTTLS":
		return s.startTLS(arg)
	case "NOOP":
		return replyOK
	case "HELP":
		return replyHelp
	case "VRFY":
		if len(arg) == 0 {
			return replyArgument
		}
		return replyVerify
	case "EXPN", "AUTH", "ETRN", "TURN", "ATRN", "SEND", "SOML", "SAML":
		return replyNoSuch
	default:
		return replyUnknown
	}
}

// bare carries out the commands that are no more than their name.
func (s *session) bare(verb string, arg []byte) reply {
	if len(arg) > 0 {
		return replyNoArgument
	}
	if verb == "QUIT" {
		return replyGoodbye
	}
	s.reset()
	return replyOK
}

// commandText is a line without its CRLF and trailing spaces (RFC 5321 §4.1.1). A line that ends in a bare LF, or has a CR, a NUL
// or another control character, is no command: what one server takes for text another may take for a line's end.
func commandText(line []byte) (text []byte, ok bool) {
	text, ok = bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return nil, false
	}
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return nil, false
		}
	}
	return bytes.TrimRight(text, " "), true
}

// say replies. The reply waits for the wire to be flushed.
func (s *session) say(r reply) {
	if r == "" {
		return
	}
	s.wire.write(string(r))
	if r.closes() && !s.over {
		s.over, s.unheard = true, r != replyGoodbye
	}
}

// turnAway refuses a connection at the door.
func (s *session) turnAway(r reply) {
	s.srv.cfg.Metrics.Refused()
	s.wire.write(string(r))
	_ = s.wire.flush() // it is turned away whether it hears it or not
}

// recover keeps a fault in one session from ending the server.
func (s *session) recover() {
	if fault := recover(); fault != nil {
		s.logFault("session panicked", fault, string(debug.Stack()))
		s.wire.write(string(replyFault))
		_ = s.wire.flush() // the session ends in any case
	}
}

func newTrace() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

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

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/transcript"
)

// session is an SMTP session with one client. Its goroutine alone uses it, except that other goroutines may call
// wire.interrupt and close the connection.
type session struct {
	srv   *Server
	wire  wire
	trace string // 16 random octets in hex that identify the session in replies and log lines
	begun time.Time

	client               // of the transaction: connected, or the client that XFORWARD named
	connected     client // of the connection: the peer, or the client that XCLIENT named
	relay         bool   // the peer may use XCLIENT and XFORWARD
	forwarded     bool   // XFORWARD was accepted since the last MAIL
	forwardFailed bool   // XFORWARD was rejected since the transaction was reset
	release       func() // gives the connection back to the client's limit of connections; never nil

	helo          string           // the argument of EHLO or HELO; "" before
	extended      bool             // EHLO, not HELO
	authenticated bool             // AUTH succeeded
	user          string           // the user name given to AUTH
	project       *inbound.Project // that the session is signed in to; nil: to none
	secure        bool             // TLS begins with the connection
	tls           string           // version and cipher; "" without TLS
	tx            transaction
	peer          netip.Addr       // of the connection, whatever XCLIENT and XFORWARD name
	submission    *Submission      // what the session delivers instead of what a client sends; nil: it has a client
	record        *recorder        // nil: the session is not recorded
	recorded      []inbound.Stored // the messages of the mail that is recorded
	lookup        blocklistLookup

	totalCommands int   // commands of the session
	commands      int   // commands since the last accepted message, at most Config.MaxCommands
	errors        int   // commands with a 5yz reply since the last accepted message, at most Config.MaxErrors
	messages      int   // accepted messages; it numbers them in replies
	lastSize      int64 // octets of the last message, since the next one is likely to be as large
	closing       bool  // the session ends once the pending replies are sent
	cut           bool  // the session ends without a reply, on purpose
	linger        bool  // the client may still be sending when the session ends; see wire.linger
}

// newSession returns a session whose time limit, Timeouts.Session, begins now. It does not read or write.
func newSession(srv *Server, conn net.Conn) *session {
	now := srv.wall.Now()
	return &session{
		srv:     srv,
		begun:   now,
		release: func() {},
		wire: wire{
			raw:        conn,
			conn:       conn,
			timeouts:   srv.cfg.Timeouts,
			wall:       srv.wall,
			maxLine:    maxLine,
			sessionEnd: now.Add(srv.cfg.Timeouts.Session),
		},
	}
}

// run runs the session and closes the connection. It is the session's goroutine.
func (s *session) run() {
	defer s.wire.close()
	defer s.recover()
	peer := ipOf(s.wire.raw.RemoteAddr()) // waits for the header where the PROXY protocol is spoken
	if !peer.IsValid() {
		peer = netip.AddrFrom4([4]byte{127, 0, 0, 1}) // a socket of this machine
	}
	s.peer = peer
	s.client, s.relay = s.srv.newClient(peer), s.srv.isRelay(peer)
	s.unlimited = s.unlimited || s.relay // otherwise one client could use up the limits of the relay, which would then be blocked for all clients
	s.connected = s.client
	if r := s.admit(); r != "" {
		if !s.secure { // without a handshake the client could not read it
			s.wire.write(string(r))
			_ = s.wire.flush() // the connection is closed in any case
		}
		return
	}
	defer func() { s.release() }()
	s.srv.cfg.Metrics.Connections(1)
	defer s.srv.cfg.Metrics.Connections(-1)

	s.wire.acquireBuffer()
	defer s.wire.releaseBuffer()
	defer s.reset()
	s.trace = newTrace()
	s.startRecording()
	if s.secure && !s.handshake() {
		return
	}
	s.dialog()
	s.logSession()
}

// dialog replies to commands until the session ends. Replies are not sent one by one: wire.read sends the pending
// ones before it waits for input.
func (s *session) dialog() {
	s.say(s.srv.hello.greeting)
	for !s.closing {
		s.say(s.next())
		if s.record != nil && !s.tx.open && (s.record.refused || s.recorded != nil) {
			s.endMail()
		}
	}
	if s.record != nil {
		s.endMail()
	}
	if s.wire.flush() == nil && s.linger {
		s.wire.linger()
	}
}

// next reads and runs a command, and returns its reply. Lines that are too long count as commands and as errors.
func (s *session) next() reply {
	s.wire.inTransaction = s.tx.open
	line, err := s.wire.line()
	if err != nil && !errors.Is(err, errLineTooLong) {
		return s.readErrorReply(err)
	}
	s.totalCommands++
	if s.commands++; s.commands > s.srv.cfg.MaxCommands {
		return replyCommands
	}
	r := replyLongLine
	if err == nil {
		s.recordCommand(line)
		r = s.command(line)
	} else {
		s.record.add(transcript.Client, "[a line that is too long]")
	}
	if r.isPermanent() {
		if s.errors++; s.errors > s.srv.cfg.MaxErrors {
			return replyErrors
		}
	}
	return r
}

// readErrorReply returns the last reply of a session that could not read a command, or "" if the client cannot be reached
// any more. It ends the session.
func (s *session) readErrorReply(err error) reply {
	s.closing = true
	s.record.add(transcript.Client, "[connection closed]")
	switch {
	case errors.Is(err, errDraining):
		return replyDraining
	case isTimeout(err):
		return replyTimeout
	case !errors.Is(err, io.EOF):
		s.logConnError("read", err)
	}
	return ""
}

// isTimeout reports whether the client has exceeded a time-out, that of a wait or that of the session.
func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errSessionOver)
}

// command runs one command line, which ends in LF. Verbs are compared in upper case without an allocation.
func (s *session) command(line []byte) reply {
	if s.totalCommands == 1 && isOtherProtocol(line) {
		return replyNotSMTP
	}
	line, ok := commandText(line, s.bareLF)
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

// dispatch runs a command by its verb in upper case. arg aliases the input buffer, so it is valid until the next read.
func (s *session) dispatch(verb string, arg []byte) reply {
	switch verb {
	case "EHLO", "HELO", "LHLO":
		if s.srv.cfg.LMTP != (verb == "LHLO") { // RFC 2033 §4.1
			return replyUnknown
		}
		return s.greet(arg, verb != "HELO")
	case "MAIL":
		return s.mail(arg)
	case "RCPT":
		return s.rcpt(arg)
	case "DATA":
		return s.data(arg)
	case "BDAT":
		if s.srv.cfg.LMTP { // it is not offered
			return replyUnknown
		}
		return s.bdat(arg)
	case "RSET", "QUIT":
		return s.resetOrQuit(verb, arg)
	case "STARTTLS":
		return s.startTLS(arg)
	case "NOOP":
		return replyOK
	case "HELP":
		return replyHelp
	case "AUTH":
		return s.auth(arg)
	case "XCLIENT":
		return s.xclient(arg)
	case "XFORWARD":
		return s.xforward(arg)
	case "VRFY":
		if len(arg) == 0 {
			return replyArgument
		}
		return replyVerify
	case "EXPN", "ETRN", "TURN", "ATRN", "SEND", "SOML", "SAML":
		return replyNoSuch
	default:
		return replyUnknown
	}
}

// resetOrQuit runs RSET and QUIT, which have no argument.
func (s *session) resetOrQuit(verb string, arg []byte) reply {
	if len(arg) > 0 {
		return replyNoArgument
	}
	if verb == "QUIT" {
		return replyGoodbye
	}
	s.reset()
	return replyOK
}

// commandText returns a line without its CRLF and trailing spaces (RFC 5321 §4.1.1). It returns false for a line that contains a control
// character or, unless bareLF is true, ends in a bare LF: servers disagree about where such lines end, and attackers use that to smuggle
// commands.
func commandText(line []byte, bareLF bool) (text []byte, ok bool) {
	text, ok = bytes.CutSuffix(line, []byte("\r\n"))
	if !ok && !bareLF {
		return nil, false
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return nil, false
		}
	}
	return bytes.TrimRight(text, " "), true
}

// say adds a reply to those that the next flush sends. 221 and 421 end the session.
func (s *session) say(r reply) {
	if r == "" {
		return
	}
	if s.cut {
		s.record.cut()
		return
	}
	s.record.reply(r)
	s.wire.write(string(r))
	if r.endsSession() && !s.closing {
		s.closing, s.linger = true, r != replyGoodbye
	}
}

// recover logs a panic and replies 421. run defers it, so that a panic ends only its session.
func (s *session) recover() {
	if fault := recover(); fault != nil {
		s.logFault("session panicked", fault, string(debug.Stack()))
		s.wire.write(string(replyFault))
		_ = s.wire.flush() // the session ends in any case
	}
}

// newTrace returns a random identifier of a session.
func newTrace() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

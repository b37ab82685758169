package smtpd

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/transcript"
)

const maxName = 255 // octets of the name in EHLO and HELO (RFC 5321 §4.5.3.1.2)

// hello holds the greeting and the replies to HELO and EHLO. They are built once, since they depend only on the configuration, on
// whether the connection uses TLS and on whether AUTH is offered.
type hello struct {
	greeting, helo, ehlo, ehloTLS reply

	// The replies to EHLO of clients that are offered AUTH with any credentials, and of those that are offered it with a password.
	ehloAuth, ehloAuthTLS         reply
	ehloPassword, ehloPasswordTLS reply
}

// newHello returns the replies to relays, or to other clients.
func newHello(cfg Config, relay bool) hello {
	extensions := []string{
		cfg.Hostname,
		"PIPELINING",
		"SIZE " + strconv.FormatInt(cfg.MaxSize, 10),
		"8BITMIME",
		"SMTPUTF8",
		"CHUNKING",
		"ENHANCEDSTATUSCODES",
	}
	protocol := "ESMTP"
	if cfg.LMTP {
		protocol, extensions = "LMTP", slices.DeleteFunc(extensions, func(name string) bool { return name == "CHUNKING" })
	}
	if cfg.DSN {
		extensions = append(extensions, "DSN")
	}
	if relay {
		extensions = append(extensions, "XCLIENT "+xclientAttributes, "XFORWARD "+xforwardAttributes)
	}
	h := hello{
		greeting: reply("220 " + cfg.Hostname + " " + protocol),
		helo:     reply("250 " + cfg.Hostname),
		ehloTLS:  multiline(extensions),
	}
	withAuth := append(slices.Clone(extensions), authExtension)
	withPassword := append(slices.Clone(extensions), passwordExtension)
	h.ehlo, h.ehloAuth, h.ehloAuthTLS = h.ehloTLS, multiline(withAuth), multiline(withAuth)
	h.ehloPassword, h.ehloPasswordTLS = multiline(withPassword), multiline(withPassword)
	if cfg.TLS != nil {
		h.ehlo, h.ehloAuth = multiline(append(extensions, "STARTTLS")), multiline(append(withAuth, "STARTTLS"))
		h.ehloPassword = multiline(append(withPassword, "STARTTLS"))
	}
	return h
}

// multiline returns a reply of several lines with the code 250 (RFC 5321 §4.2.1).
func multiline(lines []string) reply {
	last := len(lines) - 1
	var b strings.Builder
	for _, line := range lines[:last] {
		b.WriteString("250-" + line + "\r\n")
	}
	b.WriteString("250 " + lines[last])
	return reply(b.String())
}

// greet runs EHLO and HELO (RFC 5321 §4.1.1.1). Any text is accepted as the name, since many clients have unusual
// ones. Both commands end a transaction. It starts the look-up in blocklists, whose result RCPT needs.
func (s *session) greet(arg []byte, extended bool) reply {
	if len(arg) == 0 {
		return replyArgument
	}
	if len(arg) > maxName || !utf8.Valid(arg) {
		return replyHelloArgument
	}
	s.reset()
	s.helo, s.extended = string(arg), extended
	s.lookUpClient()
	auth := s.offersAuth()
	if auth {
		s.wire.maxLine = maxAuthLine
	}
	h := &s.srv.hello
	if s.relay {
		h = &s.srv.relayHello
	}
	any := s.srv.cfg.AcceptAuth(s.connected.ip)
	switch {
	case !extended:
		return h.helo
	case auth && !any && s.tls != "":
		return h.ehloPasswordTLS
	case auth && !any:
		return h.ehloPassword
	case auth && s.tls != "":
		return h.ehloAuthTLS
	case auth:
		return h.ehloAuth
	case s.tls != "":
		return h.ehloTLS
	default:
		return h.ehlo
	}
}

// startTLS runs STARTTLS (RFC 3207). It discards everything that the client sent in clear text, since an attacker may have
// changed it, so the client must send EHLO again. A failed handshake ends the session without a reply.
func (s *session) startTLS(arg []byte) reply {
	switch {
	case s.srv.cfg.TLS == nil:
		return replyNoTLS
	case s.tls != "":
		return replyTLSAlready
	case len(arg) > 0:
		return replyNoArgument
	}
	s.say(replyStartTLS)
	if !s.handshake() {
		s.closing = true
		return ""
	}
	s.reset()
	s.helo, s.extended = "", false
	s.signOut() // RFC 4954 §4: a client authenticates anew
	return ""
}

// handshake runs a TLS handshake, from which on the session uses TLS. It reports whether it succeeded.
func (s *session) handshake() bool {
	conn := tls.Server(s.wire.raw, s.srv.cfg.TLS)
	if err := s.wire.startTLS(conn, func() error { return conn.HandshakeContext(s.srv.base) }); err != nil {
		s.logConnError("tls handshake", err)
		if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" && s.srv.cfg.HandshakeRejected != nil {
			s.srv.cfg.HandshakeRejected()
		}
		return false
	}
	state := conn.ConnectionState()
	s.tls = tls.VersionName(state.Version) + " " + tls.CipherSuiteName(state.CipherSuite)
	s.record.add(transcript.Client, "[TLS handshake]")
	return true
}

// isOtherProtocol reports whether the first line of a client belongs to HTTP or TLS. A web page can make a browser send an HTTP request
// with SMTP commands in its body, and a client may expect TLS from the start.
func isOtherProtocol(line []byte) bool {
	const tlsHandshake = 0x16
	if line[0] == tlsHandshake {
		return true
	}
	verb, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(verb) {
	case "GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "DELETE", "PATCH", "TRACE", "PRI":
		return len(rest) > 0
	default:
		return false
	}
}

package apptest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Relayed is a mail that a relay got.
type Relayed struct {
	From, To string // of the envelope
	Data     []byte // with dots unstuffed
	TLS      bool
	User     string // the name that the client authenticated as with PLAIN; "": it did not authenticate
}

// Relay is the operator's mail server: an SMTP server on a loopback address. It is safe for concurrent use.
type Relay struct {
	Addr string // host:port

	mu      sync.Mutex
	replies map[string][]string // by stage; see Reply
	silent  bool
	mails   []Relayed
	tries   int // commands MAIL
	offer   string
	config  *tls.Config // nil: no STARTTLS
	open    map[net.Conn]bool
	serving sync.WaitGroup
}

// NewRelay starts a relay that takes every mail, without TLS. The end of the test closes it.
func NewRelay(t testing.TB) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{Addr: l.Addr().String()}
	r.serve(t, l)
	return r
}

// NewTLSRelay starts a relay with a certificate of the authority: implicit TLS, or STARTTLS. It offers AUTH PLAIN.
func (a *Authority) NewTLSRelay(t testing.TB, implicit bool) *Relay {
	t.Helper()
	l, addr := listenLoopback(t)
	cert, err := a.issue(addr)
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{Addr: l.Addr().String(), config: &tls.Config{Certificates: []tls.Certificate{cert}}, offer: "AUTH PLAIN"}
	if implicit {
		l, r.config = tls.NewListener(l, r.config), nil
	}
	r.serve(t, l)
	return r
}

// serve accepts connections until the end of the test.
func (r *Relay) serve(t testing.TB, l net.Listener) {
	r.replies, r.open = make(map[string][]string), make(map[net.Conn]bool)
	r.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.open[conn] = true
			r.mu.Unlock()
			r.serving.Go(func() { r.session(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		for conn := range r.open {
			_ = conn.Close()
		}
		r.mu.Unlock()
		r.serving.Wait()
	})
}

// Reply sets the next replies at a stage: greeting, EHLO, AUTH, MAIL, RCPT, DATA or content. After them the relay takes mail again.
// The reply "close" closes the connection.
func (r *Relay) Reply(stage string, replies ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies[stage] = replies
}

// Silence makes the relay accept connections and say nothing from now on, or speak again.
func (r *Relay) Silence(silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent = silent
}

// Mails returns the mails that the relay has taken.
func (r *Relay) Mails() []Relayed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.mails)
}

// Tries returns how many mail transactions were begun.
func (r *Relay) Tries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries
}

// next returns the reply at a stage.
func (r *Relay) next(stage, usual string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stage == "MAIL" {
		r.tries++
	}
	if all := r.replies[stage]; len(all) > 0 {
		r.replies[stage] = all[1:]
		return all[0]
	}
	return usual
}

// session serves a connection.
func (r *Relay) session(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		r.mu.Lock()
		delete(r.open, conn)
		r.mu.Unlock()
	}()
	r.mu.Lock()
	silent := r.silent
	r.mu.Unlock()
	if silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	s := &relaySession{relay: r, conn: conn, text: textproto.NewReader(bufio.NewReader(conn))}
	_, s.mail.TLS = conn.(*tls.Conn)
	if !s.reply("greeting", "220 relay.example ESMTP") {
		return
	}
	for {
		line, err := s.text.ReadLine()
		if err != nil || !s.command(line) {
			return
		}
	}
}

// relaySession is a connection to a relay.
type relaySession struct {
	relay *Relay
	conn  net.Conn
	text  *textproto.Reader
	mail  Relayed
}

// reply sends the reply at a stage. It returns false if the connection ends.
func (s *relaySession) reply(stage, usual string) bool {
	text := s.relay.next(stage, usual)
	if text == "close" {
		return false
	}
	_, err := fmt.Fprintf(s.conn, "%s\r\n", text)
	return err == nil && !strings.HasPrefix(text, "421")
}

// command executes a command. It returns false if the connection ends.
func (s *relaySession) command(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		offers := "250-relay.example\r\n250-8BITMIME\r\n"
		if s.relay.config != nil && !s.mail.TLS {
			offers += "250-STARTTLS\r\n"
		}
		if s.relay.offer != "" && s.mail.TLS {
			offers += "250-" + s.relay.offer + "\r\n"
		}
		return s.reply("EHLO", offers+"250 ENHANCEDSTATUSCODES")
	case "STARTTLS":
		if _, err := io.WriteString(s.conn, "220 2.0.0 go ahead\r\n"); err != nil {
			return false
		}
		secure := tls.Server(s.conn, s.relay.config)
		if err := secure.Handshake(); err != nil {
			return false
		}
		s.conn, s.text, s.mail.TLS = secure, textproto.NewReader(bufio.NewReader(secure)), true
		return true
	case "AUTH":
		if encoded, plain := strings.CutPrefix(rest, "PLAIN "); plain {
			decoded, _ := base64.StdEncoding.DecodeString(encoded)
			if parts := strings.Split(string(decoded), "\x00"); len(parts) == 3 {
				s.mail.User = parts[1]
			}
		}
		return s.reply("AUTH", "235 2.7.0 welcome")
	case "MAIL":
		s.mail.From = path(rest)
		return s.reply("MAIL", "250 2.1.0 ok")
	case "RCPT":
		s.mail.To = path(rest)
		return s.reply("RCPT", "250 2.1.5 ok")
	case "DATA":
		return s.data()
	case "QUIT":
		return s.reply("QUIT", "221 2.0.0 bye") && false
	}
	return s.reply("other", "250 2.0.0 ok")
}

// data takes the content of a mail.
func (s *relaySession) data() bool {
	begin := s.relay.next("DATA", "354 go on")
	if _, err := io.WriteString(s.conn, begin+"\r\n"); err != nil || !strings.HasPrefix(begin, "354") {
		return err == nil
	}
	content, err := s.text.ReadDotBytes()
	if err != nil {
		return false
	}
	reply := s.relay.next("content", "250 2.0.0 queued as 4711")
	if strings.HasPrefix(reply, "250") {
		s.mail.Data = bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
		s.relay.mu.Lock()
		s.relay.mails = append(s.relay.mails, s.mail)
		s.relay.mu.Unlock()
	}
	if reply == "close" {
		return false
	}
	_, err = io.WriteString(s.conn, reply+"\r\n")
	return err == nil
}

// path returns the address in an argument of MAIL or RCPT.
func path(argument string) string {
	_, rest, _ := strings.Cut(argument, "<")
	address, _, _ := strings.Cut(rest, ">")
	return address
}

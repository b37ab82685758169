package main

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"strings"
	"time"
)

// servePlain is the least that a receiver can be: it speaks SMTP line by line, keeps a message in memory until it has replied,
// and stores nothing. It checks the order of commands and little else.
func servePlain(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		p := &plain{conn: conn, in: bufio.NewReaderSize(conn, 4096), out: bufio.NewWriterSize(conn, 1024)}
		go p.run()
	}
}

// plain is the dialog with one client.
type plain struct {
	conn    net.Conn
	in      *bufio.Reader
	out     *bufio.Writer
	message []byte
	from    bool // MAIL was taken
	to      int  // recipients
}

func (p *plain) run() {
	defer p.conn.Close()
	p.say("220 plain.bench.example ESMTP")
	for {
		line, err := p.line()
		if err != nil {
			return
		}
		if p.command(strings.TrimRight(string(line), "\r\n")) != nil {
			_ = p.out.Flush() // it ends in any case
			return
		}
	}
}

// line reads a line with its end. Replies are sent when the client has nothing more under way (RFC 2920 §3.2).
func (p *plain) line() ([]byte, error) {
	if p.in.Buffered() == 0 {
		if err := p.out.Flush(); err != nil {
			return nil, err
		}
	}
	if err := p.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	return p.in.ReadSlice('\n') // a line longer than the buffer is an error
}

func (p *plain) say(text string) {
	_, _ = p.out.WriteString(text) // a failure shows at Flush
	_, _ = p.out.WriteString("\r\n")
}

var errOver = errors.New("the session is over")

func (p *plain) command(line string) error {
	verb, arg, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		p.reset()
		p.say("250-plain.bench.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 26214400")
	case "HELO":
		p.reset()
		p.say("250 plain.bench.example")
	case "MAIL":
		p.reset()
		p.from = true
		p.say("250 2.1.0 Sender taken")
	case "RCPT":
		p.recipient(arg)
	case "DATA":
		return p.data()
	case "RSET":
		p.reset()
		p.say("250 2.0.0 Reset")
	case "NOOP":
		p.say("250 2.0.0 Done")
	case "QUIT":
		p.say("221 2.0.0 Goodbye")
		return errOver
	default:
		p.say("500 5.5.1 Unknown command")
	}
	return nil
}

func (p *plain) reset() { p.from, p.to = false, 0 }

func (p *plain) recipient(arg string) {
	if !p.from || !strings.HasPrefix(strings.ToUpper(arg), "TO:<") {
		p.say("503 5.5.1 MAIL first, then RCPT TO:<address>")
		return
	}
	p.to++
	p.say("250 2.1.5 Recipient taken")
}

func (p *plain) data() error {
	if p.to == 0 {
		p.say("503 5.5.1 RCPT first")
		return nil
	}
	p.say("354 Go on")
	p.message = p.message[:0]
	for {
		line, err := p.line()
		switch {
		case err != nil:
			return err
		case bytes.Equal(line, []byte(".\r\n")):
			p.reset()
			p.say("250 2.0.0 Message taken")
			return nil
		case line[0] == '.': // RFC 5321 §4.5.2
			line = line[1:]
		}
		p.message = append(p.message, line...)
	}
}

package main

import (
	"net"
	"net/textproto"
	"strings"
	"testing"
)

// server accepts SMTP sessions, one after the other, and refuses recipients that begin with "no".
type server struct {
	addr string
	got  chan string // the content of the mail, or "" if there was none
}

func newServer(t *testing.T) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &server{addr: listener.Addr().String(), got: make(chan string, 8)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.got <- converse(textproto.NewConn(conn))
			conn.Close()
		}
	}()
	return s
}

func converse(c *textproto.Conn) (content string) {
	_ = c.PrintfLine("220 mx.example ready")
	for {
		line, err := c.ReadLine()
		switch {
		case err != nil:
			return content
		case strings.HasPrefix(line, "RCPT TO:<no"):
			_ = c.PrintfLine("550 5.1.1 no such mailbox")
		case line == "DATA":
			_ = c.PrintfLine("354 go on")
			text, _ := c.ReadDotBytes()
			content = string(text)
			_ = c.PrintfLine("250 taken")
		case line == "QUIT":
			_ = c.PrintfLine("221 bye")
			return content
		default:
			_ = c.PrintfLine("250 fine")
		}
	}
}

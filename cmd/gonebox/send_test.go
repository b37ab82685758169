package main

import (
	"encoding/json"
	"net"
	"net/mail"
	"net/textproto"
	"reflect"
	"regexp"
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

func TestSendDeliversMailWithCode(t *testing.T) {
	s := newServer(t)
	got := gonebox(t, "send --to quiet@box.example --server "+s.addr)
	line := regexp.MustCompile(`^Sent the code (\d{6}) to quiet@box\.example via ` + s.addr + `\.\n$`).FindStringSubmatch(got.out)
	if got.code != exitOK || got.err != "" || line == nil {
		t.Fatalf("got %+v", got)
	}
	content := <-s.got
	m, err := mail.ReadMessage(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if subject := m.Header.Get("Subject"); subject != "Your code is "+line[1] || !strings.Contains(content, "code is "+line[1]+".") {
		t.Errorf("code %s, but the mail is\n%s", line[1], content)
	}
	if date, err := m.Header.Date(); err != nil || date.IsZero() {
		t.Errorf("date %v, %v", date, err)
	}
}

func TestSendPrintsJSON(t *testing.T) {
	s := newServer(t)
	got := gonebox(t, "send --to quiet@box.example --from a@b.example --code ABC-123 --subject Grüße --json --server "+s.addr)
	var m testMail
	if err := json.Unmarshal([]byte(got.out), &m); err != nil || got.code != exitOK {
		t.Fatalf("%+v, %v", got, err)
	}
	if m.MessageID == "" || !strings.HasSuffix(m.MessageID, "@b.example>") {
		t.Errorf("message id %q", m.MessageID)
	}
	m.MessageID = ""
	if want := (testMail{To: "quiet@box.example", From: "a@b.example", Server: s.addr, Code: "ABC-123", Subject: "Grüße"}); !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v", m)
	}
	if content := <-s.got; !strings.Contains(content, "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n") {
		t.Errorf("the mail is\n%s", content)
	}
}

func TestSendReportsServerErrors(t *testing.T) {
	s := newServer(t)
	line := "send --to no-such@box.example --server " + s.addr
	gonebox(t, line).oneErrorLine(t, line, exitFailure, s.addr+": RCPT TO:<no-such@box.example>: 550 ")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() // connections to it are refused from now on
	line = "send --to a@box.example --server " + listener.Addr().String()
	gonebox(t, line).oneErrorLine(t, line, exitFailure, "connection refused")
}

func TestSendRefusesLineBreaks(t *testing.T) {
	var out, err strings.Builder
	code := run(t.Context(), []string{"send", "--to", "a@b.example", "--subject", "x\r\nBcc: c@d.example"}, nil, &out, &err)
	if code != exitUsage {
		t.Errorf("code %d, stderr %q", code, err.String())
	}
}

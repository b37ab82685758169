package blackbox_test

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/smtp"
	"net/textproto"
	"testing"
)

// Under the profile both ports speak TLS with a certificate that was made at the start, and mail may be twice as large as elsewhere.
func TestDevProfileSpeaksTLS(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"profile": "dev", "base_url": "http://gonebox.localhost", "compat.mailpit.addr": "", "smtp.tls.addr": "127.0.0.1:0"})
	box := s.create("", nil)
	client := &tls.Config{InsecureSkipVerify: true}
	for _, test := range []struct {
		name string
		dial func() (*smtp.Client, error)
	}{
		{"STARTTLS", func() (*smtp.Client, error) {
			c, err := smtp.Dial(s.SMTP)
			if err != nil {
				return nil, err
			}
			return c, c.StartTLS(client)
		}},
		{"SMTPS", func() (*smtp.Client, error) {
			conn, err := tls.Dial("tcp", s.SMTPS, client)
			if err != nil {
				return nil, err
			}
			return smtp.NewClient(conn, "localhost")
		}},
	} {
		c, err := test.dial()
		if err != nil {
			t.Errorf("%s: connect and begin TLS: %v", test.name, err)
			continue
		}
		if _, size := c.Extension("SIZE"); size != "52428800" {
			t.Errorf("%s: EHLO offers SIZE %s, want 52428800", test.name, size)
		}
		if again, _ := c.Extension("STARTTLS"); again {
			t.Errorf("%s: EHLO within TLS offers STARTTLS, want it no more", test.name)
		}
		reply(t, c.Text, 250, "MAIL FROM:<app@company.test>")
		reply(t, c.Text, 250, "RCPT TO:<"+box.Address+">")
		reply(t, c.Text, 354, "DATA")
		reply(t, c.Text, 250, "Subject: "+test.name+"\r\n\r\none\r\n.")
		reply(t, c.Text, 221, "QUIT")
		all := get[[]summary](s, "/mailboxes/me/messages", box.Token)
		if len(all) == 0 || all[0].Subject != test.name {
			t.Errorf("%s: the newest message is %+v, want the subject %q", test.name, all, test.name)
			continue
		}
		if raw := s.Call(http.MethodGet, "/messages/"+all[0].ID+"/raw", box.Token, nil).Body; !bytes.Contains(raw, []byte("with ESMTPS")) {
			t.Errorf("%s: the raw message is %q, want Received with ESMTPS", test.name, raw)
		}
	}
}

// Without the profile a certificate is made only where the operator wants one, and a port for TLS needs a certificate.
func TestSelfSignedCertificateIsOffByDefault(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		set  settings
		want bool
	}{
		{settings{}, false},
		{settings{"smtp.tls.self_signed": "true"}, true},
		{settings{"profile": "dev", "base_url": "http://gonebox.localhost", "compat.mailpit.addr": "", "smtp.tls.self_signed": "false", "smtp.tls.addr": ":1465"}, false},
	} {
		s := start(t, test.set)
		c, err := smtp.Dial(s.SMTP)
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		if got, _ := c.Extension("STARTTLS"); got != test.want {
			t.Errorf("with %v STARTTLS is offered: %v, want %v", test.set, got, test.want)
		}
		reply(t, c.Text, 221, "QUIT")
	}
}

// sendLF sends a line that ends in LF and returns the code of the reply.
func sendLF(t testing.TB, c *textproto.Conn, line string) int {
	t.Helper()
	if _, err := c.W.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.W.Flush(); err != nil {
		t.Fatal(err)
	}
	code, _, err := c.ReadResponse(0)
	if err != nil {
		t.Fatalf("the reply to %q with LF: %v", line, err)
	}
	return code
}

// Local clients may end lines with LF. Clients elsewhere may not, nor may those that a local relay names, whose mail it has not written.
func TestLinesMayEndInLFForLocalClientsOnly(t *testing.T) {
	t.Parallel()
	dev := startAccounts(t, devSettings(settings{"smtp.xclient": "10.0.0.1/32"}))
	standard := startAccounts(t, settings{"smtp.trusted_proxies": "127.0.0.1/32"})
	for _, test := range []struct {
		name, client, forwarded string
		s                       *service
		command, content        int
	}{
		{name: "local", s: dev, client: "127.0.0.1", command: 250, content: 250},
		{name: "private", s: dev, client: "192.168.1.1", command: 250, content: 250},
		{name: "local by XFORWARD", s: dev, client: "10.0.0.1", forwarded: "192.168.1.1", command: 250, content: 250},
		{name: "public", s: dev, client: stranger, command: 500, content: 550},
		{name: "public by XFORWARD", s: dev, client: "10.0.0.1", forwarded: stranger, command: 500, content: 550},
		{name: "local without the profile", s: standard, client: "127.0.0.1", command: 500, content: 550},
	} {
		box := test.s.create("", nil)
		c := test.s.smtpFrom(test.client)
		reply(t, c, 250, "EHLO app")
		if test.forwarded != "" {
			reply(t, c, 250, "XFORWARD ADDR="+test.forwarded)
		}
		if got := sendLF(t, c, "NOOP"); got != test.command {
			t.Errorf("%s: NOOP with LF is answered %d, want %d", test.name, got, test.command)
		}
		reply(t, c, 250, "MAIL FROM:<app@company.test>")
		reply(t, c, 250, "RCPT TO:<"+box.Address+">")
		reply(t, c, 354, "DATA")
		reply(t, c, test.content, "Subject: lines\n\none\n.\nNOOP\r\n.")
		if test.content != 250 {
			continue
		}
		all := get[[]summary](test.s, "/mailboxes/me/messages", box.Token)
		if len(all) != 1 {
			t.Errorf("%s: the mailbox has %d messages, want 1", test.name, len(all))
			continue
		}
		raw := test.s.Call(http.MethodGet, "/messages/"+all[0].ID+"/raw", box.Token, nil).Body
		if want := "Subject: lines\r\n\r\none\r\n"; !bytes.HasSuffix(raw, []byte("\r\n"+want)) {
			t.Errorf("%s: the raw message is %q, want %q behind the trace fields", test.name, raw, want)
		}
	}
}

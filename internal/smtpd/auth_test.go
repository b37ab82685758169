package smtpd_test

import (
	"encoding/base64"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/gonebox/gonebox/internal/smtpd"
)

// The envelope has the user name, whatever the mechanism.
func TestEnvelopeHasUserNameOfAuth(t *testing.T) {
	const none = "none" // the client does not sign in
	for _, test := range []struct {
		mechanism string
		responses []string // not encoded
		want      string
	}{
		{mechanism: none},
		{"PLAIN", []string{"\x00ada@company.test\x00secret"}, "ada@company.test"},
		{"PLAIN", []string{"root\x00ada\x00sec\x00ret"}, "ada"},
		{"PLAIN", []string{"\x00ada"}, "ada"},
		{"PLAIN", []string{"ada"}, ""},
		{"PLAIN", []string{""}, ""},
		{"LOGIN", []string{"ada", "secret"}, "ada"},
		{"LOGIN", []string{"", ""}, ""},
		{"CRAM-MD5", []string{"ada 00112233445566778899aabbccddeeff"}, "ada"},
		{"CRAM-MD5", []string{"ada of company 00112233445566778899aabbccddeeff"}, "ada of company"},
		{"CRAM-MD5", []string{"ada"}, "ada"},
		{"XOAUTH2", []string{"user=ada@company.test\x01auth=Bearer token\x01\x01"}, "ada@company.test"},
		{"XOAUTH2", []string{"auth=Bearer user=x\x01user=ada\x01\x01"}, "ada"},
		{"XOAUTH2", []string{"token"}, ""},
		{"xoauth2", []string{"user=Zoë\x01auth=Bearer token\x01\x01"}, "Zoë"},
	} {
		in := &fakeInbound{}
		synctest.Test(t, func(t *testing.T) {
			b := serveOnPipes(t, smtpd.Config{AcceptAuth: func(netip.Addr) bool { return true }}, in)
			defer b.stop()
			c := b.dial(home)
			c.hello()
			if test.mechanism != none {
				c.send("AUTH " + test.mechanism + "\r\n")
			}
			for _, response := range test.responses {
				c.expect("334 ")
				c.send(base64.StdEncoding.EncodeToString([]byte(response)) + "\r\n")
			}
			if test.mechanism != none {
				c.expect("235 2.7.0")
			}
			c.data()
			c.send("one\r\n.\r\nQUIT\r\n")
			c.expect("250", "221")
		})
		if got := in.deliveries()[0].env.Username; got != test.want {
			t.Errorf("after AUTH %s with %q the envelope has the user name %q, want %q", test.mechanism, test.responses, got, test.want)
		}
	}
}

// A challenge that is used once cannot be answered from a recorded session.
func TestChallengesOfCRAMDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serveOnPipes(t, smtpd.Config{AcceptAuth: func(netip.Addr) bool { return true }}, &fakeInbound{})
		defer b.stop()
		seen := make(map[string]bool)
		for range 3 {
			c := b.dial(home)
			c.hello()
			c.send("AUTH CRAM-MD5\r\n")
			line, err := c.r.ReadString('\n')
			if err != nil || len(line) < 6 || line[:4] != "334 " || seen[line] {
				t.Errorf("AUTH CRAM-MD5 was answered %q, %v, want a challenge that differs from %v", line, err, seen)
			}
			if text, err := base64.StdEncoding.DecodeString(line[4 : len(line)-2]); err != nil || text[0] != '<' || text[len(text)-1] != '>' {
				t.Errorf("the challenge %q is %q, %v, want a message identifier", line, text, err)
			}
			seen[line] = true
			c.send("*\r\nQUIT\r\n")
			c.expect("501", "221")
		}
	})
}

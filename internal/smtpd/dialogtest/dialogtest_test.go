package dialogtest_test

import (
	"bufio"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

func TestParseReadsDirectives(t *testing.T) {
	text := "# a comment\n\n@config max_size=10\n@accept unknown@${domain} mail.mailbox_unknown\n@deliver fault\n" +
		"@delivered from=<> to=<a@b>,<c@d> with=ESMTP \"ab\\r\\n\" \"x\"*3\n"
	d, err := dialogtest.Parse("one", text, map[string]string{"domain": "example.test"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Config["max_size"] != "10" || d.Accept["unknown@example.test"] != "mail.mailbox_unknown" || d.Deliver != "fault" || d.Portable() {
		t.Errorf("parsed %+v", d)
	}
	want := []dialogtest.Delivery{{To: []string{"a@b", "c@d"}, With: "ESMTP", Data: "ab\r\nxxx"}}
	if diff := cmp.Diff(want, d.Delivered); diff != "" {
		t.Error(diff)
	}
}

func TestParseNamesTheLineItCannotRead(t *testing.T) {
	for _, line := range []string{"X: what", "C: ${nothing}", "C-raw: bare", `C-raw: "x"*y`, "@config lonely", "@accept lonely", `@delivered by=x "y"`} {
		if _, err := dialogtest.Parse("bad", "# first\n"+line+"\n", nil); err == nil || !strings.HasPrefix(err.Error(), "bad:2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// A server that says the same to everything shows that a wrong reply, a missing one and an open connection are all noticed.
func TestPlayNoticesWhatIsNotAsWritten(t *testing.T) {
	for text, good := range map[string]bool{
		"S: 220 hello\nC: QUIT\nS: 2* bye\nS-closed\n": true,
		"S-reply: 220 hello\nC: QUIT\nS-reply: *\n":    true,
		"S: 220\n":                          false,
		"S: 220 hello\nC: QUIT\nS: 250 *\n": false,
		"S: 220 hello\nC: QUIT\nS: 221 bye\nS: 221 *\n":   false,
		"S: 220 hello\nC: QUIT\nS-closed\n":               false,
		"S: 220 hello\n@use other\n":                      false,
		"S: 220 hello\n@connect b\nS: 220 hello\n@use \n": true,
	} {
		d, err := dialogtest.Parse("d", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = dialogtest.Player{Addr: parrot(t)}.Play(t.Context(), d)
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// parrot greets, says bye to the first line and closes.
func parrot(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Write([]byte("220 hello\r\n"))
				if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
					_, _ = conn.Write([]byte("221 bye\r\n"))
				}
			}()
		}
	}()
	return l.Addr().String()
}

package dialogtest_test

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/smtpd/dialogtest"
)

func TestParseReadsDirectives(t *testing.T) {
	text := "# a comment\n\n@config max_size=10\n@accept unknown@${domain} mail.mailbox_unknown\n@deliver fault\n" +
		"@delivered from=<> to=<a@b>,<c@d> with=ESMTP \"ab\\r\\n\" \"x\"*3\n"
	d, err := dialogtest.Source{Name: "one", Text: text}.Dialog(map[string]string{"domain": "example.test"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Config["max_size"] != "10" || d.Accept["unknown@example.test"] != "mail.mailbox_unknown" || d.Deliver != "fault" || d.Portable() {
		t.Errorf("Dialog = %+v, want the directives @config, @accept and @deliver in it, and not portable", d)
	}
	want := []dialogtest.Delivery{{To: []string{"a@b", "c@d"}, With: "ESMTP", Data: "ab\r\nxxx"}}
	if diff := cmp.Diff(want, d.Delivered); diff != "" {
		t.Errorf("d.Delivered (-want +got):\n%s", diff)
	}
}

func TestParseNamesTheLineItCannotRead(t *testing.T) {
	for _, line := range []string{"X: what", "C: ${nothing}", "C-raw: bare", `C-raw: "x"*y`, "@config lonely", "@accept lonely", `@delivered by=x "y"`} {
		if _, err := (dialogtest.Source{Name: "bad", Text: "# first\n" + line + "\n"}).Dialog(nil); err == nil || !strings.HasPrefix(err.Error(), "bad:2: ") {
			t.Errorf(`%q: (dialogtest.Source{Name: "bad", Text: "# first\n" + line + "\n"}).Dialog(nil) = %v, want an error and beginning with "bad:2: "`, line, err)
		}
	}
}

func TestSourcesSplitsFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b.txt", "== last\nS: 220 *\n")
	write("a.txt", "\n== one\nC: x\n\n== two\n# comment\nX: what\n")
	sources, err := dialogtest.Sources(filepath.Join(folder, "*.txt"))
	if err != nil {
		t.Fatalf("Sources: %v", err)
	}
	var names []string
	for _, s := range sources {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"a/one", "a/two", "b/last"}, names); diff != "" {
		t.Errorf("Sources: names (-want +got):\n%s", diff)
	}
	if _, err := sources[1].Dialog(nil); err == nil || !strings.HasPrefix(err.Error(), "a/two:7: ") {
		t.Errorf("Dialog of a/two, whose line 7 is wrong: %v, want an error that names it", err)
	}
	for name, text := range map[string]string{"no dialog": "", "two of a name": "== x\n== x\n", "text before the first": "C: x\n== y\n"} {
		write("b.txt", text)
		if sources, err := dialogtest.Sources(filepath.Join(folder, "b.txt")); err == nil {
			t.Errorf("Sources of a file with %s: %v, want an error", name, sources)
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
		d, err := dialogtest.Source{Name: "d", Text: text}.Dialog(nil)
		if err != nil {
			t.Fatal(err)
		}
		err = dialogtest.Player{Addr: parrot(t)}.Play(t.Context(), d)
		if (err == nil) != good {
			t.Errorf("Play(%q) = %v, want success: %t", text, err, good)
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

package system_test

import (
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// lmtp sends lines to an LMTP server and returns the replies, each a line.
func lmtp(t *testing.T, network, addr string, lines ...string) (replies []string) {
	t.Helper()
	raw, err := net.Dial(network, addr)
	if err != nil {
		t.Fatalf("connect to %s: %v", addr, err)
	}
	conn := textproto.NewConn(raw)
	defer conn.Close()
	for i := -1; i < len(lines); i++ {
		if i >= 0 {
			if err := conn.PrintfLine("%s", lines[i]); err != nil {
				t.Fatalf("send %q: %v", lines[i], err)
			}
		}
		for {
			line, err := conn.ReadLine()
			if err != nil {
				t.Fatalf("the reply to %q: %v", lines[max(i, 0)], err)
			}
			if len(line) > 3 && line[3] == ' ' {
				replies = append(replies, line)
				break
			}
		}
	}
	return replies
}

// A mail server in front delivers over the socket, with a reply for each recipient, and the socket of a process that was killed does not
// hinder the next.
func TestLMTPIsServedOnASocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "lmtp.sock")
	s := start(t, options{set: map[string]string{"lmtp.addr": "unix:" + socket, "mailbox.max_messages": "1"}})
	box, full := s.newMailbox(), s.newMailbox()
	for i := range 2 {
		replies := lmtp(t, "unix", socket, "LHLO mx.example.org", "XFORWARD ADDR=203.0.113.9 HELO=mx.sender.example", "MAIL FROM:<shop@sender.example>",
			"RCPT TO:<"+full.Address+">", "RCPT TO:<nosuch@gonebox.localhost>", "DATA", "Subject: hi\r\n\r\nhi\r\n.")
		if got := strings.Join(replies, "\n"); i == 0 && (!strings.HasPrefix(replies[4], "250") || !strings.HasPrefix(replies[5], "550 5.1.1") || !strings.HasPrefix(replies[7], "250")) ||
			i == 1 && !strings.HasPrefix(replies[4], "452 4.2.2") {
			t.Fatalf("dialog %d:\n%s\nwant 250 for the mailbox at first, then 452, and 550 for the other", i, got)
		}
		if i == 1 {
			break
		}
		if _, trace := s.raw(full, s.only(full).ID); len(trace) == 0 {
			t.Error("the message that came over LMTP has no trace fields, want them")
		}
		s.kill()
		s.restart()
	}
	s.flood("smtp-source", "unix:"+socket, box.Address, "-L", "-m", "1", "-s", "1")
	if n := len(s.messages(box)); n != 1 {
		t.Errorf("%s has %d messages that came over LMTP, want 1", box.Address, n)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode()&os.ModeSocket == 0 || info.Mode().Perm() != 0o666 {
		t.Errorf("the socket is %v, %v, want one that every user may use", info, err)
	}
	s.stop()
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("os.Stat(%s) after the end of the service: %v, want the socket gone", socket, err)
	}
}

func TestLMTPListensOnThisMachineAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{":2003", "0.0.0.0:2003", "[::]:2003", "192.0.2.1:2003", "mx.example.org:2003", "unix:relative.sock", "unix:", "lmtp.sock", "tcp:127.0.0.1:2003", "unix:" + file} {
		code, _, stderr := command(t, "serve", "--data-dir", t.TempDir(), "--set", "lmtp.addr="+addr, "--set", "http.addr="+apptest.FreeAddress(t), "--set", "smtp.addr="+apptest.FreeAddress(t))
		if code != 1 || !strings.Contains(stderr, "lmtp.addr") {
			t.Errorf("serve with lmtp.addr=%s ended with %d %q, want 1 and the key", addr, code, stderr)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a file that is no socket was removed: %v", err)
	}
	addr := apptest.FreeAddress(t)
	s := start(t, options{set: map[string]string{"lmtp.addr": addr}})
	box := s.newMailbox()
	replies := lmtp(t, "tcp", addr, "LHLO mx.example.org", "MAIL FROM:<>", "RCPT TO:<"+box.Address+">", "DATA", "Subject: hi\r\n\r\nhi\r\n.")
	if got := replies[len(replies)-1]; !strings.HasPrefix(got, "250 ") {
		t.Errorf("the reply to a message over LMTP on %s is %q, want 250", addr, got)
	}
}

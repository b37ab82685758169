package catchall

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/ingress"
)

// fakeServer is an IMAP server with one folder, for a bubble of synctest. What it says when is up to the test.
type fakeServer struct {
	pause   func(sent int)       // is called before each 1,000 octets of a message; nil: it sends at once
	before  func(command string) // is called before a command is answered; nil: it is not called
	serving sync.WaitGroup

	mu       sync.Mutex
	messages map[int]string // by UID
	commands []string       // received, without their tags
}

// dial connects to the server.
func (f *fakeServer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	f.serving.Go(func() {
		defer server.Close()
		_ = f.serve(server) // ends when the client closes the connection
	})
	return client, nil
}

func (f *fakeServer) serve(conn net.Conn) error {
	lines := make(chan string, 100) // as much as a socket's buffer holds, so that the client can write while the server is silent
	f.serving.Go(func() {
		defer close(lines)
		for in := bufio.NewScanner(conn); in.Scan(); {
			lines <- in.Text()
		}
	})
	// With the capabilities in its replies the client never asks for them, which it does in the background.
	const capabilities = "[CAPABILITY IMAP4rev1 IDLE UIDPLUS]"
	fmt.Fprintf(conn, "* OK %s ready\r\n", capabilities)
	for line := range lines {
		tag, command, _ := strings.Cut(line, " ")
		f.mu.Lock()
		f.commands = append(f.commands, command)
		f.mu.Unlock()
		if f.before != nil {
			f.before(command)
		}
		if err := f.answer(conn, lines, command); err != nil {
			return err
		}
		code := ""
		if strings.HasPrefix(command, "LOGIN") {
			code = capabilities + " "
		}
		if _, err := fmt.Fprintf(conn, "%s OK %sdone\r\n", tag, code); err != nil {
			return err
		}
	}
	return nil
}

// answer sends what comes before the end of a response.
func (f *fakeServer) answer(conn net.Conn, lines <-chan string, command string) error {
	words := strings.Fields(command)
	uid := 0
	if len(words) > 2 {
		_, _ = fmt.Sscanf(words[2], "%d", &uid)
	}
	f.mu.Lock()
	message, there := f.messages[uid]
	uids := make([]string, 0, len(f.messages))
	for uid := range f.messages {
		uids = append(uids, fmt.Sprint(uid))
	}
	f.mu.Unlock()
	slices.Sort(uids)
	switch {
	case strings.HasPrefix(command, "SELECT"):
		_, err := fmt.Fprint(conn, "* 1 EXISTS\r\n* FLAGS (\\Seen)\r\n* OK [UIDVALIDITY 7] valid\r\n")
		return err
	case strings.HasPrefix(command, "UID SEARCH"):
		_, err := fmt.Fprintf(conn, "* SEARCH %s\r\n", strings.Join(uids, " "))
		return err
	case strings.HasPrefix(command, "UID FETCH") && strings.Contains(command, "SIZE") && there:
		_, err := fmt.Fprintf(conn, "* 1 FETCH (UID %d RFC822.SIZE %d)\r\n", uid, len(message))
		return err
	case strings.HasPrefix(command, "UID FETCH") && there:
		return f.send(conn, uid, message)
	case strings.HasPrefix(command, "UID EXPUNGE"):
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.messages, uid)
	case command == "IDLE":
		if _, err := fmt.Fprint(conn, "+ idling\r\n"); err != nil {
			return err
		}
		<-lines
	}
	return nil
}

// send sends a message.
func (f *fakeServer) send(conn net.Conn, uid int, message string) error {
	fmt.Fprintf(conn, "* 1 FETCH (UID %d BODY[] {%d}\r\n", uid, len(message))
	for sent := 0; sent < len(message); sent += 1000 {
		if f.pause != nil {
			f.pause(sent)
		}
		if _, err := io.WriteString(conn, message[sent:min(sent+1000, len(message))]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(conn, ")\r\n")
	return err
}

// left returns how many messages there are.
func (f *fakeServer) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.messages)
}

// received returns the commands with a beginning that came so far.
func (f *fakeServer) received(prefix string) (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.commands {
		if strings.HasPrefix(c, prefix) {
			all = append(all, c)
		}
	}
	return all
}

// fakeIngress records what it is given.
type fakeIngress struct {
	take  func(id string) ingress.Outcome // nil: everything is stored
	lease func() (bool, error)            // nil: the lease is always granted

	mu     sync.Mutex
	stored []string
	failed []string
}

func (f *fakeIngress) Take(_ context.Context, _ string, m ingress.Mail, _ *budget.Lease) ingress.Outcome {
	if f.take != nil {
		return f.take(m.ID)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored = append(f.stored, fmt.Sprintf("%s: %d octets", m.ID, len(m.Data)))
	return ingress.Stored
}

func (f *fakeIngress) Fail(_, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, reason)
}

func (f *fakeIngress) Lease(context.Context, string, string, time.Duration) (bool, error) {
	if f.lease != nil {
		return f.lease()
	}
	return true, nil
}

// newReader returns a reader of a server's folder.
func newReader(t *testing.T, server *fakeServer, in Ingress) *Reader {
	t.Helper()
	t.Cleanup(server.serving.Wait)
	r := New(Config{Name: "home", URL: "imap://server.example", User: "catchall", Password: "secret", Folder: "INBOX"}, Parts{
		Ingress: in, Clock: clock.System(), Logger: slog.New(slog.DiscardHandler), Memory: budget.New(1 << 30),
		Cost: func(int64) int64 { return 0 }, MaxSize: 1 << 30, Served: func(context.Context, string) bool { return true }, Holder: "one",
	})
	r.dial = server.dial
	return r
}

package system_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A mailbox that a command ends, in a process of its own, ends the calls that wait for its mail, soon and on both engines: the command
// cannot wake them itself, and their own time is far away.
func TestCommandThatEndsMailboxEndsItsCalls(t *testing.T) {
	t.Parallel()
	const master = "secrets.key=" + "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var s *service
			var where []string
			if engine == "sqlite" {
				s = start(t, options{})
				where = []string{"--data-dir", s.dir}
			} else {
				url := newServer(t).URL("gonebox")
				s = startCluster(t, url, nil, "smtp, api, jobs").processes[0]
				where = []string{"--set", "database.url=" + url, "--set", master}
			}
			box := s.newMailbox()
			waited := make(chan string, 1)
			go func() {
				status, body := s.call(http.MethodGet, "/mailboxes/me/messages?wait=60", box.Token, nil)
				waited <- http.StatusText(status) + " " + string(body)
			}()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/mailboxes/me/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+box.Token)
			stream, err := http.DefaultClient.Do(req)
			if err != nil || stream.StatusCode != http.StatusOK {
				t.Fatalf("open the stream: %v, %v, want the status %d", stream, err, http.StatusOK)
			}
			defer stream.Body.Close()
			await(t, "the open wait and stream", func() bool { return strings.Contains(s.scrape(), "\ngonebox_waits 2\n") })
			stop := s.keepReading(box.Token)
			if code, _, err := command(t, append([]string{"mailbox", "end", box.Address}, where...)...); code != 0 {
				t.Fatalf("gonebox mailbox end %s: exit status %d, want 0: %s", box.Address, code, err)
			}
			began := time.Now()
			if status, body := s.call(http.MethodGet, "/mailboxes/me/messages", box.Token, nil); status != http.StatusUnauthorized {
				t.Errorf("after the command: %d %s, want %v", status, body, http.StatusUnauthorized)
			}
			stop()
			end := ""
			for lines := bufio.NewScanner(stream.Body); lines.Scan(); { // until the stream closes
				end += lines.Text() + "\n"
			}
			streamed := time.Since(began)
			answer := <-waited
			t.Logf("the stream ended after %s, the wait after %s: %s", streamed, time.Since(began), answer)
			if !strings.Contains(end, "event: end") || !strings.Contains(end, "destroyed") {
				t.Errorf("the stream ended with %q, want the event end for a mailbox that was destroyed", end)
			}
			if took := time.Since(began); took > 50*time.Second { // without a wake-up the wait takes its minute
				t.Errorf("the calls ended after %s, want at most %v", took, 50*time.Second)
			}
		})
	}
}

// keepReading makes calls with a mailbox token, one after the other until stop, so that the service remembers the mailbox as long as it may.
func (s *service) keepReading(token string) (stop func()) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			default:
				s.call(http.MethodGet, "/mailboxes/me/messages", token, nil)
			}
		}
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

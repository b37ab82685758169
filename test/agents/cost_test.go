package agents_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// cost is what waits add to the process that serves them.
type cost struct {
	goroutines float64
	held       float64 // octets in use after a garbage collection: stacks and heap
	allocated  float64 // octets in all, garbage too
}

// used returns what the process uses now, of its metrics.
func used(t *testing.T, metrics string) (c cost, waits float64) {
	t.Helper()
	get := func(path string) string {
		res, err := http.Get("http://" + metrics + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	get("/debug/pprof/heap?gc=1") // collects garbage
	value := make(map[string]float64)
	for line := range strings.Lines(get("/metrics")) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			value[name], _ = strconv.ParseFloat(text, 64)
		}
	}
	return cost{value["go_goroutines"], value["go_memstats_stack_inuse_bytes"] + value["go_memstats_heap_alloc_bytes"], value["go_memstats_alloc_bytes_total"]}, value["gonebox_waits"]
}

// A wait of a tool costs what a long-poll does: it has the same goroutines, and little memory more.
func TestWaitsCostWhatLongPollsDo(t *testing.T) {
	const waits = 400
	metrics := apptest.FreeAddress(t)
	w := start(t, "metrics.addr="+metrics, "limits.long_polls=2000", "limits.http_connections=2000", "plans.guest.mailboxes.max=2000")
	a := w.web("")
	box := a.create(args{})
	add := func(method, path, body string) (c cost) {
		t.Helper()
		before, open := used(t, metrics)
		for range waits {
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nAuthorization: Bearer %s\r\n\r\n%s", method, path, len(body), a.token, body); err != nil {
				t.Fatal(err)
			}
			go func() { // an answer is a mistake: the mailbox is empty, and the test shorter than the wait
				if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
					t.Errorf("%s was answered: %s, want an error", path, line)
				}
			}()
		}
		var after cost
		eventually(t, "the waits", func() bool {
			var now float64
			after, now = used(t, metrics)
			return now == open+waits
		})
		return cost{(after.goroutines - before.goroutines) / waits, (after.held - before.held) / waits, (after.allocated - before.allocated) / waits}
	}
	poll := add("GET", "/api/v1/mailboxes/me/messages?wait=55", "")
	tool := add("POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_message","arguments":{"mailbox":%q,"seconds":55}}}`, box))
	t.Logf("a long-poll: %.0f goroutines, %.1f KiB, %.1f KiB allocated; a wait: %.0f goroutines, %.1f KiB, %.1f KiB allocated",
		poll.goroutines, poll.held/1024, poll.allocated/1024, tool.goroutines, tool.held/1024, tool.allocated/1024)
	if tool.goroutines > poll.goroutines+0.5 || tool.held > 1.5*poll.held || tool.allocated > 2*poll.allocated {
		t.Errorf("a wait costs %+v, a long-poll %+v, want goroutines at most %v, held at most %v and allocated at most %v", tool, poll, poll.goroutines+0.5, 1.5*poll.held, 2*poll.allocated)
	}
}

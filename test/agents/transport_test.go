package agents_test

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/app/apptest"
	"github.com/gonebox/gonebox/internal/db/dbtest"
)

func TestWaitsReportProgress(t *testing.T) {
	w := start(t)
	for name, transport := range map[string]mcp.Transport{
		"stdio": &mcp.CommandTransport{Command: exec.Command(w.binary, "mcp", "--url", w.base)},
		"HTTP":  &mcp.StreamableClientTransport{Endpoint: w.base + "/mcp", DisableStandaloneSSE: true},
	} {
		t.Run(name, func(t *testing.T) {
			reported := make(chan *mcp.ProgressNotificationParams, 100)
			a := w.connect(transport, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { reported <- r.Params }})
			a.t, a.http = t, name == "HTTP"
			box := a.create(args{})
			in := args{"mailbox": box, "seconds": 55}
			if a.http {
				in["token"] = a.token
			}
			params := &mcp.CallToolParams{Name: "wait_for_code", Arguments: in}
			params.SetProgressToken("progress")
			ended := make(chan error, 1)
			go func() {
				r, err := a.CallTool(t.Context(), params)
				if err == nil && r.IsError {
					err = fmt.Errorf("the result %+v", r)
				}
				ended <- err
			}()
			last := -1.0
			for range 3 { // at 0, 1 and 2 seconds
				select {
				case p := <-reported:
					if p.ProgressToken != "progress" || p.Total != 55 || p.Progress <= last {
						t.Errorf("the progress is %+v, want more than %v of 55, with the token of the call", p, last)
					}
					last = p.Progress
				case <-time.After(patience):
					t.Fatalf("no progress was reported within %s after %v, want more", patience, last)
				}
			}
			w.send(box, "From: shop@example.org", "Subject: Sign in", "", "Your verification code is 482913.") // which ends the wait
			if err := <-ended; err != nil {
				t.Errorf("CallTool of a wait with a progress token: got %v, want a result that is no error", err)
			}
		})
	}
}

// inTurn sends each request to the next of several processes, as a balancer does.
type inTurn struct {
	hosts []string
	next  atomic.Int64
}

// RoundTrip sends a request.
func (b *inTurn) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = b.hosts[int(b.next.Add(1))%len(b.hosts)]
	return http.DefaultTransport.RoundTrip(r)
}

// Three processes on one database serve one client, each call by another of them. A wait in one ends with mail that another received.
func TestProcessesServeOneClientInTurn(t *testing.T) {
	set := []string{"database.url=" + dbtest.PostgresURL(t), "secrets.key=" + strings.Repeat("cluster-", 8)}
	balancer, senders, metrics := &inTurn{}, []*service{}, []string{}
	for range 3 {
		address := apptest.FreeAddress(t)
		w := start(t, append(set, "metrics.addr="+address)...)
		senders, balancer.hosts, metrics = append(senders, w), append(balancer.hosts, strings.TrimPrefix(w.base, "http://")), append(metrics, address)
	}
	a := senders[0].webBy(balancer)
	box := a.create(args{})
	after := ""
	for n := range 6 {
		code := fmt.Sprint(482913 + n)
		got := make(chan object, 1)
		in := args{"mailbox": box, "token": a.token, "seconds": 55, "after": after}
		go func() {
			var out object
			if r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait_for_code", Arguments: in}); err == nil {
				out, _ = r.StructuredContent.(map[string]any)
			}
			got <- out
		}()
		mail := senders[n%3]
		if n >= 3 { // three times the wait comes first
			eventually(t, "the wait", func() bool {
				sum := 0.0
				for _, address := range metrics {
					_, waits := used(t, address)
					sum += waits
				}
				return sum == 1
			})
		}
		mail.send(box, "From: shop@example.org", "Subject: Sign in", "", "Your verification code is "+code+".")
		out := <-got
		if out["code"] != code {
			t.Fatalf("mail %d: %v, want code %v", n, out, code)
		}
		after = out["messageId"].(string)
		if read := a.call("read_message", args{"mailbox": box, "messageId": after}); !strings.Contains(read["text"].(string), code) {
			t.Errorf("mail %d: %v, want %v in text", n, read, code)
		}
	}
	if list := a.call("list_messages", args{"mailbox": box}); len(list["messages"].([]any)) != 6 {
		t.Errorf(`a.call("list_messages", args{"mailbox": box}) = %v, want 6 in messages`, list)
	}
}

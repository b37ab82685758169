package agents_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// official is the official TypeScript client, which client.mjs runs.
type official struct {
	mu  sync.Mutex // one call at a time
	in  io.Writer
	out *bufio.Reader
}

// official starts the TypeScript client and connects it to a server: http and a URL, or stdio and a command. It skips the
// test if the client is not installed.
func (w *service) official(args ...string) *agent {
	w.t.Helper()
	if _, err := os.Stat("node_modules/@modelcontextprotocol/sdk"); err != nil {
		w.t.Skip("the TypeScript client is not installed: make test installs it")
	}
	cmd := exec.Command(apptest.LookPath(w.t, "node"), append([]string{"client.mjs"}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("the TypeScript client (%v) ended: %v", args, err)
		}
	})
	o := &official{in: in, out: bufio.NewReader(out)}
	var list mcp.ListToolsResult
	if err := o.read(&list); err != nil {
		w.t.Fatalf("the TypeScript client (%v) lists the tools: %v", args, err)
	}
	return &agent{t: w.t, official: o, http: args[0] == "http", schemas: schemas(w.t, list.Tools)}
}

// read decodes the next line of the client.
func (o *official) read(v any) error {
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// call calls a tool.
func (o *official) call(p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line, err := json.Marshal(map[string]any{"name": p.Name, "arguments": p.Arguments})
	if err != nil {
		return nil, err
	}
	if _, err := o.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	var answer struct {
		Result *mcp.CallToolResult
		Error  string
	}
	if err := o.read(&answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	return answer.Result, nil
}

// Every tool returns what its schema says, in the eyes of the official client too, which refuses everything else.
func TestOfficialClientTakesEveryResult(t *testing.T) {
	w := start(t)
	key := w.key("mailboxes:read", "mailboxes:write", "messages:read", "otp:read")
	stdio, overHTTP := w.official("stdio", w.binary, "mcp", "--url", w.base, "--key", key), w.official("http", w.base+"/mcp", key)
	if out := stdio.call("list_mailboxes", args{}); len(out["mailboxes"].([]any)) != 0 {
		t.Errorf("list_mailboxes of a new account: %v, want none", out)
	}
	for name, a := range map[string]*agent{"stdio": stdio, "HTTP": overHTTP} {
		t.Run(name, func(t *testing.T) {
			a.t = t
			a.call("list_mailboxes", args{})
			tour(t, w, a)
			box := a.create(args{})
			a.call("send_test_message", args{"mailbox": box})
			if out := a.call("list_mailboxes", args{}); len(out["mailboxes"].([]any)) == 0 {
				t.Errorf("list_mailboxes: %v, want %s", out, box)
			}
			for _, tool := range toolNames {
				if !a.called[tool] {
					t.Errorf("no result of %s was checked, want one of every tool", tool)
				}
			}
		})
	}
}

// Package agents_test uses the tools for agents as agents do: with the client of the protocol's own library, over both transports,
// against the built program, with mail over SMTP.
package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.RunLong("the built program", m.Run)) }

// patience bounds how long a test waits for what happens soon.
const patience = time.Minute

// service is a running service.
type service struct {
	t            *testing.T
	binary, base string // of the web address
	smtp         string
}

func start(t *testing.T, settings ...string) *service {
	t.Helper()
	binary := apptest.Program(t)
	web, smtp := apptest.Serve(t, binary, append([]string{
		"limits.mailbox_create=100000/1m", "limits.reads=100000/1m", "limits.inject=100000/1m", "limits.other=100000/1m", "limits.register=1000/1m",
		"account.password.memory=64KiB", "account.password.passes=1", "plans.free.keys.calls=100000/1m",
	}, settings...)...)
	return &service{t, binary, "http://" + web, smtp}
}

// agent is a client with a session.
type agent struct {
	*mcp.ClientSession
	official *official // if it is not nil, it makes the calls
	t        *testing.T
	http     bool
	token    string // of the mailbox that was created last, over HTTP

	schemas map[string]*jsonschema.Resolved // of the results, by the name of the tool
	called  map[string]bool                 // the tools that returned a result
}

// CallTool calls a tool.
func (a *agent) CallTool(ctx context.Context, p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if a.official != nil {
		return a.official.call(p)
	}
	return a.ClientSession.CallTool(ctx, p)
}

// schemas returns the schemas of the results of tools.
func schemas(t *testing.T, tools []*mcp.Tool) map[string]*jsonschema.Resolved {
	t.Helper()
	all := make(map[string]*jsonschema.Resolved)
	for _, tool := range tools {
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("the schema of the results of %s: %v", tool.Name, err)
		}
		if all[tool.Name], err = s.Resolve(nil); err != nil {
			t.Fatalf("the schema of the results of %s: %v", tool.Name, err)
		}
	}
	return all
}

// stdio starts the command and connects to it.
func (w *service) stdio(args ...string) *agent {
	w.t.Helper()
	cmd := exec.Command(w.binary, append([]string{"mcp", "--url", w.base}, args...)...)
	cmd.Stderr = os.Stderr
	return w.connect(&mcp.CommandTransport{Command: cmd}, nil)
}

// web connects to the service's own endpoint, with a credential unless it is "".
func (w *service) web(credential string) *agent {
	w.t.Helper()
	return w.webBy(bearer(credential))
}

// webBy is web by a transport of HTTP.
func (w *service) webBy(transport http.RoundTripper) *agent {
	w.t.Helper()
	a := w.connect(&mcp.StreamableClientTransport{Endpoint: w.base + "/mcp", HTTPClient: &http.Client{Transport: transport}, DisableStandaloneSSE: true}, nil)
	a.http = true
	return a
}

func (w *service) connect(transport mcp.Transport, options *mcp.ClientOptions) *agent {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(ctx, transport, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = session.Close() })
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &agent{ClientSession: session, t: w.t, schemas: schemas(w.t, list.Tools)}
}

// bearer sends a credential with every request.
type bearer string

// RoundTrip sends a request.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

type args map[string]any

// object is a result, or a failure.
type object map[string]any

// try calls a tool and returns its result as text, and as data.
func (a *agent) try(ctx context.Context, tool string, in args) (out object, text string, failed bool) {
	a.t.Helper()
	if a.http && a.token != "" && in["token"] == nil && in["mailbox"] != nil {
		in["token"] = a.token
	}
	r, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		a.t.Fatalf("call %s with %v: %v", tool, in, err)
	}
	if len(r.Content) != 1 {
		a.t.Fatalf("%s returns %d contents, want 1", tool, len(r.Content))
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		a.t.Fatalf("decode the result of %s, %q: %v", tool, text, err)
	}
	if r.IsError {
		if out["code"] == "" || out["message"] == "" {
			a.t.Errorf("%s failed with %s, want a code and a message", tool, text)
		}
		return out, text, true
	}
	structured, _ := json.Marshal(r.StructuredContent)
	again, _ := json.Marshal(out)
	if !bytes.Equal(structured, again) {
		a.t.Errorf("%s: the structured content is %s, want %s as in the content", tool, structured, again)
	}
	if err := a.schemas[tool].Validate(map[string]any(out)); err != nil {
		a.t.Errorf("%s returned %s, which breaks its schema: %v", tool, text, err)
	}
	if a.called == nil {
		a.called = make(map[string]bool)
	}
	a.called[tool] = true
	return out, text, false
}

// call calls a tool that must succeed.
func (a *agent) call(tool string, in args) object {
	a.t.Helper()
	out, text, failed := a.try(a.t.Context(), tool, in)
	if failed {
		a.t.Fatalf("%s: a.try(a.tool, in) = %s, want !failed", tool, text)
	}
	return out
}

// fails calls a tool that must fail with a code.
func (a *agent) fails(code, tool string, in args) {
	a.t.Helper()
	out, text, failed := a.try(a.t.Context(), tool, in)
	if !failed || out["code"] != code {
		a.t.Errorf("%s returns %s, want it failed with %s", tool, text, code)
	}
}

// create makes a mailbox.
func (a *agent) create(in args) (address string) {
	a.t.Helper()
	out := a.call("create_mailbox", in)
	token, _ := out["token"].(string)
	if strings.HasPrefix(token, "xm_") != a.http {
		a.t.Errorf("create_mailbox over HTTP %t returned the token %q, want a token over HTTP alone", a.http, token)
	}
	a.token = token
	return out["mailbox"].(string)
}

package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/apiclient"
	"github.com/gonebox/gonebox/internal/budget"
	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/mcp"
)

// fakeAPI is an API with one mailbox, which never receives mail.
type fakeAPI struct{}

const fakeMailbox = `{"data":{"id":"mbx_1","address":"a@b.example","token":"xm_1","expiresAt":"2026-03-14T12:15:00Z"}}`

func (fakeAPI) Do(context.Context, apiclient.Request) (*apiclient.Response, error) {
	return &apiclient.Response{Status: http.StatusOK, Body: []byte(fakeMailbox)}, nil
}

// session is a session over stdio.
type session struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Reader
	ended chan error
}

func startSession(t *testing.T) *session {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &session{t, toServer, bufio.NewReader(fromServer), make(chan error, 1)}
	go func() {
		s.ended <- mcp.ServeStdio(t.Context(), mcp.Options{API: fakeAPI{}, Clock: clock.System()}, in, out)
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = fromServer.Close()
		<-s.ended
	})
	return s
}

// ask sends a line and returns the next line of the server.
func (s *session) ask(line string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatalf("write %.60q: %v", line, err)
	}
	got, err := s.lines.ReadString('\n')
	if err != nil {
		s.t.Fatalf("read the answer to %.60q: %v", line, err)
	}
	return strings.TrimSpace(got)
}

const (
	hello      = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	createCall = `{"jsonrpc":"2.0","id":"create","method":"tools/call","params":{"name":"create_mailbox","arguments":{"clientId":"one"}}}`
	extendCall = `{"jsonrpc":"2.0","id":"extend","method":"tools/call","params":{"name":"extend_mailbox","arguments":{"mailbox":"a@b.example"}}}`
)

// exchanges are messages with the beginning of their answers, which are the same over both transports.
// refused are those that are 400 over HTTP, since no request could be read from them.
var exchanges = []struct {
	sent, want string
	refused    bool
}{
	{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`, false},
	{` {"jsonrpc" : "2.0", "id" : "7", "method" : "ping", "params": null} `, `{"jsonrpc":"2.0","id":"7","result":{}}`, false},
	{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`, false},
	{`{"jsonrpc":"2.0","id":-123456789012345678901234567890,"method":"ping"}`, `{"jsonrpc":"2.0","id":-123456789012345678901234567890,"result":{}}`, false},
	{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`, false},
	{`{"jsonrpc":"2.0","id":"a\"<é\u2028","method":"ping"}`, `{"jsonrpc":"2.0","id":"a\"<é\u2028","result":{}}`, false},
	{`{"jsonrpc":"2.0","id":"","method":"ping"}`, `{"jsonrpc":"2.0","id":"","result":{}}`, false},
	{`npm notice a line that is no JSON`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"ping"`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"ping"}{}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`, true},
	{`[` + `{"jsonrpc":"2.0","id":7,"method":"ping"}` + `]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`5`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`null`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`"ping"`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`{}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`{"id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":7}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":5}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":7,"Method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"ping","params":5}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"tasks/list"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,`, false},
	{`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/none","params":{"a":1}}`, `{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32601,`, false},
	{`{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"none"}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`, false},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"create_mailbox","_meta":5}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`, true},
	{`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":5}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`, false},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_mailboxes","arguments":null}}`, `{"jsonrpc":"2.0","id":7,"result":{"content":[`, false},
	{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_mailboxes","arguments":[]}}`, `{"jsonrpc":"2.0","id":7,"result":{"content":[`, false},
}

// No line ends a session over stdio, which keeps the tokens of its mailboxes.
func TestStdioAnswersEveryLine(t *testing.T) {
	s := startSession(t)
	s.ask(hello)
	s.ask(createCall)
	for _, e := range exchanges {
		if got := s.ask(e.sent); !strings.HasPrefix(got, e.want) {
			t.Errorf("answer to %s:\n%s, want\n%s…", e.sent, got, e.want)
		}
	}
	long := s.ask(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("a", 2<<20) + `"}}`)
	if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`; !strings.HasPrefix(long, want) {
		t.Errorf("answer to a line of 2 MiB: %s, want %s…", long, want)
	}
	// Lines that get no answer: empty ones, notifications, responses. The answer is that of the ping behind them.
	for _, line := range []string{
		"", "\r", "  ", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/none"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		if got, want := s.ask(line+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`), `{"jsonrpc":"2.0","id":"after","result":{}}`; got != want {
			t.Errorf("answer to %q and a ping: %s, want %s", line, got, want)
		}
	}
	if got := s.ask(extendCall); strings.Contains(got, "isError") || !strings.Contains(got, "a@b.example") {
		t.Errorf("extend_mailbox with the token that the process keeps: %s, want the mailbox", got)
	}
}

// newHandler returns a handler on a fake API.
func newHandler(t *testing.T) *mcp.Handler {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, fakeMailbox) })
	return mcp.NewHandler(mcp.HandlerOptions{
		API: api, Memory: budget.New(64 << 20), Owner: func(r *http.Request) string { return r.RemoteAddr }, Clock: clock.System(), BaseURL: "http://localhost:8080",
	})
}

// post sends a message and returns the response.
func post(h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Over HTTP every message that cannot be processed is answered with a JSON-RPC error, too.
func TestHTTPAnswersEveryMessage(t *testing.T) {
	h := newHandler(t)
	for _, e := range exchanges {
		w := post(h, e.sent)
		if got := w.Body.String(); !strings.HasPrefix(got, e.want) || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("answer to %s:\n%s %s, want\n%s… as application/json", e.sent, got, w.Header().Get("Content-Type"), e.want)
		}
		want := http.StatusOK
		if e.refused {
			want = http.StatusBadRequest
		}
		if w.Code != want {
			t.Errorf("status of the answer to %s: %d, want %d", e.sent, w.Code, want)
		}
	}
	for _, c := range []struct {
		sent   string
		status int
	}{
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, http.StatusAccepted},
		{`{"jsonrpc":"2.0","method":"ping"}`, http.StatusBadRequest},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, http.StatusAccepted},
		{``, http.StatusBadRequest},
		{strings.Repeat("[", 20_000), http.StatusBadRequest},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `}}`, http.StatusBadRequest},
	} {
		w := post(h, c.sent)
		if isError := strings.HasPrefix(w.Body.String(), `{"jsonrpc":"2.0","id":`) && json.Valid(w.Body.Bytes()); w.Code != c.status || isError != (c.status == http.StatusBadRequest) {
			t.Errorf("answer to %.80s: %d %.200s, want %d, with a JSON-RPC error if that is 400", c.sent, w.Code, w.Body, c.status)
		}
	}
}

// An unknown method has the status of the protocol version that the client speaks.
func TestUnknownMethodInLaterProtocol(t *testing.T) {
	const version = "2026-07-28"
	w := post(newHandler(t), `{"jsonrpc":"2.0","id":9007199254740993,"method":"tasks/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+version+`"}}}`, "Mcp-Protocol-Version", version)
	if want := `{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32601,`; w.Code != http.StatusNotFound || !strings.HasPrefix(w.Body.String(), want) {
		t.Errorf("answer to tasks/list: %d %s, want %d %s…", w.Code, w.Body, http.StatusNotFound, want)
	}
}

// A progress token comes back as the client wrote it, in an event stream whose response has the identifier.
func TestProgressTokenIsKept(t *testing.T) {
	call := func(token string) string {
		return `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"wait_for_message","arguments":{"mailbox":"a@b.example","token":"xm_1","seconds":1},"_meta":{"progressToken":` + token + `}}}`
	}
	for _, token := range []string{`9007199254740993`, `"p\"1"`, `1.50`, `0`} {
		w := post(newHandler(t), call(token))
		events := strings.Split(w.Body.String(), "\n\n")
		if !slices.ContainsFunc(events, func(e string) bool {
			return strings.Contains(e, "notifications/progress") && strings.Contains(e, `"progressToken":`+token)
		}) {
			t.Errorf("events of a wait with the progress token %s: %s, want it in a report", token, w.Body)
		}
		if want := `data: {"jsonrpc":"2.0","id":9007199254740993,"result":`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("events of a wait with the progress token %s: %s, want a response with %s", token, w.Body, want)
		}
	}
	if w := post(newHandler(t), call("null")); w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a wait whose progress token is null: %s %s, want application/json", w.Header().Get("Content-Type"), w.Body)
	}
}

// A wait over stdio ends when the client cancels it, also by an identifier above 2^53.
func TestStdioCancelsLargeIdentifier(t *testing.T) {
	waiting, canceled := make(chan struct{}), make(chan struct{})
	api := apiFunc(func(ctx context.Context, r apiclient.Request) (*apiclient.Response, error) {
		if !strings.Contains(r.Path, "messages") {
			return fakeAPI{}.Do(ctx, r)
		}
		close(waiting)
		<-ctx.Done()
		close(canceled)
		return nil, ctx.Err()
	})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() { _ = mcp.ServeStdio(t.Context(), mcp.Options{API: api, Clock: clock.System()}, in, out) }()
	defer toServer.Close()
	defer fromServer.Close()
	s := &session{t: t, in: toServer, lines: bufio.NewReader(fromServer)}
	s.ask(hello)
	s.ask(createCall)
	steps := []struct {
		line string
		then <-chan struct{} // closed by what the line brings about
		what string
	}{
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"wait_for_message","arguments":{"mailbox":"a@b.example"}}}`, waiting, "call the API"},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`, canceled, "end the call of the API"},
	}
	for _, step := range steps {
		if _, err := io.WriteString(toServer, step.line+"\n"); err != nil {
			t.Fatalf("write %s: %v", step.line, err)
		}
		select {
		case <-step.then:
		case <-time.After(time.Minute):
			t.Fatalf("%s: waited a minute in vain, want it to %s", step.line, step.what)
		}
	}
}

// apiFunc is a function as an API.
type apiFunc func(context.Context, apiclient.Request) (*apiclient.Response, error)

func (f apiFunc) Do(ctx context.Context, r apiclient.Request) (*apiclient.Response, error) {
	return f(ctx, r)
}

// FuzzMessage sends any message over both transports: each gets an answer that is a JSON-RPC response, or none, and the
// session goes on.
func FuzzMessage(f *testing.F) {
	for _, e := range exchanges {
		f.Add(e.sent)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if w := post(newHandler(t), line); w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) && !strings.HasPrefix(w.Body.String(), "event: ") {
			t.Errorf("answer to %q over HTTP: %q, want JSON or events", line, w.Body)
		}
		s := startSession(t)
		s.ask(hello)
		go func() { // the server may answer a line before it reads the next one
			_, _ = io.WriteString(s.in, line+"\n"+`{"jsonrpc":"2.0","id":"the end","method":"ping"}`+"\n")
		}()
		for {
			got, err := s.lines.ReadString('\n')
			if err != nil || !json.Valid([]byte(got)) {
				t.Fatalf("answer to %q over stdio: %q, %v; want JSON", line, got, err)
			}
			if strings.Contains(got, "the end") {
				return
			}
		}
	})
}

package mcp

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/clock"
)

// closingBuffer is a buffer as the output of a session.
type closingBuffer struct{ bytes.Buffer }

func (*closingBuffer) Close() error { return nil }

// A program may write all its requests and close the stream, and leave out the last line end.
func TestRequestsBeforeTheEndAreAnswered(t *testing.T) {
	input := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"ping"}
{"jsonrpc":"2.0","id":"last","method":"tools/list"}`
	var out closingBuffer
	o := Options{API: apiFunc(nil), Clock: clock.System(), Version: "test"}
	if err := ServeStdio(t.Context(), o, io.NopCloser(strings.NewReader(input)), &out); err != nil {
		t.Fatalf("ServeStdio: %v", err)
	}
	for _, id := range []string{`"id":1,`, `"id":2,`, `"id":"last",`} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("ServeStdio of three requests that end without a line end answers\n%.600s\nwant an answer with %s", out.String(), id)
		}
	}
}

package mcp

import (
	"mime"
	"net/http"
	"strings"
)

// reply is the http.ResponseWriter through which the library responds to a message. It restores the identifier that the
// client sent, and turns the library's errors in plain text into JSON-RPC errors.
type reply struct {
	http.ResponseWriter
	message *message
	refused int // the status of an error in plain text, whose text comes with the next Write; 0: none
}

// eventBegin is how the library begins an event of a stream. The message follows.
const eventBegin = "event: message\ndata: "

// WriteHeader sends the status, except that of an error in plain text.
func (r *reply) WriteHeader(status int) {
	media, _, _ := mime.ParseMediaType(r.Header().Get("Content-Type"))
	if status >= http.StatusBadRequest && media == "text/plain" {
		r.refused = status
		return
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write writes a response or an event, which the library writes with one call.
func (r *reply) Write(p []byte) (int, error) {
	if r.refused != 0 {
		err := r.message.methodError(strings.TrimSpace(string(p)))
		status := r.refused
		if err.Code == methodNotFound && r.message.id != nil {
			status = http.StatusOK // the response to the request, like any other
		}
		r.refused = 0
		writeError(r.ResponseWriter, status, r.message, err)
		return len(p), nil
	}
	if r.message.id == nil {
		return r.ResponseWriter.Write(p)
	}
	start := 0
	if strings.HasPrefix(string(p[:min(len(p), len(eventBegin))]), eventBegin) {
		start = len(eventBegin)
	}
	beginning, rest, ok := restoreID(p[start:], r.message.id)
	if !ok {
		return r.ResponseWriter.Write(p)
	}
	for _, part := range [][]byte{p[:start], beginning, rest} {
		if _, err := r.ResponseWriter.Write(part); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Unwrap returns the wrapped writer. http.ResponseController calls it, by which the library flushes events.
func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// writeError responds with a JSON-RPC error.
func writeError(w http.ResponseWriter, status int, m *message, err *rpcError) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(err.response(m.id))
}

package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

// message is a JSON-RPC message of a client.
//
// The library decodes identifiers and progress tokens as float64, which rounds large numbers, and returns them as it
// decoded them. Therefore it never sees them: forLibrary replaces them by strings that encode the client's text, and
// restoreID and startProgress turn these into that text again.
type message struct {
	members map[string]json.RawMessage
	id      json.RawMessage // a string or a number as the client wrote it; nil: not a request
	method  string          // "": a response
	params  map[string]json.RawMessage
}

// rpcError is an error of the protocol, as opposed to the failure of a tool.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// The codes of rpcError (JSON-RPC 2.0 §5.1).
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
)

// response returns the JSON-RPC response with an error. id is nil if the identifier of the request is not known.
func (e *rpcError) response(id json.RawMessage) []byte {
	text, _ := json.Marshal(struct { // strings and a number always encode
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpcError       `json:"error"`
	}{"2.0", id, e})
	return text
}

// parseMessage parses a message. If it is not one, parseMessage returns the error to answer with, and a message that has
// the identifier if that could be read.
func parseMessage(text []byte) (*message, *rpcError) {
	m := new(message)
	if !json.Valid(text) {
		return m, &rpcError{parseError, "the message is not JSON"}
	}
	switch text := bytes.TrimLeft(text, " \t\r\n"); {
	case text[0] == '[':
		return m, &rpcError{invalidRequest, "send one message at a time, not a batch"}
	case json.Unmarshal(text, &m.members) != nil || m.members == nil:
		return m, &rpcError{invalidRequest, "the message is not an object"}
	}
	if id, given := m.members["id"]; given {
		if !isIdentifier(id) {
			return m, &rpcError{invalidRequest, "id is neither a string nor a number"}
		}
		m.id = id
	}
	if string(m.members["jsonrpc"]) != `"2.0"` {
		return m, &rpcError{invalidRequest, `jsonrpc is not "2.0"`}
	}
	method, isRequest := m.members["method"]
	if !isRequest {
		if m.id == nil || m.members["result"] == nil && m.members["error"] == nil {
			return m, &rpcError{invalidRequest, "the message has no method"}
		}
		return m, nil
	}
	if json.Unmarshal(method, &m.method) != nil || m.method == "" {
		return m, &rpcError{invalidRequest, "method is not the name of a method"}
	}
	return m, m.parseParams()
}

// isIdentifier reports whether a JSON value is a string or a number.
func isIdentifier(value json.RawMessage) bool {
	return value[0] == '"' || value[0] == '-' || '0' <= value[0] && value[0] <= '9'
}

// parseParams parses the parameters of a request or a notification. Parameters that are null or absent become an empty
// object, which means the same.
func (m *message) parseParams() *rpcError {
	params := m.members["params"]
	if params == nil || string(params) == "null" {
		params = json.RawMessage("{}")
		m.members["params"] = params
	}
	switch {
	case params[0] == '[':
		return &rpcError{invalidParams, "params is an array, but must be an object"}
	case json.Unmarshal(params, &m.params) != nil:
		return &rpcError{invalidRequest, "params is not an object"}
	}
	if meta := m.params["_meta"]; meta != nil && meta[0] != '{' {
		return &rpcError{invalidParams, "_meta is not an object"}
	}
	if name := m.params["name"]; m.method == "tools/call" && (name == nil || name[0] != '"') {
		return &rpcError{invalidParams, "name is not the name of a tool"}
	}
	return nil
}

// isToolCall reports whether a message is a call of a tool that expects a response.
func (m *message) isToolCall() bool { return m.method == "tools/call" && m.id != nil }

// tool returns the name of the tool that a message calls, or "".
func (m *message) tool() (name string) {
	if m.isToolCall() {
		_ = json.Unmarshal(m.params["name"], &name) // parseParams has checked that it is a string
	}
	return name
}

// meta returns the metadata of the parameters, which is nil if there is none.
func (m *message) meta() (meta map[string]json.RawMessage) {
	_ = json.Unmarshal(m.params["_meta"], &meta) // parseParams has checked that it is an object
	return meta
}

// wantsProgress reports whether a message is a call of a tool with a progress token.
func (m *message) wantsProgress() bool {
	token := m.meta()["progressToken"]
	return m.isToolCall() && token != nil && isIdentifier(token)
}

// forLibrary returns the message for the library, with encoded identifiers and progress tokens.
func (m *message) forLibrary() []byte {
	if m.id != nil {
		m.members["id"] = encodeIdentifier(m.id)
	}
	changed := false
	if request := m.params["requestId"]; m.method == "notifications/cancelled" && request != nil && isIdentifier(request) {
		m.params["requestId"], changed = encodeIdentifier(request), true
	}
	if m.wantsProgress() {
		meta := m.meta()
		meta["progressToken"] = encodeIdentifier(meta["progressToken"])
		m.params["_meta"], _ = json.Marshal(meta) // decoded from JSON
		changed = true
	}
	if changed {
		m.members["params"], _ = json.Marshal(m.params) // decoded from JSON
	}
	text, _ := json.Marshal(m.members) // decoded from JSON
	return text
}

// encodeIdentifier returns a JSON string that encodes an identifier, without any character that JSON escapes.
func encodeIdentifier(value json.RawMessage) json.RawMessage {
	return json.RawMessage(strconv.Quote(base64.RawURLEncoding.EncodeToString(value)))
}

// decodeIdentifier returns the identifier that the text of a string of encodeIdentifier encodes. It returns false if it
// is none.
func decodeIdentifier(text string) (json.RawMessage, bool) {
	value, err := base64.RawURLEncoding.DecodeString(text)
	return value, err == nil && json.Valid(value)
}

// restoreID splits a response that the library has encoded into its beginning, with the identifier as the client wrote
// it, and the rest, which is a part of text. It returns false if text is not the response to a request with this
// identifier. Errors to which the library gives no code get one.
func restoreID(text []byte, id json.RawMessage) (beginning, rest []byte, ok bool) {
	const version = `{"jsonrpc":"2.0","id":`
	rest, ok = bytes.CutPrefix(text, append([]byte(version), encodeIdentifier(id)...))
	if !ok {
		return nil, text, false
	}
	beginning = append([]byte(version), id...)
	if message, uncoded := bytes.CutPrefix(rest, []byte(`,"error":{"code":0,`)); uncoded {
		code := invalidRequest
		if bytes.HasPrefix(message, []byte(`"message":"handling '`)) { // the parameters have the wrong type
			code = invalidParams
		}
		beginning, rest = append(beginning, `,"error":{"code":`+strconv.Itoa(code)+`,`...), message
	}
	return beginning, rest, true
}

// methodError returns the error for a message that the library refuses with a text.
func (m *message) methodError(text string) *rpcError {
	if strings.HasPrefix(text, "JSON RPC not handled") {
		return &rpcError{methodNotFound, "there is no method " + strconv.Quote(shorten(m.method))}
	}
	return &rpcError{invalidRequest, text}
}

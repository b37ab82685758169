package mailauth

import (
	"bytes"
	"io"
	"sync"
)

// message reads a mail for DKIM, and stops reading when it is closed: the caller of Check may use the buffer again
// although the library, which cannot be interrupted, is still running. The mutex guards raw against the library's
// goroutine.
type message struct {
	mu  sync.Mutex
	raw []byte
}

func newMessage(raw []byte) *message { return &message{raw: raw} }

// close makes later reads return io.EOF. A read in progress ends first.
func (m *message) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.raw = nil
}

// Read ends with io.EOF after close, too: the library would leave goroutines behind on another error.
func (m *message) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.raw) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.raw)
	m.raw = m.raw[n:]
	return n, nil
}

const byteOrderMark = "\uFEFF"

// preamble returns the length of what readers of a mail skip in front of its first field: a byte order mark and blank
// lines.
func preamble(raw []byte) int {
	rest := bytes.TrimPrefix(raw, []byte(byteOrderMark))
	return len(raw) - len(bytes.TrimLeft(rest, "\r\n"))
}

// fields iterates over the header fields of raw behind its preamble, each with its folded lines and line ends. It goes on
// to the empty line whatever it meets on the way, so that no reader of the header sees a field it did not: mailparse, too,
// skips stray lines and ends the header there at the latest.
func fields(raw []byte) func(yield func(field []byte) bool) {
	return func(yield func([]byte) bool) {
		raw := raw[preamble(raw):]
		for len(raw) > 0 && !startsEmptyLine(raw) {
			end := lineLength(raw)
			for end < len(raw) && (raw[end] == ' ' || raw[end] == '\t') {
				end += lineLength(raw[end:])
			}
			if !yield(raw[:end]) {
				return
			}
			raw = raw[end:]
		}
	}
}

func startsEmptyLine(b []byte) bool {
	return b[0] == '\n' || b[0] == '\r' && len(b) > 1 && b[1] == '\n'
}

func lineLength(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

// isField reports whether a field has the given name. White space before the colon is obsolete but read (RFC 5322 §4.5).
func isField(field []byte, name string) bool {
	if len(field) <= len(name) || !bytes.EqualFold(field[:len(name)], []byte(name)) {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(field[len(name):], " \t\r\n"), []byte(":"))
}

func hasField(raw []byte, name string) bool {
	for f := range fields(raw) {
		if isField(f, name) {
			return true
		}
	}
	return false
}

package httpkit

import (
	"crypto/rand"
	"encoding/hex"
)

// trace is the position of a request in a distributed trace (W3C Trace Context): the trace's id, and the id of our span.
type trace struct {
	traceID [16]byte
	spanID  [8]byte
	sampled bool
}

// newTrace continues the caller's trace, or begins one where the header is missing or malformed.
func newTrace(parent string) trace {
	t, ok := parseTraceparent(parent)
	if !ok {
		t = trace{}
		rand.Read(t.traceID[:])
	}
	rand.Read(t.spanID[:])
	return t
}

// parseTraceparent reads version-traceid-parentid-flags; of a later version only what this one knows.
func parseTraceparent(s string) (t trace, ok bool) {
	const size = 55
	if len(s) < size || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return t, false
	}
	if len(s) > size && (s[:2] == "00" || s[size] != '-') {
		return t, false
	}
	var version, flags [1]byte
	var parent [8]byte
	for _, part := range []struct {
		dst []byte
		hex string
	}{{version[:], s[:2]}, {t.traceID[:], s[3:35]}, {parent[:], s[36:52]}, {flags[:], s[53:size]}} {
		if !lowerHex(part.hex) {
			return t, false
		}
		_, _ = hex.Decode(part.dst, []byte(part.hex)) // lowerHex has seen it
	}
	t.sampled = flags[0]&1 == 1
	return t, t.traceID != [16]byte{} && parent != [8]byte{}
}

func lowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (t trace) id() string { return hex.EncodeToString(t.traceID[:]) }

// String is the Traceparent of the response.
func (t trace) String() string {
	flags := "-00"
	if t.sampled {
		flags = "-01"
	}
	return "00-" + t.id() + "-" + hex.EncodeToString(t.spanID[:]) + flags
}

package httpkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// JSONText writes a JSON string whose text comes in pieces, such as a raw message. An octet of it may become six, so a long
// text takes much memory if it is encoded at once. The pieces may be cut within a character.
type JSONText struct {
	out     *bufio.Writer
	encoder *json.Encoder
	encoded bytes.Buffer // a piece
	rest    []byte       // octets of a character whose other octets are still missing
}

// NewJSONText returns a JSONText that writes to out, which the caller flushes. It does not escape HTML.
func NewJSONText(out *bufio.Writer) *JSONText {
	t := &JSONText{out: out}
	t.encoder = json.NewEncoder(&t.encoded)
	t.encoder.SetEscapeHTML(false)
	return t
}

// pieceMax is how many octets of a text are encoded at once.
const pieceMax = 16 << 10

// Begin begins a string.
func (t *JSONText) Begin() { _ = t.out.WriteByte('"') } // Flush returns the error

// End ends the string.
func (t *JSONText) End() error {
	err := t.encode(t.rest)
	t.rest = nil
	_ = t.out.WriteByte('"')
	return err
}

// Write writes a piece of the text.
func (t *JSONText) Write(p []byte) (int, error) {
	octets := p
	if len(t.rest) > 0 {
		octets = append(t.rest, p...)
	}
	n := len(octets)
	for back := 1; back < utf8.UTFMax && back <= len(octets); back++ {
		if at := len(octets) - back; utf8.RuneStart(octets[at]) {
			if !utf8.FullRune(octets[at:]) {
				n = at
			}
			break
		}
	}
	err := t.encode(octets[:n])
	t.rest = append([]byte(nil), octets[n:]...)
	return len(p), err
}

// encode writes octets that do not end within a character.
func (t *JSONText) encode(octets []byte) error {
	for len(octets) > 0 {
		n := min(len(octets), pieceMax)
		for back := 1; back < utf8.UTFMax && n < len(octets) && !utf8.RuneStart(octets[n]); back++ {
			n--
		}
		t.encoded.Reset()
		if err := t.encoder.Encode(string(octets[:n])); err != nil {
			return err
		}
		quoted := bytes.TrimSuffix(t.encoded.Bytes(), []byte("\n"))
		if _, err := t.out.Write(quoted[1 : len(quoted)-1]); err != nil {
			return err
		}
		octets = octets[n:]
	}
	return nil
}

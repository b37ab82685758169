package mailpit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"

	"github.com/gonebox/gonebox/internal/httpkit"
)

// hogWriter writes messages in the format of MailHog as JSON. A message is there several times: whole, as the bodies of its
// multipart entities and as those of its parts; and an octet can become six. Therefore the texts are written in small pieces
// instead of being encoded in memory.
type hogWriter struct {
	out  *bufio.Writer
	long *httpkit.JSONText
	err  error // the first one; nothing is written after it
}

// newHogWriter returns a writer to out, which the caller flushes.
func newHogWriter(out *bufio.Writer) *hogWriter {
	return &hogWriter{out: out, long: httpkit.NewJSONText(out)}
}

// raw writes JSON as it is.
func (w *hogWriter) raw(text string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(text)
	}
}

// value writes a small value.
func (w *hogWriter) value(v any) {
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as in writeJSON
	if w.err = e.Encode(v); w.err == nil {
		_, w.err = w.out.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
}

// pieceOctets is how many octets of a text are copied at once.
const pieceOctets = 16 << 10

// text writes a string of any length.
func (w *hogWriter) text(s string) {
	w.long.Begin()
	for s != "" && w.err == nil {
		n := min(len(s), pieceOctets)
		_, w.err = w.long.Write([]byte(s[:n]))
		s = s[n:]
	}
	w.err = errors.Join(w.err, w.long.End())
}

// message writes a message.
func (w *hogWriter) message(m *hogMessage) {
	w.raw(`{"ID":`)
	w.value(m.ID)
	w.raw(`,"From":`)
	w.value(m.From)
	w.raw(`,"To":`)
	w.value(m.To)
	w.raw(`,"Content":`)
	w.content(&m.Content, nil)
	w.raw(`,"Created":`)
	w.value(m.Created)
	w.raw(`,"MIME":`)
	w.parts(m.Content.Parts)
	w.raw(`,"Raw":{"From":`)
	w.value(m.Raw.From)
	w.raw(`,"To":`)
	w.value(m.Raw.To)
	w.raw(`,"Data":`)
	w.text(m.Raw.Data)
	w.raw(`,"Helo":`)
	w.value(m.Raw.Helo)
	w.raw(`}}`)
}

// content writes the content of a message or a part, with the given parts.
func (w *hogWriter) content(c *hogContent, parts []hogContent) {
	w.raw(`{"Headers":`)
	w.value(c.Headers)
	w.raw(`,"Body":`)
	w.text(c.Body)
	w.raw(`,"Size":`)
	w.value(c.Size)
	w.raw(`,"MIME":`)
	w.parts(parts)
	w.raw(`}`)
}

// parts writes the parts of a multipart entity, or null.
func (w *hogWriter) parts(parts []hogContent) {
	if parts == nil {
		w.raw("null")
		return
	}
	w.raw(`{"Parts":[`)
	for i := range parts {
		if i > 0 {
			w.raw(",")
		}
		w.content(&parts[i], parts[i].Parts)
	}
	w.raw(`]}`)
}

package mailauth

import "bytes"

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

// header is what the methods need of the header of a mail.
type header struct {
	froms  int  // From fields
	signed bool // there are signatures
}

// scan reads the header of raw. A blank line in front of the first field ends the header for a signer, though lenient
// readers skip it, so nothing behind it is a signature.
func scan(raw []byte) (h header) {
	rest := bytes.TrimPrefix(raw, []byte(byteOrderMark))
	blank := len(rest) > 0 && (rest[0] == '\r' || rest[0] == '\n')
	for f := range fields(raw) {
		switch {
		case isField(f, "From"):
			h.froms++
		case isField(f, "DKIM-Signature"):
			h.signed = !blank
		}
	}
	return h
}

// maxName is the longest name of a field that every reader takes for one, in octets.
const maxName = 256

// isWellFormed reports whether all readers take a line with its folds for a header field. Some take another line for the
// beginning of the body, a link among them, so that it would be shown as text that is not signed.
func isWellFormed(field []byte) bool {
	n := bytes.IndexFunc(field, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' })
	if n < 1 || n > maxName {
		return false
	}
	value, ok := bytes.CutPrefix(bytes.TrimLeft(field[n:], " \t"), []byte(":"))
	return ok && !bytes.HasPrefix(value, []byte("//"))
}

// isEnvelope reports whether a line is what begins a mail in a file of the mbox format. It is not part of the mail.
func isEnvelope(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(line, []byte(">")), []byte("From "))
}

// split returns the header fields of raw and its body, which is empty where there is no blank line. ok is false if the
// header is larger than what is verified, or something in it is no field.
func split(raw []byte) (header [][]byte, body []byte, ok bool) {
	size := 0
	for f := range fields(raw) {
		if !isWellFormed(f) && !(size == 0 && isEnvelope(f)) {
			return nil, nil, false
		}
		header = append(header, f)
		size += len(f)
		if size > maxHeader || len(header) > maxFields {
			return nil, nil, false
		}
	}
	rest := raw[preamble(raw)+size:]
	return header, rest[lineLength(rest):], true // without the blank line
}

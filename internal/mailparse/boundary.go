package mailparse

import "bytes"

// partReader reads the body parts of a multipart (RFC 2046 §5.1.1), each without the line end before its delimiter.
// What precedes the first delimiter is dropped, and what follows a closing one until the next delimiter: senders
// that give an inner multipart the boundary of the outer one close it too early.
// The last part reaches to the end where nothing closes it.
type partReader struct {
	body     []byte
	boundary string
	part     int // where the open part begins, or -1
	pos      int // where the search for the next delimiter begins, or -1 behind the last one
}

// newPartReader returns a reader of the parts of body. It returns false if there is none.
func newPartReader(body []byte, boundary string) (r partReader, ok bool) {
	if boundary == "" || len(boundary) > maxBoundary {
		return r, false
	}
	r = partReader{body: body, boundary: boundary, part: -1}
	for r.part < 0 && r.pos >= 0 {
		r.advance()
	}
	return r, r.part >= 0
}

// advance moves on to the next delimiter and returns where the text before it ends.
func (r *partReader) advance() (end int) {
	d, ok := nextDelimiter(r.body, r.boundary, r.pos)
	switch {
	case !ok:
		r.part, r.pos = -1, -1
		return len(r.body)
	case d.closing:
		r.part, r.pos = -1, d.next
	default:
		r.part, r.pos = d.next, d.next
	}
	return d.start
}

// next returns the next part. It returns false behind the last one.
func (r *partReader) next() (part []byte, ok bool) {
	for r.pos >= 0 {
		start := r.part
		end := r.advance()
		if start >= 0 {
			return r.body[start:max(start, end)], true
		}
	}
	return nil, false
}

// delimiter is a delimiter line: start is where the text before it ends, next where the text after it begins.
type delimiter struct {
	start, next int
	closing     bool
}

// nextDelimiter finds the first delimiter line at or after pos, which is the beginning of a line.
func nextDelimiter(body []byte, boundary string, pos int) (delimiter, bool) {
	if pos == 0 && hasBoundary(body, boundary) {
		if d, ok := delimiterLine(body, 0, len("--")+len(boundary)); ok {
			return d, true
		}
	}
	for pos = max(0, pos-1); ; {
		start := nextLine(body, boundary, pos)
		if start < 0 {
			return delimiter{}, false
		}
		pos = start + len("\n--") + len(boundary)
		if start > 0 && body[start-1] == '\r' {
			start--
		}
		if d, ok := delimiterLine(body, start, pos); ok {
			return d, true
		}
	}
}

// hasBoundary reports whether line begins with two hyphens and the boundary.
func hasBoundary(line []byte, boundary string) bool {
	return len(line) >= len("--")+len(boundary) && line[0] == '-' && line[1] == '-' && string(line[2:2+len(boundary)]) == boundary
}

// nextLine returns the index of the line feed in body after pos that two hyphens and the boundary follow, or -1. It searches
// for the first hyphen, because base64, which most of a large mail consists of, contains none. If a hyphen is found inside a
// line, the rest of that line is skipped.
func nextLine(body []byte, boundary string, pos int) int {
	for pos++; ; pos++ {
		i := bytes.IndexByte(body[min(pos, len(body)):], '-')
		if i < 0 {
			return -1
		}
		if pos += i; body[pos-1] != '\n' {
			if i = bytes.IndexByte(body[pos:], '\n'); i < 0 {
				return -1
			}
			pos += i
		} else if hasBoundary(body[pos:], boundary) {
			return pos - 1
		}
	}
}

// delimiterLine checks that the boundary is followed by nothing but closing hyphens and white space on its line.
func delimiterLine(body []byte, start, end int) (delimiter, bool) {
	d := delimiter{start: start}
	if bytes.HasPrefix(body[end:], []byte("--")) {
		d.closing = true
		end += 2
	}
	for end < len(body) && (isBlank(body[end]) || body[end] == '\r') {
		end++
	}
	switch {
	case end == len(body):
		d.next = end
	case body[end] == '\n':
		d.next = end + 1
	default:
		return d, false
	}
	return d, true
}

// withoutDelimiters returns the body of a multipart that has no parts without its delimiter lines, which are no text. Where
// the boundary is unknown, a body of one line between hyphens is its closing delimiter.
func withoutDelimiters(body []byte, boundary string) []byte {
	line := bytes.TrimSpace(body)
	if len(line) > len("----") && bytes.IndexByte(line, '\n') < 0 && bytes.HasPrefix(line, []byte("--")) && bytes.HasSuffix(line, []byte("--")) {
		return nil
	}
	if boundary == "" || len(boundary) > maxBoundary {
		return body
	}
	d, ok := nextDelimiter(body, boundary, 0)
	if !ok {
		return body
	}
	text := append(make([]byte, 0, len(body)), body[:d.start]...)
	for ok {
		pos := d.next
		if d, ok = nextDelimiter(body, boundary, pos); !ok {
			d.start = len(body)
		}
		if pos < d.start && len(text) > 0 {
			text = append(text, '\n')
		}
		text = append(text, body[pos:max(pos, d.start)]...)
	}
	return text
}

// guessBoundary finds the probable boundary if the parameter is missing or wrong: a line of two hyphens and more that
// a Content- field follows. It returns "" if there is none.
func guessBoundary(body []byte) string {
	for pos := 0; pos < len(body); {
		if !bytes.HasPrefix(body[pos:], []byte("--")) {
			i := bytes.Index(body[pos:], []byte("\n--"))
			if i < 0 {
				return ""
			}
			pos += i + 1
		}
		line, next := lineAt(body, pos)
		following, _ := lineAt(body, next)
		line = bytes.TrimRight(line[2:], " \t")
		if len(line) > 0 && len(line) <= maxBoundary && hasFoldPrefix(following, "content-") && fieldColon(following) > 0 {
			return string(line)
		}
		pos = next
	}
	return ""
}

// hasFoldPrefix reports whether b begins with prefix, in any letter case.
func hasFoldPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && bytes.EqualFold(b[:len(prefix)], []byte(prefix))
}

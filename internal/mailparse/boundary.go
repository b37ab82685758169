package mailparse

import (
	"bytes"
	"iter"
)

// bodyParts yields the body parts of a multipart (RFC 2046 §5.1.1), each without the line end before its delimiter.
// What precedes the first delimiter is dropped, and what follows a closing one until the next delimiter: senders
// that give an inner multipart the boundary of the outer one close it too early.
// The last part reaches to the end where nothing closes it.
func bodyParts(body []byte, boundary string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if boundary == "" || len(boundary) > maxBoundary {
			return
		}
		needle := []byte("\n--" + boundary)
		part := -1 // where the open part begins
		for pos := 0; ; {
			d, ok := nextDelimiter(body, needle, pos)
			if !ok {
				break
			}
			if part >= 0 && !yield(body[part:max(part, d.start)]) {
				return
			}
			part, pos = d.next, d.next
			if d.closing {
				part = -1
			}
		}
		if part >= 0 {
			yield(body[part:])
		}
	}
}

// hasPart reports whether bodyParts yields anything.
func hasPart(body []byte, boundary string) bool {
	if boundary == "" || len(boundary) > maxBoundary {
		return false
	}
	needle := []byte("\n--" + boundary)
	d, ok := nextDelimiter(body, needle, 0)
	for ok && d.closing {
		d, ok = nextDelimiter(body, needle, d.next)
	}
	return ok
}

// delimiter is a delimiter line: start is where the text before it ends, next where the text after it begins.
type delimiter struct {
	start, next int
	closing     bool
}

// nextDelimiter finds the first delimiter line at or after pos, which is the beginning of a line.
// needle is a line feed, two hyphens and the boundary.
func nextDelimiter(body, needle []byte, pos int) (delimiter, bool) {
	if pos == 0 && bytes.HasPrefix(body, needle[1:]) {
		if d, ok := delimiterLine(body, 0, len(needle)-1); ok {
			return d, true
		}
	}
	for pos = max(0, pos-1); ; {
		start := nextLine(body, needle, pos)
		if start < 0 {
			return delimiter{}, false
		}
		pos = start + len(needle)
		if start > 0 && body[start-1] == '\r' {
			start--
		}
		if d, ok := delimiterLine(body, start, pos); ok {
			return d, true
		}
	}
}

// nextLine returns the index of needle in body after pos, or -1, as bytes.Index does. needle begins with a line feed and a
// hyphen. It searches for the hyphen, because base64, which most of a large mail consists of, contains none. If a hyphen is
// found inside a line, the rest of that line is skipped.
func nextLine(body, needle []byte, pos int) int {
	for pos++; ; pos++ {
		i := bytes.IndexByte(body[min(pos, len(body)):], needle[1])
		if i < 0 {
			return -1
		}
		if pos += i; body[pos-1] != needle[0] {
			if i = bytes.IndexByte(body[pos:], needle[0]); i < 0 {
				return -1
			}
			pos += i
		} else if bytes.HasPrefix(body[pos:], needle[1:]) {
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
	needle := []byte("\n--" + boundary)
	d, ok := nextDelimiter(body, needle, 0)
	if !ok {
		return body
	}
	text := append(make([]byte, 0, len(body)), body[:d.start]...)
	for ok {
		pos := d.next
		if d, ok = nextDelimiter(body, needle, pos); !ok {
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

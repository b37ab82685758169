package mailpit

import (
	"iter"
	"mime"
	"net/textproto"
	"strings"

	"github.com/gonebox/gonebox/internal/mailparse"
)

// hogContent has the header fields and the body of a message or of a part. The body is not decoded, and shares the memory of
// the message. Size is in octets.
type hogContent struct {
	Headers map[string][]string
	Body    string
	Size    int
	Parts   []hogContent // nil: it is not a multipart entity
}

// Bounds of the MIME tree of a message.
const (
	// The parts of ordinary mails nest a few levels deep. A small hostile mail could nest thousands of levels, each of which
	// has the levels inside it as its body.
	depthMax = 10
	partsMax = 1000 // in all levels together

	// bodiesMax bounds the bodies of all parts together, as a multiple of the octets of the message.
	bodiesMax = 4

	boundaryMax = 70 // octets (RFC 2046 §5.1.1)
)

// hogTree is what is left of the bounds of a MIME tree.
type hogTree struct{ parts, octets int }

// parseHog parses a message. If its header cannot be parsed, the whole message is its body.
func parseHog(data string) hogContent {
	t := &hogTree{parts: partsMax, octets: bodiesMax * len(data)}
	c := t.entity(data, 0)
	c.Size = len(data)
	return c
}

// entity parses a message or a part of one. depth is its nesting level, 0 for a message.
func (t *hogTree) entity(data string, depth int) hogContent {
	c := hogContent{Headers: map[string][]string{}, Body: data, Size: len(data)}
	if header, body, ok := cutHeader(data); ok {
		if fields, ok := parseHogHeader(header); ok {
			c.Headers, c.Body = fields, body
		}
	}
	if depth < depthMax {
		c.Parts = t.split(textproto.MIMEHeader(c.Headers).Get("Content-Type"), c.Body, depth)
	}
	return c
}

// split returns the parts of a multipart entity, or nil if it is not a multipart.
func (t *hogTree) split(contentType, body string, depth int) []hogContent {
	const valueMax = 4 << 10
	if len(contentType) > valueMax {
		return nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	boundary := params["boundary"]
	if err != nil || !strings.HasPrefix(media, "multipart/") || boundary == "" || len(boundary) > boundaryMax {
		return nil
	}
	all := []hogContent{}
	for part := range splitParts(body, boundary) {
		if t.parts == 0 || t.octets < len(part) {
			break
		}
		t.parts, t.octets = t.parts-1, t.octets-len(part)
		content := t.entity(part, depth+1)
		content.Size = len(content.Body)
		all = append(all, content)
	}
	return all
}

// splitParts returns the parts of the body of a multipart entity, with their header fields (RFC 2046 §5.1.1). The last one
// may lack its end.
func splitParts(body, boundary string) iter.Seq[string] {
	delimiter := "--" + boundary
	return func(yield func(string) bool) {
		begin := -1 // of the part; -1: in the preamble
		for at := 0; at <= len(body); {
			line, rest, more := strings.Cut(body[at:], "\n")
			if after, ok := strings.CutPrefix(line, delimiter); ok && isDelimiterEnd(after) {
				if begin >= 0 && !yield(trimLineEnd(body[min(begin, at):at])) {
					return
				}
				if strings.HasPrefix(after, "--") {
					return
				}
				begin = at + len(line) + 1
			}
			if !more {
				break
			}
			at = len(body) - len(rest)
		}
		if begin >= 0 && begin <= len(body) {
			yield(body[begin:])
		}
	}
}

// isDelimiterEnd reports whether a line with a boundary may end in a text: white space, behind "--" in the last delimiter.
func isDelimiterEnd(text string) bool {
	return strings.TrimRight(strings.TrimPrefix(text, "--"), " \t\r") == ""
}

// trimLineEnd removes the line end before a delimiter, which is a part of the delimiter.
func trimLineEnd(part string) string {
	return strings.TrimSuffix(strings.TrimSuffix(part, "\n"), "\r")
}

// cutHeader cuts an entity at the first empty line. A header has at most mailparse.MaxHeader octets.
func cutHeader(data string) (header, body string, ok bool) {
	for at := 0; at < min(len(data), mailparse.MaxHeader); {
		line, rest, more := strings.Cut(data[at:], "\n")
		if strings.TrimSuffix(line, "\r") == "" && more {
			return data[:at], rest, true
		}
		at = len(data) - len(rest)
		if !more {
			break
		}
	}
	return "", "", false
}

// parseHogHeader returns the fields of a header, at most mailparse.MaxFields, whose keys are canonical names. Folded lines
// are joined by a space. It returns false if a line is not a field.
func parseHogHeader(header string) (map[string][]string, bool) {
	fields := make(map[string][]string)
	name, value := "", []string(nil)
	count := 0
	add := func() {
		if name != "" && count < mailparse.MaxFields {
			fields[name] = append(fields[name], strings.Join(value, " "))
			count++
		}
	}
	for line := range strings.Lines(header) {
		line = strings.TrimRight(line, "\r\n")
		if name != "" && strings.TrimLeft(line, " \t") != line {
			value = append(value, strings.Trim(line, " \t"))
			continue
		}
		key, text, ok := strings.Cut(line, ":")
		if key = strings.TrimRight(key, " \t"); !ok || key == "" || key[0] == ' ' || key[0] == '\t' {
			return nil, false
		}
		add()
		name, value = textproto.CanonicalMIMEHeaderKey(key), append(value[:0], strings.Trim(text, " \t"))
	}
	add()
	return fields, true
}

package sanitize

import (
	"html"
	"strings"
)

// scanner cuts HTML into texts and tags in the way of the tokenizer of HTML §13.2.5, without copying and in one pass.
// Comments, declarations and processing instructions are left out. It is for reading only: what it says is not used to
// decide what is safe.
type scanner struct {
	src string
	raw string // the element whose end tag alone ends the text that comes now; empty: none

	kind  tokenKind
	text  string // of a text: its source, entities not decoded
	name  string // of a tag, in lower case
	attrs string // of a start tag: the source from behind the name to before the final >
}

type tokenKind int

const (
	textToken tokenKind = iota
	startToken
	endToken
)

// next moves on to the next token, false at the end.
func (z *scanner) next() bool {
	if z.raw != "" {
		if z.rawText(); z.text != "" {
			return true
		}
	}
	for z.src != "" {
		switch n := textLength(z.src); {
		case n > 0:
			z.kind, z.text, z.src = textToken, z.src[:n], z.src[n:]
			return true
		case isLetter(z.src[1]):
			return z.tag(startToken, 1)
		case z.src[1] == '/' && len(z.src) > 2 && isLetter(z.src[2]):
			return z.tag(endToken, 2)
		case strings.HasPrefix(z.src, "<!--"):
			z.src = z.src[commentLength(z.src):]
		default:
			z.src = z.src[through(z.src, '>'):]
		}
	}
	return false
}

// textLength is the length of the text that s begins with: up to a < that begins something.
func textLength(s string) int {
	for i := 0; ; i++ {
		j := strings.IndexByte(s[i:], '<')
		if j < 0 || i+j+1 == len(s) {
			return len(s)
		}
		i += j
		if c := s[i+1]; isLetter(c) || c == '/' || c == '!' || c == '?' {
			return i
		}
	}
}

// commentLength is the length of the comment s begins with (HTML §13.2.5.43 and on). One that does not end takes all.
func commentLength(s string) int {
	for i := len("<!--"); i < len(s); {
		i += through(s[i:], '>')
		body := strings.TrimSuffix(s[:i], ">")
		if len(body) == i {
			break
		}
		if strings.HasSuffix(body, "--") || len(body) >= len("<!----!") && strings.HasSuffix(body, "--!") || body == "<!---" {
			return i
		}
	}
	return len(s)
}

// through is the length of s up to and with the first c, or all of it.
func through(s string, c byte) int {
	if i := strings.IndexByte(s, c); i >= 0 {
		return i + 1
	}
	return len(s)
}

// tag reads the tag whose name begins at i. One that does not end is dropped with the rest, as browsers do.
func (z *scanner) tag(kind tokenKind, i int) bool {
	begin := i
	for i < len(z.src) && !isTagSpace(z.src[i]) && z.src[i] != '/' && z.src[i] != '>' {
		i++
	}
	z.kind, z.name = kind, strings.ToLower(z.src[begin:i])
	rest := z.src[i:]
	end := attrsLength(rest)
	if end == len(rest) {
		z.src = ""
		return false
	}
	z.attrs, z.src = rest[:end], rest[end+1:]
	if kind == startToken && isRaw[z.name] {
		z.raw = z.name
	}
	return true
}

// attrsLength is the length of the attributes s begins with, up to the > that ends the tag.
func attrsLength(s string) int {
	// Where no quote comes before the first >, that is the end.
	if i := strings.IndexByte(s, '>'); i < 0 || strings.IndexByte(s[:i], '"') < 0 && strings.IndexByte(s[:i], '\'') < 0 {
		if i < 0 {
			return len(s)
		}
		return i
	}
	rest := s
	for {
		var ok bool
		if _, _, rest, ok = nextAttr(rest); !ok {
			return len(s) - len(rest)
		}
	}
}

// attributes iterates over the attributes of the present start tag, names in lower case and values decoded.
func (z *scanner) attributes(yield func(name, value string) bool) {
	rest := z.attrs
	for {
		name, value, more, ok := nextAttr(rest)
		if !ok || !yield(strings.ToLower(name), html.UnescapeString(value)) {
			return
		}
		rest = more
	}
}

// nextAttr reads one attribute from the inside of a tag (HTML §13.2.5.32 to 39). At the end of the tag it gives false, and
// what is left begins with > or is empty.
func nextAttr(s string) (name, value, rest string, ok bool) {
	i := 0
	for i < len(s) && (isTagSpace(s[i]) || s[i] == '/') {
		i++
	}
	if s = s[i:]; s == "" || s[0] == '>' {
		return "", "", s, false
	}
	for i = 1; i < len(s) && !isTagSpace(s[i]) && s[i] != '/' && s[i] != '>' && s[i] != '='; {
		i++
	}
	name, s = s[:i], strings.TrimLeft(s[i:], " \t\n\f\r")
	if s == "" || s[0] != '=' {
		return name, "", s, true
	}
	s = strings.TrimLeft(s[1:], " \t\n\f\r")
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return name, value, rest, true
	}
	i = 0
	for i < len(s) && !isTagSpace(s[i]) && s[i] != '>' {
		i++
	}
	return name, s[:i], s[i:], true
}

// rawText takes what comes before the end tag of the raw element, or all if there is none.
func (z *scanner) rawText() {
	name := z.raw
	z.raw = ""
	for i := 0; ; i += len("</") {
		j := strings.Index(z.src[i:], "</")
		if j < 0 || name == "plaintext" {
			z.kind, z.text, z.src = textToken, z.src, ""
			return
		}
		i += j
		after := z.src[i+len("</"):]
		if len(after) > len(name) && strings.EqualFold(after[:len(name)], name) &&
			(isTagSpace(after[len(name)]) || after[len(name)] == '/' || after[len(name)] == '>') {
			z.kind, z.text, z.src = textToken, z.src[:i], z.src[i:]
			return
		}
	}
}

// isRaw are the elements whose content is text up to their end tag.
var isRaw = set("iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp")

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isTagSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

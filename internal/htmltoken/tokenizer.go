// Package htmltoken splits HTML into texts and tags as browsers do (HTML §13.2.5). It is for reading what a mail says and where
// its links lead. What is safe to show is decided on the tree of package sanitize.
package htmltoken

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens. Comments, declarations and processing instructions are left out.
const (
	Text Kind = iota
	StartTag
	EndTag
)

// maxAttrs bounds the attributes of one tag that are kept. The tokenizer skips further ones.
const maxAttrs = 256

// Tokenizer reads tokens one after the other. Its time is proportional to the length of the source, and it does not copy: its
// strings are parts of the source, except for names that are not in lower case. The zero value has reached its end.
type Tokenizer struct {
	Kind        Kind
	Text        string // of a Text: the source, character references not decoded
	Name        string // of a tag, in lower case
	Attrs       []Attr // of a tag, valid until the next call of Next, Skip or Reset; a name may occur twice, and the first one counts
	SelfClosing bool   // the tag ends with "/>"

	size  int // octets of the source
	begin int // octets of it from the present token on

	src string // what is still to be read
	raw string // the element that has just begun, if only its own end tag ends the text in it
}

// New returns a tokenizer for src.
func New(src string) *Tokenizer {
	return &Tokenizer{Attrs: make([]Attr, 0, 8), size: len(src), src: src}
}

// Reset makes z read src from its start, with the memory that it has.
func (z *Tokenizer) Reset(src string) {
	*z = Tokenizer{Attrs: z.Attrs[:0], size: len(src), src: src}
}

// Offset returns the index in the source at which the present token begins.
func (z *Tokenizer) Offset() int { return z.size - z.begin }

// Rest returns the source that Next has not read yet. It is empty where the content of a raw text element begins.
func (z *Tokenizer) Rest() string {
	if z.raw != "" {
		return ""
	}
	return z.src
}

// Skip skips the first n bytes of Rest, which must be whole tokens that the caller knows, and no start tag of a raw text element.
func (z *Tokenizer) Skip(n int) { z.src = z.src[n:] }

// NotRaw makes z read the content of the raw text element that has just begun as markup. Browsers that run no scripts, and mail
// programs, read noscript so.
func (z *Tokenizer) NotRaw() { z.raw = "" }

// Next reads the next token. It returns false at the end. A tag that does not end is dropped, as in browsers.
func (z *Tokenizer) Next() bool {
	z.begin = len(z.src)
	if z.raw != "" {
		n := rawLength(z.src, z.raw)
		z.Kind, z.Text, z.src, z.raw = Text, z.src[:n], z.src[n:], ""
		if n > 0 {
			return true
		}
	}
	for ; z.src != ""; z.begin = len(z.src) {
		n := textLength(z.src)
		switch {
		case n > 0:
			z.Kind, z.Text, z.src = Text, z.src[:n], z.src[n:]
			return true
		case isLetter(z.src[1]):
			return z.tag(StartTag, 1)
		case z.src[1] == '/' && isLetter(z.src[2]):
			return z.tag(EndTag, 2)
		case strings.HasPrefix(z.src, "<!--"):
			z.src = z.src[commentLength(z.src):]
		default:
			z.src = z.src[through(z.src, '>'):]
		}
	}
	return false
}

// textLength returns the length of the text that s begins with, up to a < that begins a tag or a comment.
func textLength(s string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '<')
		if n < 0 || i+n+1 == len(s) {
			return len(s)
		}
		i += n
		switch c := s[i+1]; {
		case isLetter(c), c == '!', c == '?', c == '/' && i+2 < len(s):
			return i
		}
	}
}

// commentLength returns the length of the comment that s begins with (HTML §13.2.5.43 to 52). A comment without an end extends to the end of s.
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

// through returns the length of s up to and including the first c, or len(s) if s does not contain c.
func through(s string, c byte) int {
	if i := strings.IndexByte(s, c); i >= 0 {
		return i + 1
	}
	return len(s)
}

// rawLength returns the length of the text that s begins with, up to the end tag of the raw text element called name (such as
// style, whose text contains no tags), or len(s) if there is none.
func rawLength(s, name string) int {
	switch name {
	case "plaintext":
		return len(s)
	case "script":
		return scriptLength(s)
	}
	for i := 0; ; i += len("</") {
		n := strings.Index(s[i:], "</")
		if n < 0 {
			return len(s)
		}
		i += n
		if isTag(s[i:], "</", name) {
			return i
		}
	}
}

// scriptLength returns the length of the text before the end tag of a script (HTML §13.2.5.15 to 31). Between <!-- and --> a
// script may hold another one, whose end tag does not end it.
func scriptLength(s string) int {
	comment, nested := false, false
	for i := 0; ; i++ {
		n := strings.IndexAny(s[i:], "<-")
		if n < 0 {
			return len(s)
		}
		i += n
		switch rest := s[i:]; {
		case isTag(rest, "</", "script"):
			if !nested {
				return i
			}
			nested = false
		case strings.HasPrefix(rest, "<!--"):
			comment = true // its hyphens may be those of the end, as in <!-->
		case comment && strings.HasPrefix(rest, "-->"):
			comment, nested = false, false
		case comment && isTag(rest, "<", "script"):
			nested = true
		}
	}
}

// isTag reports whether s begins with the opening of a tag and, in any case of letters, the whole of its name.
func isTag(s, opening, name string) bool {
	after, ok := strings.CutPrefix(s, opening)
	return ok && len(after) > len(name) && strings.EqualFold(after[:len(name)], name) && bytesIn[after[len(name)]]&endsName != 0
}

// isRawText reports whether the content of an element is text up to its own end tag, whatever it looks like.
func isRawText(name string) bool {
	switch name {
	case "iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp":
		return true
	}
	return false
}

// tag reads the tag whose name begins at i.
func (z *Tokenizer) tag(kind Kind, i int) bool {
	src, seen := z.src, byte(0)
	start := i
	for i < len(src) && bytesIn[src[i]]&endsName == 0 {
		seen |= bytesIn[src[i]]
		i++
	}
	z.Kind, z.Name, z.Attrs, z.SelfClosing = kind, lower(src[start:i], seen), z.Attrs[:0], false
	for i < len(src) {
		switch c := src[i]; {
		case c == '>':
			if z.src = src[i+1:]; kind == StartTag && isRawText(z.Name) {
				z.raw = z.Name
			}
			return true
		case c == '/':
			i++
			z.SelfClosing = i < len(src) && src[i] == '>'
		case bytesIn[c]&isSpace != 0:
			i++
		default:
			i = z.attr(i)
		}
	}
	z.src = ""
	return false
}

// attr reads the attribute whose name begins at i, and returns where it ends (HTML §13.2.5.32 to 39).
func (z *Tokenizer) attr(i int) int {
	src, start := z.src, i
	seen := bytesIn[src[i]] // even if it is a =
	for i++; i < len(src) && bytesIn[src[i]]&endsKey == 0; i++ {
		seen |= bytesIn[src[i]]
	}
	a := Attr{Name: lower(src[start:i], seen)}
	i = skipSpace(src, i)
	if i < len(src) && src[i] == '=' {
		i = skipSpace(src, i+1)
		a.Source, i = attrValue(src, i)
	}
	if len(z.Attrs) < maxAttrs {
		z.Attrs = append(z.Attrs, a)
	}
	return i
}

// attrValue returns the value that begins at i, and where it ends.
func attrValue(src string, i int) (value string, end int) {
	if i < len(src) && (src[i] == '"' || src[i] == '\'') {
		n := strings.IndexByte(src[i+1:], src[i])
		if n < 0 {
			return "", len(src)
		}
		return src[i+1 : i+1+n], i + n + 2
	}
	for end = i; end < len(src) && src[end] != '>' && bytesIn[src[end]]&isSpace == 0; {
		end++
	}
	return src[i:end], end
}

func skipSpace(s string, i int) int {
	for i < len(s) && bytesIn[s[i]]&isSpace != 0 {
		i++
	}
	return i
}

// The kinds of bytes within a tag. A byte may be of several kinds.
const (
	isSpace  = 1 << iota
	endsName // ends the name of an element
	endsKey  // ends the name of an attribute
	isUpper
)

var bytesIn = func() (t [256]byte) {
	for c := byte('A'); c <= 'Z'; c++ {
		t[c] = isUpper
	}
	for _, c := range []byte(" \t\n\f\r") {
		t[c] = isSpace | endsName | endsKey
	}
	t['/'], t['>'], t['='] = endsName|endsKey, endsName|endsKey, endsKey
	return t
}()

// lower returns a name of which seen are the kinds of its bytes, with its ASCII letters in lower case. It does not allocate for
// names of HTML.
func lower(name string, seen byte) string {
	if seen&isUpper == 0 {
		return name
	}
	var room [32]byte
	b := append(room[:0], name...)
	for i, c := range b {
		if bytesIn[c]&isUpper != 0 {
			b[i] = c | 0x20
		}
	}
	return atom.String(b)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

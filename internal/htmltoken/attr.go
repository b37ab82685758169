package htmltoken

import (
	"strings"

	"golang.org/x/net/html"
)

// Attr is an attribute of a tag.
type Attr struct {
	Name   string // in lower case
	Source string // the value as it stands in the source, without its quotes
}

// Attr returns the value of the first attribute of the present tag with a name in lower case.
func (z *Tokenizer) Attr(name string) (value string, ok bool) {
	for _, a := range z.Attrs {
		if a.Name == name {
			return a.Value(), true
		}
	}
	return "", false
}

// Value returns the value with its character references decoded.
func (a Attr) Value() string { return UnescapeValue(a.Source) }

// UnescapeValue decodes the character references in the source of an attribute's value. One that has no semicolon and that a
// letter, a digit or = follows is none there (HTML §13.2.5.73), so that addresses keep their parameters: "?a=1&copy=2".
func UnescapeValue(s string) string {
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	var out strings.Builder
	for ; at >= 0; at = strings.IndexByte(s, '&') {
		out.WriteString(s[:at])
		s = s[at:]
		n := referenceLength(s)
		out.WriteString(reference(s[:n], s[n:]))
		s = s[n:]
	}
	out.WriteString(s)
	return out.String()
}

// referenceLength returns the length of what may be a character reference at the start of s: the &, and the letters and digits
// and the semicolon after it.
func referenceLength(s string) int {
	i := 1
	if i < len(s) && s[i] == '#' {
		i++
	}
	for i < len(s) && isAlnum(s[i]) {
		i++
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return i
}

// reference decodes s, which may be a character reference in the value of an attribute; after is the rest of the value. It
// returns s unchanged if s is not one (HTML §13.2.5.73).
func reference(s, after string) string {
	if len(s) > 1 && s[1] == '#' {
		return html.UnescapeString(s)
	}
	decoded := html.UnescapeString(s)
	last := decoded[len(decoded)-1]
	switch {
	case s == "&semi;":
	case last == ';', isAlnum(last), strings.HasPrefix(after, "=") && !strings.HasSuffix(s, ";"):
		return s // no reference, or only its first letters are one
	}
	return decoded
}

func isAlnum(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

// Package css splits style sheets and inline styles into rules, declarations and selectors (CSS Syntax Module Level 3). It judges neither
// properties nor values. Its time is linear, apart from brackets, whose depth it bounds.
package css

import "strings"

// maxBrackets is how deep brackets may be nested in a style sheet.
const maxBrackets = 32

// TokenEnd returns the index behind the token of css that begins at i. Only what can hide a bracket, a semicolon or a
// comma is one token: a comment, a string, an escape, a url() without quotes (CSS Syntax Module Level 3 §4.3). Any other
// byte is a token of its own.
func TokenEnd(css string, i int) int {
	switch c := css[i]; {
	case c == '/' && strings.HasPrefix(css[i:], "/*"):
		if n := strings.Index(css[i+2:], "*/"); n >= 0 {
			return i + 2 + n + 2
		}
		return len(css)
	case c == '"' || c == '\'':
		return stringEnd(css, i)
	case c == '\\':
		return min(i+2, len(css))
	case c == 'u' || c == 'U':
		return urlEnd(css, i)
	}
	return i + 1
}

// stringEnd returns the index behind the string that begins at i. A line end that is not escaped ends it as well.
func stringEnd(css string, i int) int {
	for j := i + 1; j < len(css); j++ {
		switch css[j] {
		case css[i], '\n', '\r', '\f':
			return j + 1
		case '\\':
			j++
		}
	}
	return len(css)
}

// urlEnd returns the index behind the url() without quotes that begins at i, or behind the one byte if there is none.
func urlEnd(css string, i int) int {
	const name = "url("
	if len(css) < i+len(name) || !strings.EqualFold(css[i:i+len(name)], name) || i > 0 && isNameByte(css[i-1]) {
		return i + 1
	}
	j := i + len(name)
	for j < len(css) && IsSpace(css[j]) {
		j++
	}
	if j < len(css) && (css[j] == '"' || css[j] == '\'') {
		return i + 1 // an ordinary function whose argument is a string
	}
	for ; j < len(css); j++ {
		switch css[j] {
		case ')':
			return j + 1
		case '\\':
			j++
		}
	}
	return len(css)
}

// IndexOutside returns the index of the first byte of css, from i on, that is one of stops and in no string, comment or
// bracket; len(css) if there is none, or if brackets are nested too deep.
func IndexOutside(css string, i int, stops string) int {
	var closers [maxBrackets]byte // what the open brackets are closed by, the innermost last
	open := 0
	for i < len(css) {
		c := css[i]
		switch {
		case open == 0 && strings.IndexByte(stops, c) >= 0:
			return i
		case open > 0 && c == closers[open-1]: //nolint:gosec // open is at most maxBrackets, as checked below
			open--
			i++
		case c == '(' || c == '[' || c == '{':
			if open == maxBrackets {
				return len(css)
			}
			closers[open] = closing(c)
			open++
			i++
		default:
			i = TokenEnd(css, i)
		}
	}
	return len(css)
}

func closing(bracket byte) byte {
	if bracket == '(' {
		return ')'
	}
	return bracket + 2 // in ASCII [ and ], { and }
}

// SplitOutside cuts css at each sep that is in no string, comment or bracket.
func SplitOutside(css, sep string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for start := 0; ; {
			end := IndexOutside(css, start, sep)
			if !yield(css[start:end]) || end == len(css) {
				return
			}
			start = end + 1
		}
	}
}

// RuleStart returns the index from i on where a rule begins: behind white space, comments, and the marks of an HTML
// comment around a style sheet.
func RuleStart(css string, i int) int {
	for i < len(css) {
		switch rest := css[i:]; {
		case IsSpace(css[i]):
			i++
		case strings.HasPrefix(rest, "/*"):
			i = TokenEnd(css, i)
		case strings.HasPrefix(rest, "<!--"):
			i += len("<!--")
		case strings.HasPrefix(rest, "-->"):
			i += len("-->")
		default:
			return i
		}
	}
	return i
}

// Identifier cuts the name that s begins with, "" if there is none. Names with escapes are not understood.
func Identifier(s string) (name, rest string) {
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	first := strings.TrimPrefix(s[:n], "-")
	if first == "" || '0' <= first[0] && first[0] <= '9' {
		return "", s
	}
	return s[:n], s[n:]
}

func isNameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

// IsSpace reports whether c is white space of CSS.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// WithoutComments replaces each comment with a space. A comment without an end hides everything after it, as in CSS.
func WithoutComments(v string) string {
	if !strings.Contains(v, "/*") {
		return v
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(v, "/*")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		if _, v, found = strings.Cut(rest, "*/"); !found {
			return out.String()
		}
		out.WriteByte(' ')
	}
}

// Declarations cuts at the semicolons that are in no string and no brackets.
func Declarations(v string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, depth, quote := 0, 0, byte(0)
		for i := 0; i < len(v); i++ {
			switch c := v[i]; {
			case c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '(' || c == '{' || c == '[':
				depth++
			case c == ')' || c == '}' || c == ']':
				depth = max(0, depth-1)
			case c == ';' && depth == 0:
				if !yield(v[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(v[start:])
	}
}

// CutImportant cuts the !important that a value ends with.
func CutImportant(v string) (value string, important bool) {
	i := strings.LastIndexByte(v, '!')
	if i < 0 || !strings.EqualFold(strings.TrimSpace(v[i+1:]), "important") {
		return v, false
	}
	return strings.TrimRight(v[:i], " "), true
}

// Space has the white space of CSS.
const Space = " \t\n\r\f"

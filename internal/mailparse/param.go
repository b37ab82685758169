package mailparse

import (
	"slices"
	"strings"
)

// param is one parameter of a MIME field, or one piece of it (RFC 2231 §3): attribute*index*=value.
type param struct {
	name     string // lower case
	value    string // unquoted
	index    int    // of a continuation, else 0
	piece    bool   // has an index
	extended bool   // percent-encoded (RFC 2231 §4), the first piece with charset and language
}

// params are the parameters of a field, in order. Of two with the same name the first counts.
type params []param

// The characters that separate the pieces of a MIME field.
const (
	blank = 1 << iota // space and tab
	semicolon
	comma
	equals
	parenthesis // the opening one
	quote
	apostrophe
)

// separators has the bits of each character. It is never changed.
var separators = [256]uint8{' ': blank, '\t': blank, ';': semicolon, ',': comma, '=': equals, '(': parenthesis, '"': quote, '\'': apostrophe}

// indexOf returns the index of the first of some separators in s, or -1.
func indexOf(s string, set uint8) int {
	for i := range len(s) {
		if separators[s[i]]&set != 0 {
			return i
		}
	}
	return -1
}

// trimLeft removes separators at the front of s.
func trimLeft(s string, set uint8) string {
	for len(s) > 0 && separators[s[0]]&set != 0 {
		s = s[1:]
	}
	return s
}

// trimRight removes separators at the end of s.
func trimRight(s string, set uint8) string {
	for len(s) > 0 && separators[s[len(s)-1]]&set != 0 {
		s = s[:len(s)-1]
	}
	return s
}

// parseParams splits a MIME field into its value, in lower case, and its parameters, which it appends to ps.
func parseParams(s string, ps params) (string, params) {
	s = stripComment(s)
	i := indexOf(s, semicolon|blank|parenthesis)
	if i < 0 {
		return strings.ToLower(s), nil
	}
	value := strings.ToLower(s[:i])
	l := paramLexer{s: s[i:]}
	for len(ps) < maxParams {
		name, v, ok := l.next()
		if !ok {
			break
		}
		ps = append(ps, newParam(name, v))
	}
	return value, ps
}

// newParam parses the index and the star of a parameter's name (RFC 2231 §3, §4).
func newParam(name, value string) param {
	p := param{name: strings.ToLower(name), value: value}
	if strings.HasSuffix(p.name, "*") {
		p.extended = true
		p.name = p.name[:len(p.name)-1]
	}
	star := strings.LastIndexByte(p.name, '*')
	if star < 0 {
		return p
	}
	n := 0
	for _, c := range []byte(p.name[star+1:]) {
		if c < '0' || c > '9' || n > maxParams {
			return p
		}
		n = n*10 + int(c-'0')
	}
	p.name, p.index, p.piece = p.name[:star], n, true
	return p
}

// token returns a parameter that is a token: charset, boundary, format. White space ends it unless it was quoted.
func (ps params) token(name string) string {
	return strings.TrimSpace(ps.text(name, ""))
}

// text returns the decoded value of a parameter, the RFC 2231 form before the plain one, as senders that give both
// mean it. A plain value may hold encoded words, which RFC 2047 §5 forbids and most senders write.
func (ps params) text(name, charset string) string {
	var pieces []param
	plain, found := "", false
	for _, p := range ps {
		switch {
		case p.name != name:
		case p.piece || p.extended:
			pieces = append(pieces, p)
		case !found:
			plain, found = p.value, true
		}
	}
	if len(pieces) > 0 {
		return joinPieces(pieces, charset)
	}
	return decodeHeader(plain, charset)
}

// joinPieces joins the pieces of a value in the order of their indexes, gaps or not; of two with the same index the
// first counts.
func joinPieces(pieces []param, charset string) string {
	slices.SortStableFunc(pieces, func(a, b param) int { return a.index - b.index })
	var data []byte
	label := charset
	encoded := false
	last := -1
	for _, p := range pieces {
		if p.index == last {
			continue
		}
		v := p.value
		if last < 0 && p.extended {
			if first, rest, ok := strings.Cut(v, "'"); ok {
				if _, text, ok := strings.Cut(rest, "'"); ok {
					label, v = first, text
				}
			}
		}
		last = p.index
		if p.extended {
			data = appendPercent(data, v)
			encoded = true
		} else {
			data = append(data, v...)
		}
	}
	if !encoded {
		return decodeHeader(string(data), charset)
	}
	return printable(string(toUTF8(data, label, 3*len(data))))
}

// appendPercent decodes percent encoding; a percent sign that no two hex digits follow stands for itself.
func appendPercent(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if b, ok := unhex(s[i+1], s[i+2]); ok {
				c = b
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// paramLexer splits the parameters from the text after a MIME field's value.
type paramLexer struct {
	s       string
	unquote bool // an unbalanced quote was seen: quotes mean nothing from here on
}

// next returns the next name=value; ok is false at the end. Text without an equals sign is skipped.
func (l *paramLexer) next() (name, value string, ok bool) {
	for {
		l.s = trimLeft(l.s, semicolon|blank)
		if l.s == "" {
			return "", "", false
		}
		i := indexOf(l.s, equals|semicolon|parenthesis)
		if i < 0 {
			return "", "", false
		}
		name = trimRight(l.s[:i], blank)
		sep := l.s[i]
		l.s = l.s[i+1:]
		switch sep {
		case '=':
			if sp := max(strings.LastIndexByte(name, ' '), strings.LastIndexByte(name, '\t')); sp >= 0 { // a word that belongs to nothing
				name = name[sp+1:]
			}
			return name, l.value(name), true
		case '(':
			l.skipComment()
		}
	}
}

// skipComment skips a comment; one that nothing closes extends to the end.
func (l *paramLexer) skipComment() {
	_, l.s, _ = strings.Cut(l.s, ")")
}

// value reads the value of a parameter, up to the semicolon.
func (l *paramLexer) value(name string) string {
	l.s = trimLeft(l.s, blank)
	if strings.HasPrefix(l.s, `"`) && !l.unquote {
		if v, rest, ok := cutQuoted(l.s[1:]); ok {
			l.s = rest
			return v
		}
		l.unquote = true
	}
	v := l.s
	if i := strings.IndexByte(v, ';'); i >= 0 {
		v = v[:i]
	}
	if !isFileName(name) { // a name may hold spaces though it is not quoted; nothing else does
		if i := indexOf(v, blank); i >= 0 {
			v = v[:i]
		}
	}
	l.s = l.s[len(v):]
	return trimLeft(trimRight(v, quote|blank), quote|blank)
}

// isFileName reports whether a parameter is a file name.
func isFileName(name string) bool {
	base, _, _ := strings.Cut(name, "*")
	return strings.EqualFold(base, "name") || strings.EqualFold(base, "filename")
}

// cutQuoted reads a quoted string whose opening quote has been read. A backslash escapes only a quote or another
// backslash: senders put Windows paths into file names as they are. ok is false if the closing quote is missing.
func cutQuoted(s string) (value, rest string, ok bool) {
	var b []byte
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if b == nil {
				return s[start:i], s[i+1:], true
			}
			return string(append(b, s[start:i]...)), s[i+1:], true
		case '\\':
			if i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
				b = append(b, s[start:i]...)
				i++
				start = i
			}
		}
	}
	return "", s, false
}

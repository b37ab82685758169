package sanitize

import (
	"strings"
	"unicode"
)

// maxStyle is the longest style attribute that is read or written, in bytes.
const maxStyle = 8 << 10

// functions are those a value may call: colours by number, nothing that loads, computes or refers to something else.
var functions = set("rgb", "rgba", "hsl", "hsla")

// declaration is a property of the list with a value that styleValue accepted.
type declaration struct {
	name      string
	value     string // without !important
	important bool
	longhands longhands
}

// write appends the declaration to out, after a semicolon where something is before it.
func (d declaration) write(out *strings.Builder, important bool) {
	if out.Len() > 0 {
		out.WriteByte(';')
	}
	out.WriteString(d.name)
	out.WriteByte(':')
	out.WriteString(d.value)
	if important {
		out.WriteString(" !important")
	}
}

// style keeps the declarations of an inline style that are on the list, in a form that can be read in one way only.
// Values are not judged by whether they make sense.
func style(v string) (string, bool) {
	if len(v) > maxStyle {
		return "", false
	}
	var out strings.Builder
	for text := range declarations(withoutComments(v)) {
		if d, ok := parseDeclaration(text); ok {
			d.write(&out, d.important)
		}
	}
	return out.String(), out.Len() > 0
}

// parseDeclaration reads "name: value", and reports false for what may not stay.
func parseDeclaration(text string) (declaration, bool) {
	name, val, ok := strings.Cut(text, ":")
	name = strings.ToLower(strings.TrimSpace(name))
	hands, listed := properties[name]
	if !ok || !listed {
		return declaration{}, false
	}
	val, important, ok := styleValue(val)
	if !ok || strings.HasPrefix(name, "margin") && hasNegative(val) {
		return declaration{}, false // a negative margin could lay the mail over what is around it
	}
	return declaration{name, val, important, hands}, true
}

// withoutComments replaces each comment with a space. A comment without an end hides everything after it, as in CSS.
func withoutComments(v string) string {
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

// declarations cuts at the semicolons that are in no string and no brackets.
func declarations(v string) func(yield func(string) bool) {
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

// styleValue checks the value of a declaration character by character and collapses its white space. Escapes are
// refused, since they hide what a browser will read, and so is every call of a function that is not listed.
func styleValue(v string) (value string, important, ok bool) {
	v, important = cutImportant(strings.Join(strings.Fields(v), " "))
	if v == "" || strings.Contains(strings.ToLower(v), "expression") || strings.Contains(v, "//") { // no property takes two slashes
		return "", false, false
	}
	word, inCall := 0, false // where the current word began; whether a function's parentheses are open
	var quote rune
	for i, r := range v {
		switch {
		case quote != 0 && r == quote:
			quote, word = 0, i+1
		case isWord(r):
			continue
		case quote != 0:
			if r != ' ' && r != ',' {
				return "", false, false
			}
			continue
		case r == '"' || r == '\'':
			quote = r
		case r == '(':
			if inCall || !functions[strings.ToLower(v[word:i])] {
				return "", false, false
			}
			inCall, word = true, i+1
		case r == ')':
			if !inCall {
				return "", false, false
			}
			inCall, word = false, i+1
		case r == ' ' || r == ',' || r == '/':
			word = i + 1
		default:
			return "", false, false
		}
	}
	return v, important, quote == 0 && !inCall
}

// isWord reports whether r may be part of a name or a number.
func isWord(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return true
	case r < 0x80:
		return strings.ContainsRune("-_.%#+", r)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func cutImportant(v string) (value string, important bool) {
	i := strings.LastIndexByte(v, '!')
	if i < 0 || !strings.EqualFold(strings.TrimSpace(v[i+1:]), "important") {
		return v, false
	}
	return strings.TrimRight(v[:i], " "), true
}

func hasNegative(v string) bool {
	return strings.HasPrefix(v, "-") || strings.Contains(v, " -")
}

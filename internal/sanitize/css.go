package sanitize

import (
	"strings"
	"unicode"
)

// maxStyle is the longest style attribute that is read, in bytes.
const maxStyle = 8 << 10

// properties are those that may stay in an inline style. None of them loads anything with the values that pass
// styleValue, and none takes an element out of its place.
var properties = set("background", "background-color", "border", "border-bottom", "border-bottom-color",
	"border-bottom-left-radius", "border-bottom-right-radius", "border-bottom-style", "border-bottom-width",
	"border-collapse", "border-color", "border-left", "border-left-color", "border-left-style", "border-left-width",
	"border-radius", "border-right", "border-right-color", "border-right-style", "border-right-width", "border-spacing",
	"border-style", "border-top", "border-top-color", "border-top-left-radius", "border-top-right-radius",
	"border-top-style", "border-top-width", "border-width", "box-sizing", "caption-side", "clear", "color", "direction",
	"display", "empty-cells", "float", "font", "font-family", "font-size", "font-style", "font-variant", "font-weight",
	"height", "letter-spacing", "line-height", "list-style", "list-style-position", "list-style-type", "margin",
	"margin-bottom", "margin-left", "margin-right", "margin-top", "max-height", "max-width", "min-height", "min-width",
	"opacity", "overflow", "overflow-wrap", "padding", "padding-bottom", "padding-left", "padding-right", "padding-top",
	"table-layout", "text-align", "text-decoration", "text-decoration-color", "text-decoration-line",
	"text-decoration-style", "text-indent", "text-overflow", "text-transform", "vertical-align", "visibility",
	"white-space", "width", "word-break", "word-spacing", "word-wrap")

// functions are those a value may call: colours by number, nothing that loads, computes or refers to something else.
var functions = set("rgb", "rgba", "hsl", "hsla")

// style keeps the declarations of an inline style that are on the list, in a form that can be read in one way only.
// Values are not judged by whether they make sense.
func style(v string) (string, bool) {
	if len(v) > maxStyle {
		return "", false
	}
	var out strings.Builder
	for decl := range declarations(withoutComments(v)) {
		name, val, ok := strings.Cut(decl, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || !properties[name] {
			continue
		}
		val, ok = styleValue(val)
		if !ok || strings.HasPrefix(name, "margin") && hasNegative(val) {
			continue // a negative margin could lay the mail over what is around it
		}
		if out.Len() > 0 {
			out.WriteByte(';')
		}
		out.WriteString(name)
		out.WriteByte(':')
		out.WriteString(val)
	}
	return out.String(), out.Len() > 0
}

// withoutComments puts a space for each comment, and ends the style where one does not end.
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

// declarations cuts at the semicolons that are in no string and no parentheses.
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
			case c == '(':
				depth++
			case c == ')':
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
func styleValue(v string) (string, bool) {
	v, important := cutImportant(strings.Join(strings.Fields(v), " "))
	if v == "" {
		return "", false
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
				return "", false
			}
			continue
		case r == '"' || r == '\'':
			quote = r
		case r == '(':
			if inCall || !functions[strings.ToLower(v[word:i])] {
				return "", false
			}
			inCall, word = true, i+1
		case r == ')':
			if !inCall {
				return "", false
			}
			inCall, word = false, i+1
		case r == ' ' || r == ',' || r == '/':
			word = i + 1
		default:
			return "", false
		}
	}
	return v + important, quote == 0 && !inCall
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

func cutImportant(v string) (value, important string) {
	i := strings.LastIndexByte(v, '!')
	if i < 0 || !strings.EqualFold(strings.TrimSpace(v[i+1:]), "important") {
		return v, ""
	}
	return strings.TrimRight(v[:i], " "), " !important"
}

func hasNegative(v string) bool {
	return strings.HasPrefix(v, "-") || strings.Contains(v, " -")
}

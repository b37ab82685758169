package sanitize

import (
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/css"
)

// maxStyle is the longest style attribute that is read or written, in bytes.
const maxStyle = 8 << 10

// functions are those a value may call: colours by number, nothing that loads, computes or refers to something else.
var functions = set("rgb", "rgba", "hsl", "hsla")

// gradients are functions that draw an image of colours, which they may name by calls of functions.
var gradients = set("linear-gradient", "radial-gradient")

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
	for text := range css.Declarations(css.WithoutComments(v)) {
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
	val, important, ok := propertyValue(name, val)
	if !ok || strings.HasPrefix(name, "margin") && hasNegative(val) {
		return declaration{}, false // a negative margin could lay the mail over what is around it
	}
	return declaration{name, val, important, hands}, true
}

// propertyValue is styleValue for the value of a property, which may have an image if it is that of a background.
func propertyValue(name, val string) (value string, important, ok bool) {
	rest, image := val, ""
	if name == "background" || name == "background-image" {
		rest, image, _ = cutImage(val)
	}
	if image == "" {
		return styleValue(val)
	}
	if rest, important = css.CutImportant(strings.Join(strings.Fields(rest), " ")); rest != "" {
		if rest, _, ok = styleValue(rest); !ok || name == "background-image" && !isGradient(rest) {
			return "", false, false
		}
		rest = " " + rest
	}
	return `url("` + image + `")` + rest, important, true
}

// styleValue checks the value of a declaration character by character and collapses its white space. Escapes are
// refused, since they hide what a browser will read, and so is every call of a function that is not listed.
func styleValue(v string) (value string, important, ok bool) {
	v, important = css.CutImportant(strings.Join(strings.Fields(v), " "))
	if v == "" || strings.Contains(strings.ToLower(v), "expression") || strings.Contains(v, "//") { // no property takes two slashes
		return "", false, false
	}
	word, inCall, inGradient := 0, false, false // where the current word began; whether the parentheses of a function or a gradient are open
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
			name := strings.ToLower(v[word:i])
			switch {
			case inCall:
				return "", false, false
			case functions[name]:
				inCall = true
			case gradients[name] && !inGradient:
				inGradient = true
			default:
				return "", false, false
			}
			word = i + 1
		case r == ')':
			switch {
			case inCall:
				inCall = false
			case inGradient:
				inGradient = false
			default:
				return "", false, false
			}
			word = i + 1
		case r == ' ' || r == ',' || r == '/':
			word = i + 1
		default:
			return "", false, false
		}
	}
	return v, important, quote == 0 && !inCall && !inGradient
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

func hasNegative(v string) bool {
	return strings.HasPrefix(v, "-") || strings.Contains(v, " -")
}

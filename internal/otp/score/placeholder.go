package score

import (
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// What a program writes where it has no code: the name of a field that nothing was put
// into, or of a value that is missing.

// isPlaceholder reports whether letters and digits stand for a code that is not there: in the
// brackets of a template ({{code}}, ${CODE}, %CODE%, *|CODE|*), as one letter again and
// again (XXXX-XXXX), or as a missing value or field (NULL, UNDEFINED, OTPCODE).
func (s *scanner) isPlaceholder(c *candidate) bool {
	if s.isTemplateField(c.start, c.end) {
		return true
	}
	if !c.letters {
		return false
	}
	var name [maxCode]rune
	n, same := 0, true
	for _, r := range s.low[c.start:c.end] {
		if page.IsLetter(r) && n < len(name) {
			name[n] = r
			same = same && r == name[0]
			n++
		}
	}
	return same || c.upper && isMissingValue(string(name[:n]))
}

// isMissingValue reports whether a word is what programs print for no value, or the name of a field
// for a code.
func isMissingValue(name string) bool {
	switch name {
	case "null", "nullptr", "none", "nil", "undef", "undefined", "empty", "blank", "missing", "invalid", "unknown", "false", "true",
		"error", "object", "string", "todo", "tbd", "placeholder", "example", "sample", "dummy", "test", "value", "number", "here":
		return true
	}
	for _, field := range [...]string{"code", "otp", "token", "passcode", "pin"} {
		if strings.HasSuffix(name, field) || strings.HasPrefix(name, field) && field != "pin" {
			return true
		}
	}
	return false
}

// isTemplateField reports whether the signs stand around something that a template has around the
// names of its fields.
func (s *scanner) isTemplateField(start, end int) bool {
	const far = 32 // runes of the name of a field
	from, to := start, end
	for from > 0 && start-from < far && isFieldNameRune(s.low[from-1]) {
		from--
	}
	for to < len(s.low) && to-end < far && isFieldNameRune(s.low[to]) {
		to++
	}
	before, after, outer := page.At(s.low, from-1), page.At(s.low, to), page.At(s.low, from-2)
	word := page.IsLetter(s.low[start]) // the name of a field, and no code in brackets
	switch {
	case before == '{' && after == '}':
		return word || outer == '{' || outer == '$' || outer == '#'
	case before == '|' && after == '|':
		return outer == '*'
	case before == '%' && after == '%', before == '=' && after == '%' && outer == '%':
		return true
	case before == '$':
		return word && from == start
	case before == '<' && after == '>', before == '[' && after == ']' && outer == '[':
		return from == start && to == end && !s.hasDigit(start, end)
	}
	return false
}

// hasDigit reports whether a stretch holds a digit.
func (s *scanner) hasDigit(start, end int) bool {
	return slices.ContainsFunc(s.low[start:end], page.IsDigit)
}

// isFieldNameRune reports whether r may be part of the name of a field.
func isFieldNameRune(r rune) bool {
	return page.IsAlnum(r) || r == '_' || r == '.' || r == '-' || r == ' '
}

package filter

import (
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/id"
)

// newFound returns the Found of a code that a pattern extracted. If the code has only digits, white space and dashes, Code
// has only the digits, as with the built-in extractor (docs/spec/messages.md#codes). Any other code is left unchanged.
func newFound(filter id.Filter, extracted string) *Found {
	f := &Found{Code: extracted, Display: extracted, Filter: filter}
	if digits, ok := asciiDigits(extracted); ok {
		f.Code, f.Numeric = digits, true
	}
	return f
}

// asciiDigits returns the digits of a code as ASCII digits. ok is false if the code has no digits, or anything except
// digits, white space and dashes.
func asciiDigits(code string) (digits string, ok bool) {
	var b strings.Builder
	for _, r := range code {
		d, isDigit := digitValue(r)
		switch {
		case isDigit:
			b.WriteByte('0' + d)
		case !unicode.IsSpace(r) && !unicode.Is(unicode.Pd, r):
			return "", false
		}
	}
	return b.String(), b.Len() > 0
}

// digitValue returns the value of a decimal digit of any script. In Unicode the digits of each script are a run of
// ten in ascending order, so that the value follows from the position in the table of digits.
func digitValue(r rune) (d byte, ok bool) {
	if r < unicode.MaxASCII {
		return byte(r - '0'), r >= '0' && r <= '9'
	}
	if !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	for _, run := range unicode.Nd.R16 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return byte((r - rune(run.Lo)) % 10), true
		}
	}
	for _, run := range unicode.Nd.R32 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return byte((r - rune(run.Lo)) % 10), true
		}
	}
	return 0, false
}

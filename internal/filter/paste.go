package filter

import (
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/id"
)

// found returns a code that a pattern extracted. Digits with only spaces and hyphens between them are normalized, as
// the built-in extractor does (docs/spec/messages.md#codes); anything else is left unchanged. The display form keeps
// what the mail shows.
func found(filter id.Filter, extracted string) *Found {
	f := &Found{Code: extracted, Display: extracted, Filter: filter}
	if digits, ok := digitsOf(extracted); ok {
		f.Code, f.Numeric = digits, true
	}
	return f
}

// digitsOf returns the digits of a code as ASCII, or false if it has anything but digits, white space and dashes.
func digitsOf(code string) (digits string, ok bool) {
	var b strings.Builder
	for _, r := range code {
		d, isDigit := digit(r)
		switch {
		case isDigit:
			b.WriteByte('0' + d)
		case !unicode.IsSpace(r) && !unicode.Is(unicode.Pd, r):
			return "", false
		}
	}
	return b.String(), b.Len() > 0
}

// digit returns the value of a decimal digit of any script: in Unicode they are in runs of ten. The values follow from
// the position in the run, so no table of digits is needed.
func digit(r rune) (d byte, ok bool) {
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

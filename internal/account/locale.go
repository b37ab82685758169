package account

import (
	"strings"

	"golang.org/x/text/language"

	"github.com/gonebox/gonebox/internal/problem"
)

// localeMax is the maximum length of a locale in characters, as given and in canonical form. It holds a language, a
// script and a region, such as zh-Hant-TW.
const localeMax = 10

// parseLocale parses a BCP 47 language tag of registered subtags and returns its canonical form (RFC 5646 §4.5). Error:
// request.invalid.
func parseLocale(text string) (string, error) {
	tag, err := language.Parse(text)
	if err != nil || strings.Contains(text, "_") { // the library accepts _ for a hyphen
		return "", problem.Invalid("/locale", "must be a language tag (BCP 47) such as en or vi-VN")
	}
	canonical := tag.String()
	if max(len(text), len(canonical)) > localeMax {
		return "", problem.Invalid("/locale", "must be at most %d characters long", localeMax)
	}
	return canonical, nil
}

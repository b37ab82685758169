package content

import (
	"errors"
	"strings"

	"golang.org/x/text/language"

	"github.com/gonebox/gonebox/internal/problem"
)

// Locale is a language tag (BCP 47) in its canonical form. The empty one means all locales, or any.
type Locale string

// localeMax is the maximum length of a tag in characters (RFC 5646 §4.4.1).
const localeMax = 35

// ParseLocale parses the locale of a reader: any well-formed tag, since browsers send what their users have set. Unregistered
// subtags are removed. Error: request.invalid.
func ParseLocale(text string) (Locale, error) {
	l, known, err := parse(text)
	if err == nil && !known && l == language.Und.String() {
		l = "" // no subtag is registered
	}
	return Locale(l), err
}

// publishLocale parses the locale of published content: its subtags must be registered, so that mistakes are noticed. Error: request.invalid.
func publishLocale(text string) (Locale, error) {
	l, known, err := parse(text)
	if err == nil && (!known || l == language.Und.String()) {
		return "", invalidLocale()
	}
	return Locale(l), err
}

// parse returns the canonical form of a tag. known is false if a subtag is not registered; such subtags are removed.
// Error: request.invalid for text that is not well-formed.
func parse(text string) (canonical string, known bool, err error) {
	if text == "" {
		return "", true, nil
	}
	if len(text) > localeMax || strings.Contains(text, "_") { // the library accepts _ for a hyphen
		return "", false, invalidLocale()
	}
	tag, err := language.Parse(text)
	if err == nil {
		return tag.String(), true, nil
	}
	if _, unknown := errors.AsType[language.ValueError](err); !unknown {
		return "", false, invalidLocale()
	}
	tag, _ = language.Parse(tag.String()) // the library does not canonicalize the subtags that it keeps of such a tag: xba-xca gives xba, which is cax
	return tag.String(), false, nil
}

// invalidLocale returns request.invalid for the field locale.
func invalidLocale() error {
	return problem.Invalid("/locale", "must be a language tag (BCP 47) such as en or vi-VN")
}

// chain returns a locale and its prefixes for lookup (RFC 4647 §3.4): "zh-Hant-TW", "zh-Hant", "zh". For the empty locale it
// is empty.
func (l Locale) chain() (all []Locale) {
	for l != "" {
		all = append(all, l)
		cut := max(strings.LastIndexByte(string(l), '-'), 0)
		if cut == 1 || cut > 2 && l[cut-2] == '-' {
			cut = max(cut-2, 0) // RFC 4647 §3.4: a subtag of one character is removed together with the subtag after it
		}
		l = l[:cut]
	}
	return all
}

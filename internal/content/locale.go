package content

import (
	"errors"
	"strings"

	"golang.org/x/text/language"

	"github.com/gonebox/gonebox/internal/problem"
)

// Locale is a language tag (BCP 47) in its canonical form. The empty one stands for all, or for any.
type Locale string

// localeMax bounds a tag in characters (RFC 5646 §4.4.1).
const localeMax = 35

// ParseLocale reads the locale of a reader: any well-formed tag, also one with subtags that nobody has registered, since a
// browser sends what its owner has set. What is not understood is left out. Error: request.invalid.
func ParseLocale(text string) (Locale, error) {
	l, known, err := parse(text)
	if err == nil && !known && l == language.Und.String() {
		l = "" // nothing of it was understood
	}
	return Locale(l), err
}

// publishLocale reads the locale of what is published: its subtags must be registered, so that a mistake is noticed.
// Error: request.invalid.
func publishLocale(text string) (Locale, error) {
	l, known, err := parse(text)
	if err == nil && (!known || l == language.Und.String()) {
		return "", invalidLocale()
	}
	return Locale(l), err
}

func parse(text string) (canonical string, known bool, err error) {
	if text == "" {
		return "", true, nil
	}
	if len(text) > localeMax || strings.Contains(text, "_") { // which the library takes for a hyphen
		return "", false, invalidLocale()
	}
	tag, err := language.Parse(text)
	if err == nil {
		return tag.String(), true, nil
	}
	if _, unknown := errors.AsType[language.ValueError](err); !unknown {
		return "", false, invalidLocale()
	}
	tag, _ = language.Parse(tag.String()) // the library leaves what it understood of such a tag as it was written: xba-xca gives xba, which is cax
	return tag.String(), false, nil
}

func invalidLocale() error {
	return problem.Invalid("/locale", "must be a language tag (BCP 47) such as en or vi-VN")
}

// chain is a locale, then what is left of it as its last subtags are taken away one by one (RFC 4647 §3.4): "zh-Hant-TW",
// "zh-Hant", "zh". The empty locale has none.
func (l Locale) chain() (all []Locale) {
	for l != "" {
		all = append(all, l)
		cut := max(strings.LastIndexByte(string(l), '-'), 0)
		if cut == 1 || cut > 2 && l[cut-2] == '-' {
			cut = max(cut-2, 0) // a subtag of one character belongs to the one behind it
		}
		l = l[:cut]
	}
	return all
}

package content_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/content"
	"github.com/gonebox/gonebox/internal/problem"
)

func TestAnyWellFormedLocaleIsAccepted(t *testing.T) {
	for text, want := range map[string]content.Locale{
		"": "", "en": "en", "VI-vn": "vi-VN", "zh-hant-tw": "zh-Hant-TW", "iw": "he", "en-US-u-ca-buddhist": "en-US-u-ca-buddhist",
		"en-ZZ": "en-ZZ", "en-qqzz": "en", "qq": "",
		"XBA-XCA": "cax", "xba": "cax",
	} {
		if got, err := content.ParseLocale(text); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"e", "en_US", "en-", "-en", "english!", "*", "\x00", "vi\n", strings.Repeat("a-", 20) + "a"} {
		if got, err := content.ParseLocale(text); !problem.Has(err, problem.RequestInvalid) {
			t.Errorf("%q is %q, %v, want the problem %v", text, got, err, problem.RequestInvalid)
		}
	}
}

func TestChainShortensFromTheEnd(t *testing.T) {
	for locale, want := range map[content.Locale][]content.Locale{
		"": nil, "vi": {"vi"}, "vi-VN": {"vi-VN", "vi"}, "zh-Hant-TW": {"zh-Hant-TW", "zh-Hant", "zh"},
		"en-US-u-ca-buddhist": {"en-US-u-ca-buddhist", "en-US-u-ca", "en-US", "en"}, "x-one": {"x-one"},
	} {
		if got := locale.Chain(); !slices.Equal(got, want) {
			t.Errorf("%q is cut down to %q, want %q", locale, got, want)
		}
	}
}

func FuzzParseLocale(f *testing.F) {
	for _, text := range []string{"", "en", "vi-VN", "zh-Hant-TW", "en-u-ca-buddhist", "x-a-b", "i-klingon", "en_US", "a-b-c", "XBA-XCA"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := content.ParseLocale(text)
		if err != nil {
			if !problem.Has(err, problem.RequestInvalid) || l != "" {
				t.Fatalf(`%q: content.ParseLocale(text) = %q, %v, want the problem %v and ""`, text, l, err, problem.RequestInvalid)
			}
			return
		}
		if again, err := content.ParseLocale(string(l)); err != nil || again != l {
			t.Fatalf("ParseLocale(%q) = %q, and ParseLocale of that = %q, %v, want the same again", text, l, again, err)
		}
		for _, part := range l.Chain() {
			if part == "" || !strings.HasPrefix(string(l), string(part)) {
				t.Fatalf("the locale %q is cut down to %q, want a beginning of it that is not empty", l, part)
			}
		}
	})
}

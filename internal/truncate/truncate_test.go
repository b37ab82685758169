package truncate_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/truncate"
)

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text          string
		n             int
		octets, runes string
	}{
		{"", 0, "", ""},
		{"code", 0, "", ""},
		{"code", 4, "code", "code"},
		{"code", 9, "code", "code"},
		{"code", 2, "co", "co"},
		{"übung", 1, "", "ü"},
		{"übung", 2, "ü", "üb"},
		{"日本語", 3, "日", "日本語"},
		{"日本語", 5, "日", "日本語"},
		{"日本語", 2, "", "日本"},
		{"a😀b", 4, "a", "a😀b"},
		{"\xff\xfeab", 2, "\xff\xfe", "\xff\xfe"},
	} {
		if got := truncate.Octets(c.text, c.n); got != c.octets {
			t.Errorf("Octets(%q, %d) = %q, want %q", c.text, c.n, got, c.octets)
		}
		if got := truncate.Runes(c.text, c.n); got != c.runes {
			t.Errorf("Runes(%q, %d) = %q, want %q", c.text, c.n, got, c.runes)
		}
	}
}

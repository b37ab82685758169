package wildcard_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/wildcard"
)

func FuzzPatterns(f *testing.F) {
	f.Add("a*b", "ab")
	f.Add("*@x", "y@x")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if got, want := wildcard.Match(pattern, text), slow(pattern, text); got != want {
			t.Errorf("Match(%q, %q) = %v, want %v", pattern, text, got, want)
		}
	})
}

// slow implements Match, straight from the definition of patterns, for short inputs.
func slow(pattern, text string) bool {
	row := make([]bool, len(text)+1)
	row[0] = true
	for _, p := range []byte(pattern) {
		next := make([]bool, len(row))
		for i := range row {
			switch {
			case p == '*':
				next[i] = row[i] || i > 0 && next[i-1]
			case i > 0:
				next[i] = row[i-1] && text[i-1] == p
			}
		}
		row = next
	}
	return row[len(text)]
}

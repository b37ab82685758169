package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/diagnosis"
)

func TestSimilarAddresses(t *testing.T) {
	for _, c := range []struct {
		recipient, wanted string
		want              bool
	}{
		{"ann@shop.example", "ann@shop.example", false}, // the same
		{"Ann+tag@SHOP.example", "ann@shop.example", false},
		{"anna@shop.example", "ann@shop.example", true},
		{"an@shop.example", "ann@shop.example", true},
		{"nan@shop.example", "ann@shop.example", true}, // two letters are swapped
		{"ann@shop.exmaple", "ann@shop.example", true},
		{"ann@sho.exampl", "ann@shop.example", true},
		{"ann@sho.examp", "bnn@shop.example", false},
		{"annabel@shop.example", "ann@shop.example", false},
		{"ann@other.test", "ann@shop.example", true}, // another domain
		{"ANN+x@other.test", "ann@shop.example", true},
		{"bob@other.test", "ann@shop.example", false},
		{"ünn@shop.example", "ann@shop.example", true}, // letters, not octets
		{"", "ann@shop.example", false},
		{"ann", "ann@shop.example", false},
		{strings.Repeat("a", 400) + "@shop.example", strings.Repeat("a", 401) + "@shop.example", false}, // no address is so long
	} {
		if got := diagnosis.IsSimilar(c.recipient, c.wanted); got != c.want {
			t.Errorf("IsSimilar(%.40q, %.40q) = %t, want %t", c.recipient, c.wanted, got, c.want)
		}
	}
}

// FuzzDifferByTwo compares the diagonals with the whole table of the edit distance.
func FuzzDifferByTwo(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"a", ""}, {"abc", "abc"}, {"abc", "cab"}, {"abcdef", "bcdefg"}, {"kitten", "sitting"}, {"über", "ueber"}, {"aaaa", "aa"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		a, b := []rune(first), []rune(second)
		if len(a) > 64 || len(b) > 64 {
			return
		}
		row := make([]int, len(b)+1)
		for j := range row {
			row[j] = j
		}
		for i := range a {
			diagonal := row[0]
			row[0] = i + 1
			for j := range b {
				change := diagonal
				if a[i] != b[j] {
					change++
				}
				diagonal = row[j+1]
				row[j+1] = min(change, row[j]+1, diagonal+1)
			}
		}
		if got, want := diagnosis.DifferByTwo(a, b), row[len(b)] <= 2; got != want {
			t.Errorf("DifferByTwo(%q, %q) = %t, want %t: the distance is %d", first, second, got, want, row[len(b)])
		}
	})
}

func TestIsAddress(t *testing.T) {
	for text, want := range map[string]bool{"a@b": true, "ann+x@shop.example": true, "@b": false, "a@": false, "ann": false, "a b@c": false, "": false, "<a@b>": false} {
		if got := diagnosis.IsAddress(text); got != want {
			t.Errorf("IsAddress(%q) = %t, want %t", text, got, want)
		}
	}
}

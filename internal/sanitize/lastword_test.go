package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What is known of the last word is what a search for its beginning would find, also after the end of the text was cut off.
func TestLastWordIsTheLastWord(t *testing.T) {
	type mark struct {
		at     int
		before lastWord
	}
	pieces := []string{"a", "http", ":", "/", "//", "://", "@", "word", "é", "https://x.example/"}
	random := rand.New(rand.NewPCG(3, 4))
	var w textWriter
	var marks []mark
	for range 20_000 {
		switch random.IntN(8) {
		case 0:
			w.space()
		case 1:
			w.newLine()
		case 2:
			marks = append(marks, mark{w.at(), w.look()})
		case 3:
			if n := len(marks); n > 0 {
				last := marks[n-1]
				marks = marks[:n-1]
				w.cut(last.at, last.before)
			}
		default:
			w.words(pieces[random.IntN(len(pieces))])
		}
		text := string(w.buf)
		word := text[strings.LastIndexAny(text, " \n\t")+1:]
		want := strings.Contains(word, "://") || strings.Contains(word, "@")
		if got := w.look(); got.address != want || int(got.begin) != len(text)-len(word) {
			t.Fatalf("look() behind %q = %+v, want a word that begins at %d and is an address: %v", text, got, len(text)-len(word), want)
		}
	}
}

package lexicon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// TestRememberedWords holds that a page that looks up each word anew finds what one
// does that remembers those it has had.
func TestRememberedWords(t *testing.T) {
	files, err := filepath.Glob("../testdata/corpus/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v, want at least 40", len(files), err)
	}
	again, p := 0, new(Text)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p.Read("", string(text), "")
		p.FindAll()
		want := slices.Clone(p.Marks)
		for _, m := range p.matches {
			if m.like > 0 {
				again++
			}
		}
		p.matches, p.senses, p.Marks = p.matches[:0], p.senses[:0], p.Marks[:0]
		p.votes, p.done = ballots{last: -1}, progress{district: -1, next: len(p.Low)}
		for i := 0; i < len(p.Low); i++ {
			switch end := p.LettersEnd(i); {
			case end > i:
				if !p.inHost(i, p.LettersEnd(i+1)) {
					p.lookUp(i, end)
				}
				i = end - 1
			case p.Kind[i]&page.InkBit != 0 && (p.Kind[i]&page.Digit == 0 || i == 0 || p.Kind[i-1]&(page.Spaced|page.Digit) == 0) && p.x.entry.mayBeginOther(page.Eight(p.Tags, i)):
				p.tryMatch(i)
			}
		}
		if p.FindAll(); !slices.Equal(p.Marks, want) {
			t.Errorf("%s: %d marks, %d without remembering, want Marks %v", f, len(want), len(p.Marks), want)
		}
	}
	if again < 300 {
		t.Errorf("only %d matches were had before, want at least 300", again)
	}
}

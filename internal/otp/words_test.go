package otp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRememberedWords holds that a page that looks up each word anew finds what one
// does that remembers those it has had.
func TestRememberedWords(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	again := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p := read(Mail{Text: string(text)})
		want := slices.Clone(p.marks)
		for _, m := range p.matches {
			if m.like > 0 {
				again++
			}
		}
		p.matches, p.senses, p.marks = p.matches[:0], p.senses[:0], p.marks[:0]
		for i := 0; i < len(p.low); i++ {
			switch end := p.lettersEnd(i); {
			case end > i:
				if !p.inHost(i, p.lettersEnd(i+1)) {
					p.lookUp(i, end)
				}
				i = end - 1
			case p.kind[i]&inkBit != 0 && (p.kind[i]&digit == 0 || i == 0 || p.kind[i-1]&(spaced|digit) == 0) && p.x.entry.mayOther(eight(p.tags, i)):
				p.try(i)
			}
		}
		if p.resolve(); !slices.Equal(p.marks, want) {
			t.Errorf("%s: %d marks, %d without remembering", f, len(want), len(p.marks))
		}
		p.discard()
	}
	if again < 300 {
		t.Errorf("only %d matches were had before", again)
	}
}

package lexicon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// TestEntries holds that the filter rules out no place where the trie finds a
// phrase, in any language of the corpus.
func TestEntries(t *testing.T) {
	files, err := filepath.Glob("../testdata/corpus/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v, want at least 40", len(files), err)
	}
	found, p := 0, new(Text)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p.Read("", string(text), "")
		for i := range p.Low {
			if p.Low[i] <= ' ' {
				continue
			}
			// Shorter ends of words are not looked up.
			m := match{from: i, begins: p.Boundary(i)}
			if p.longest(&m); m.node != 0 && (m.begins || p.LettersEnd(i)-i >= minHead) {
				found++
				if !p.enters(i) {
					t.Errorf("%s: enters(%d) rules out the phrase at %q, want it looked up", f, i, string(p.Low[i:min(i+8, len(p.Low))]))
				}
			}
		}
	}
	if found < 10000 {
		t.Errorf("only %d phrases, want at least 10000", found)
	}
}

// enters reports whether the filter lets a place pass.
func (p *Text) enters(i int) bool {
	e := &p.x.entry
	if p.Kind[i]&page.Spaced == 0 {
		return e.mayBeginOther(page.Eight(p.Tags, i))
	}
	start, end := p.WordStart(i), p.LettersEnd(i)
	if i == start {
		return e.mayBegin(p.Tagged(start, end-start), end-start)
	}
	least := e.minInside(p.Tagged(end-minHead, minHead), end-start)
	return least > 0 && i+least <= end && e.mayBeginInside(p.Tagged(i, 4))
}

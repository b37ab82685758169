package otp

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEntries holds that the filter rules out no place where the trie finds a
// phrase, in any language of the corpus.
func TestEntries(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	found := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p := read(Mail{Text: string(text)})
		for i := range p.low {
			if p.low[i] <= ' ' {
				continue
			}
			// Shorter ends of words are not looked up.
			m := match{from: i, begins: p.boundary(i)}
			if p.longest(&m); m.node != 0 && (m.begins || p.lettersEnd(i)-i >= minHead) {
				found++
				if !p.enters(i) {
					t.Errorf("%s: the phrase at %q is ruled out", f, string(p.low[i:min(i+8, len(p.low))]))
				}
			}
		}
		p.discard()
	}
	if found < 10000 {
		t.Errorf("only %d phrases", found)
	}
}

// enters says whether the filter lets a place pass.
func (p *page) enters(i int) bool {
	e := &p.x.entry
	if p.kind[i]&spaced == 0 {
		return e.mayOther(eight(p.tags, i))
	}
	start, end := p.wordStart(i), p.lettersEnd(i)
	if i == start {
		return e.begins(p.tagged(start, end-start), end-start)
	}
	least := e.inside(p.tagged(end-minHead, minHead), end-start)
	return least > 0 && i+least <= end && e.mayInside(p.tagged(i, 4))
}

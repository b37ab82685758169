package otp

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEntries holds that the filter rules out no place where the trie finds a
// phrase, in any language of the corpus.
func TestEntries(t *testing.T) {
	files, err := filepath.Glob("testdata/mail/*.txt")
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
			// Inside a word a phrase of two letters would be chance.
			if m, ok := p.longest(i); ok && (p.boundary(i) || m.letters > 2) {
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
	if p.boundary(i) {
		return p.may(i)
	}
	e, k := &p.x.entry, p.keys[i:i+4]
	return e.mayBe(trio(0).next(k[0]).next(k[1]).next(k[2])) && e.mayInside(k)
}

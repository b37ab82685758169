package lexicon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFindGoesOn holds that a text whose phrases are found a little at a time has the
// same marks and lines, as far as they are found, as one whose phrases are found at once.
func TestFindGoesOn(t *testing.T) {
	const step = 777
	files, err := filepath.Glob("../testdata/corpus/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	all, some := new(Text), new(Text)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Read("", string(text), "")
		all.FindAll()
		some.Read("", string(text), "")
		for place := 0; place < len(some.Low); place += step {
			some.Find(place)
			to := some.done.to
			if to <= place {
				t.Fatalf("%s: found as far as %d, and not %d", f, to, place)
			}
			marks := slices.IndexFunc(all.Marks, func(m Mark) bool { return m.Start >= to })
			if marks < 0 {
				marks = len(all.Marks)
			}
			if !slices.Equal(some.Marks, all.Marks[:marks]) {
				t.Fatalf("%s: %d marks before %d, not %d", f, len(some.Marks), to, marks)
			}
			if n := some.done.lines; !slices.Equal(some.Lines[:n], all.Lines[:n]) {
				t.Fatalf("%s: other lines before %d", f, to)
			}
		}
	}
}

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
		t.Fatalf("%d files, %v, want at least 40", len(files), err)
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
				t.Fatalf("%s: Find(%d) read as far as %d, want further", f, place, to)
			}
			marks := slices.IndexFunc(all.Marks, func(m Mark) bool { return m.Start >= to })
			if marks < 0 {
				marks = len(all.Marks)
			}
			if !slices.Equal(some.Marks, all.Marks[:marks]) {
				t.Fatalf("%s: Find found %d marks before %d, want %d as in one go", f, len(some.Marks), to, marks)
			}
			if n := some.done.lines; !slices.Equal(some.Lines[:n], all.Lines[:n]) {
				t.Fatalf("%s: Find has other lines before %d than in one go, want the same", f, to)
			}
		}
	}
}

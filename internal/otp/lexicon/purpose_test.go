package lexicon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryLanguageKnowsPurposes holds that each language says what links are for.
func TestEveryLanguageKnowsPurposes(t *testing.T) {
	files, err := filepath.Glob("*.txt")
	if err != nil || len(files) < 100 {
		t.Fatalf("Glob gives %d files and error %v, want 100 files or more", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("ReadFile(%q): %v", name, err)
		}
		for _, section := range []string{"\n[cancel]\n", "\n[invite]\n", "\n[verify]\n", "\n[signin]\n", "\n[reset]\n", "\n[unlock]\n"} {
			if name != "und.txt" && !strings.Contains(string(text), section) {
				t.Errorf("%s has no section %q, want one", name, strings.TrimSpace(section))
			}
		}
	}
}

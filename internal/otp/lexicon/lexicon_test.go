package lexicon

import "testing"

// The data files hold no phrase that cannot be read, and at least the forty
// languages that are promised.
func TestLexicons(t *testing.T) {
	x, err := build()
	if err != nil {
		t.Error(err)
	}
	if len(x.langs) < 40 || len(x.langs) > maxLangs {
		t.Errorf("%d lexicons, want 40 to %d", len(x.langs), maxLangs)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := build(); err != nil {
			b.Fatal(err)
		}
	}
}

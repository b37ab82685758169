package page

import (
	"slices"
	"testing"
	"unicode/utf8"
)

// FuzzASCII holds that runs of ASCII are written as their runes would be one
// by one.
func FuzzASCII(f *testing.F) {
	for _, s := range []string{"", " ", "a  b", "Tom & Ann`s  café ", "\u00A0 x", "1\t2 \u0301 3", "<&>", "  Ｆ ull \x7F~!"} {
		f.Add(s, len(s))
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		runs, single := &Page{Letters: Alphabets(), limit: limit}, &Page{Letters: Alphabets(), limit: limit}
		for i := 0; i < len(s) && !runs.isFull(); {
			if n, _ := runs.writeASCII(s[i:]); n > 0 {
				i += n
				continue
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			runs.write(r)
			i += n
		}
		for _, r := range s {
			if single.isFull() {
				break
			}
			single.write(r)
		}
		if !slices.Equal(runs.Raw, single.Raw) || runs.unlinked != single.unlinked {
			t.Errorf("%q: wrote %q, want %q", s, string(runs.Raw), string(single.Raw))
		}
	})
}

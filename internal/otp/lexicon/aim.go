package lexicon

import (
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/otp/page"
)

// maxAim is how long the words of a section [aim] may be, in runes.
const maxAim = 12

// AimBefore reports whether the word that ends at a place, before one space, or it and the
// one before, lead to what a code is for or to whom it was sent: "for 482913". It gives
// where they begin.
func (p *Text) AimBefore(i int) (start int, ok bool) {
	end := i - 1
	for range 2 {
		if page.At(p.Low, i-1) != ' ' || i < 2 {
			return 0, false
		}
		if start = p.WordStart(i - 2); end-start > maxAim {
			return 0, false
		}
		if p.x.isAim(p.Low[start:end]) {
			return start, true
		}
		i = start
	}
	return 0, false
}

// OwnerBehind reports whether a letter stands at a place, behind a space perhaps, that makes
// an owner of what is before it in a script without spaces: "482913 的验证码".
func (p *Text) OwnerBehind(i int) bool {
	if page.At(p.Low, i) == ' ' {
		i++
	}
	return i < len(p.Low) && p.Kind[i]&page.Dense != 0 && p.x.isAim(p.Low[i:i+1])
}

// isAim looks a word up without allocating.
func (x *lexicon) isAim(word []rune) bool {
	var buf [maxAim * utf8.UTFMax]byte
	b := buf[:0]
	for _, r := range word {
		b = utf8.AppendRune(b, r)
	}
	return x.aims[string(b)]
}

package page

import (
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/gonebox/gonebox/internal/apart"
)

// folded is the size of the table that folds runes: every alphabet with letter
// case, marks or digits of its own lies below, save full-width forms and the
// mathematical digits.
const folded = 0x3100

// Script is the class of a rune. Each is a bit of the kind of the rune.
type Script = byte

const (
	Spaced Script = 1 << iota // a letter of a script that puts spaces between words
	Dense                     // a letter of a script that does not, or glues particles on
	Digit                     // a decimal digit of any script
	Other  Script = 0         // punctuation, spaces, symbols
)

// Alphabet folds runes. It is built once and only read afterwards.
type Alphabet struct {
	low    [folded]rune // lower case, ASCII digits, one form of each letter; 0 drops the rune
	bare   [folded]rune // low without diacritics
	class  [folded]Script
	bytes  [256]byte // what they are to ascii
	glyphs glyphs
}

// Alphabets gives the one alphabet of the process, which is built on first use.
func Alphabets() *Alphabet { return alphabets() }

var alphabets = sync.OnceValue(newAlphabet)

func newAlphabet() *Alphabet {
	a := new(Alphabet)
	a.classify(unicode.L, Spaced)
	a.classify(unicode.Mn, Spaced)
	a.classify(unicode.Mc, Spaced)
	a.classify(unicode.Nd, Digit)
	for r := rune(1); r < folded; r++ {
		if a.class[r] == Spaced && apart.Dense(r) {
			a.class[r] = Dense
		}
		a.low[r] = r
		if a.class[r] == Other || r < 0x700 || unicode.IsUpper(r) || a.class[r] == Digit || r >= 0x900 && r < 0xB00 {
			a.low[r] = foldRune(r)
		}
	}
	a.bare = a.low
	for r, b := range diacritics() {
		a.bare[r] = b
	}
	for r := rune(0xC0); r < folded; r++ {
		if l := a.low[r]; l > 0 && l < folded {
			a.bare[r] = a.bare[l]
		}
	}
	a.bytes = asciiBytes()
	a.tabulate()
	return a
}

// classify gives a class to the runes of a table.
func (a *Alphabet) classify(t *unicode.RangeTable, c Script) {
	for _, span := range t.R16 {
		for r := rune(span.Lo); r <= rune(span.Hi) && r < folded; r += rune(span.Stride) {
			a.class[r] = c
		}
	}
}

// Fold gives the folded form of a rune, and 0 for one that is not to be seen.
func (a *Alphabet) Fold(r rune) rune {
	switch {
	case r >= 0 && r < folded:
		return a.low[r]
	case r >= 0xFF01 && r <= 0xFF5E: // full-width ASCII
		return a.low[r-0xFEE0]
	case r >= 0x1D7CE && r <= 0x1D7FF: // mathematical digits
		return '0' + (r-0x1D7CE)%10
	case r < 0x10000:
		if r >= 0xFE00 && r <= 0xFE0F || r == 0xFEFF || r >= 0xFFF9 && r <= 0xFFFB || r == 0x3164 || r == 0xFFA0 {
			return 0
		}
		return r
	case r >= 0xE0000 && r <= 0xE0FFF: // tags and variation selectors
		return 0
	}
	if unicode.IsDigit(r) {
		return digitOf(r)
	}
	return unicode.ToLower(r)
}

// Strip takes the diacritics off a folded rune.
func (a *Alphabet) Strip(r rune) rune {
	if r < folded {
		return a.bare[r]
	}
	return r
}

// ClassOf gives the class of a folded rune.
func (a *Alphabet) ClassOf(r rune) Script {
	if r < folded {
		return a.class[r]
	}
	return classOf(r)
}

// Plain is the rune to paste: digits and width folded, case and marks kept.
func (a *Alphabet) Plain(r rune) rune {
	f := a.Fold(r)
	switch {
	case f >= '0' && f <= '9', f == '-':
		return f
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFEE0
	}
	return r
}

func foldRune(r rune) rune {
	switch {
	case r == '\t' || r == '\v':
		return ' '
	case r == '\n' || r == '\r' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
		return '\n'
	case unicode.IsSpace(r), r == 0x2800, unicode.Is(unicode.Cc, r): // a control character ends a word, and an address
		return ' '
	case isInvisible(r):
		return 0
	case unicode.IsDigit(r):
		return digitOf(r)
	case unicode.Is(unicode.Pd, r), r == 0x2212:
		return '-'
	case r == 0x2018 || r == 0x2019 || r == 0x02BC || r == 0x02BB || r == 0x60 || r == 0xB4:
		return '\''
	}
	if f, ok := sameLetter[r]; ok {
		return f
	}
	return unicode.ToLower(r)
}

// isInvisible reports whether r is written and not seen, or marks a vowel that writers leave
// out as often as not: bidi controls, joiners, soft hyphens, Hebrew and Arabic
// points, the Indic nukta, keycaps.
func isInvisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Cf, r):
		return true
	case r >= 0x0591 && r <= 0x05C7 && r != 0x05BE && r != 0x05C0 && r != 0x05C3,
		r >= 0x064B && r <= 0x065F, r == 0x0670, r == 0x0640:
		return true
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x20E3,
		0x093C, 0x09BC, 0x0A3C:
		return true
	}
	return false
}

// sameLetter maps letters that writers use for one another onto one form.
var sameLetter = map[rune]rune{
	'ё': 'е', 'Ё': 'е', 'ı': 'i', 'İ': 'i', 'ς': 'σ', 'ǝ': 'ə', 'Ə': 'ə',
	'أ': 'ا', 'إ': 'ا', 'آ': 'ا', 'ٱ': 'ا', 'ى': 'ي', 'ی': 'ي', 'ئ': 'ي', 'ې': 'ي',
	'ک': 'ك', 'ڪ': 'ك', 'ة': 'ه', 'ۀ': 'ه', 'ہ': 'ه', 'ھ': 'ه', 'ۃ': 'ه', 'ؤ': 'و',
	'ş': 'ş', 'Ş': 'ş', 'ţ': 'ț', 'Ţ': 'ț', 'ș': 'ş', 'Ș': 'ş',
	'\u0958': 'क', '\u0959': 'ख', '\u095A': 'ग', '\u095B': 'ज', '\u095C': 'ड', '\u095D': 'ढ', '\u095E': 'फ', '\u095F': 'य',
	'\u09DC': 'ড', '\u09DD': 'ঢ', '\u09DF': 'য', '\u0A33': 'ਲ', '\u0A36': 'ਸ', '\u0A59': 'ਖ', '\u0A5A': 'ਗ', '\u0A5B': 'ਜ', '\u0A5E': 'ਫ',
}

// digitOf folds a decimal digit of any script: Unicode keeps them in runs of
// ten that start with the zero.
func digitOf(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}

func classOf(r rune) Script {
	switch {
	case r >= '0' && r <= '9', unicode.IsDigit(r):
		return Digit
	case apart.Dense(r):
		return Dense
	case unicode.IsLetter(r), unicode.Is(unicode.Mn, r), unicode.Is(unicode.Mc, r):
		return Spaced
	}
	return Other
}

// diacritics maps the marked letters of Latin, Greek and Vietnamese writing to
// their bare ones.
func diacritics() map[rune]rune {
	m := map[rune]rune{'đ': 'd', 'ł': 'l', 'ø': 'o', 'ð': 'd', 'ħ': 'h', 'ŧ': 't'}
	for _, span := range [][2]rune{{0xE0, 0x24F}, {0x1E00, 0x1EFF}, {0x386, 0x3CE}, {0x1F00, 0x1FFF}} {
		for r := span[0]; r <= span[1]; r++ {
			d := []rune(norm.NFD.String(string(unicode.ToLower(r))))
			if len(d) > 1 && d[1] >= 0x300 && d[1] <= 0x36F {
				m[r] = d[0]
			}
		}
	}
	return m
}

// Key is a folded rune as the trie knows it: without diacritics, and with one
// kind of gap between words.
func (a *Alphabet) Key(r rune) rune {
	if r == '-' {
		return ' '
	}
	return a.Strip(r)
}

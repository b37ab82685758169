package page

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The kind of a rune is a byte: its script, and for which of the passes over
// the page it matters. A pass looks at eight kinds at a time and stops only
// where there is something to do.
const (
	InkBit    = 1 << (iota + 3) // seen, and no letter of a spaced script: a phrase may begin with it
	HotBit                      // a digit, capital or sign by which findCandidates stops
	evenBit                     // dense, and the second half of a word of two
	markedBit                   // with diacritics
	OfferBit                    // the sign of a share or price
)

// ScriptBits are the bits of a kind that tell the script.
const ScriptBits = Spaced | Dense | Digit

// glyphs tabulates what is known of the runes of a page, by how they are
// written. Most mails are hardly more than ASCII, and the first lines of this
// table stay in the processor's nearest cache.
type glyphs [folded]glyph

// glyph is what is known of a rune: how it is folded, the tag of its key and its
// kind, in one word, since each is asked of every rune.
type glyph uint32

func newGlyph(low rune, tag, kind byte) glyph {
	return glyph(low) | glyph(tag)<<16 | glyph(kind)<<24
}

func (g glyph) low() rune  { return rune(g & 0xFFFF) }
func (g glyph) tag() byte  { return byte(g >> 16) }
func (g glyph) kind() byte { return byte(g >> 24) }

// tabulate fills in the tables. The breaks between lines and cells, which no
// text can hold, stand for themselves; no phrase goes on over those of blocks
// and cells, which have no key.
func (a *Alphabet) tabulate() {
	g := &a.glyphs
	for r := range rune(folded) {
		low := a.Fold(r)
		kind := a.kindOf(low)
		if r >= 'A' && r <= 'Z' {
			kind |= HotBit
		}
		g[r] = newGlyph(low, Tag(a.Key(low)), kind)
	}
	for _, r := range [...]rune{HardBreak, CellBreak} {
		g[r] = newGlyph(r, 0, 0)
	}
	g[SoftBreak] = newGlyph(SoftBreak, ' ', 0)
}

// kindOf is the kind of a folded rune, as far as that does not depend on where
// it stands and how it is written.
func (a *Alphabet) kindOf(low rune) byte {
	k := a.ClassOf(low)
	if k != Spaced && low > ' ' {
		k |= InkBit
	}
	if low > ' ' && low <= '~' && !IsLetter(low) && low != ',' {
		k |= HotBit
	}
	if a.Key(low) != low && low != '-' {
		k |= markedBit
	}
	if isPriceSign(low) {
		k |= OfferBit
	}
	return k
}

// prepare works out what is looked up rune by rune: the folded rune, the tag
// of its key and its kind.
func (p *Page) prepare() {
	n := len(p.Raw)
	p.Low = slices.Grow(p.Low[:0], n)[:n]
	p.Tags = slices.Grow(p.Tags[:0], n+8)[:n+8]
	p.Kind = slices.Grow(p.Kind[:0], n+8)[:n+8]
	clear(p.Tags[n:])
	clear(p.Kind[n:])
	for i := 0; i < n; i++ {
		if i = p.prepareRun(i); i < n {
			p.prepareOne(i, p.Raw[i])
		}
	}
}

// prepareRun prepares runes that the tables tell all of, and returns where they
// end.
func (p *Page) prepareRun(start int) int {
	raw, all := p.Raw[start:], &p.Letters.glyphs
	low, tags, kind := p.Low[start:][:len(raw)], p.Tags[start:][:len(raw)], p.Kind[start:][:len(raw)]
	for i, r := range raw {
		if uint32(r) >= folded {
			return start + i
		}
		g := all[r]
		if g.kind()&Dense != 0 {
			return start + i
		}
		low[i], tags[i], kind[i] = g.low(), g.tag(), g.kind()
	}
	return len(p.Raw)
}

// prepareOne prepares a rune that the tables do not tell all of.
func (p *Page) prepareOne(i int, r rune) {
	var low rune
	var t, k byte
	switch {
	case r < folded:
		g := p.Letters.glyphs[r]
		low, t, k = g.low(), g.tag(), g.kind()
	case isCommonHan(r):
		if low, t, k = r, Tag(r), Dense|InkBit; IsCurrencyLetter(r) {
			k |= OfferBit
		}
	default:
		low = p.Letters.Fold(r)
		t, k = Tag(p.Letters.Key(low)), p.Letters.kindOf(low)
	}
	if k&Dense != 0 && p.isSecondHalf(i) {
		k |= evenBit
	}
	p.Low[i], p.Tags[i], p.Kind[i] = low, t, k
}

// isCommonHan reports whether r is one of the letters of Chinese, Japanese and Korean that there
// are most of. No table of Unicode has to be asked for them.
func isCommonHan(r rune) bool { return r >= 0x4E00 && r < 0x9FFD || r >= 0xAC00 && r <= 0xD7A3 }

// isSecondHalf reports whether a dense rune belongs to the word of the one before:
// two of them count as a word, whatever letters and digits stand between.
func (p *Page) isSecondHalf(i int) bool {
	for i--; i >= 0 && p.Kind[i]&ScriptBits != Other; i-- {
		if p.Kind[i]&Dense != 0 {
			return p.Kind[i]&evenBit == 0
		}
	}
	return false
}

// everyByte times a byte has it in every byte of a register.
const everyByte = 0x0101010101010101

// Eight gives eight bytes of a slice, the first in the lowest bits.
func Eight(b []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(b[i : i+8 : i+8])
}

// Next is the first rune from i on whose kind has one of some bits, or the
// length of the page.
func (p *Page) Next(i int, some byte) int {
	for ; i < len(p.Low); i += 8 {
		if w := Eight(p.Kind, i) & (everyByte * uint64(some)); w != 0 {
			return i + bits.TrailingZeros64(w)/8
		}
	}
	return len(p.Low)
}

// NextIn is next as far as a place, which is the answer if there is no such rune.
func (p *Page) NextIn(i, end int, some byte) int {
	for ; i < end; i += 8 {
		if w := Eight(p.Kind, i) & (everyByte * uint64(some)); w != 0 {
			return min(end, i+bits.TrailingZeros64(w)/8)
		}
	}
	return end
}

// LettersEnd is where a run of letters of a spaced script ends.
func (p *Page) LettersEnd(i int) int {
	for ; i < len(p.Low); i += 8 {
		if w := ^Eight(p.Kind, i) & (everyByte * uint64(Spaced)); w != 0 {
			return i + bits.TrailingZeros64(w)/8
		}
	}
	return len(p.Low)
}

// KeyAt is a rune of the page as the trie knows it.
func (p *Page) KeyAt(i int) rune {
	if t := p.Tags[i]; t < 0x80 {
		return rune(t)
	}
	return p.Letters.Strip(p.Low[i])
}

// isPriceSign reports whether r is a sign of a share or price.
func isPriceSign(r rune) bool { return r == '%' || r == '٪' || IsCurrencyLetter(r) || IsCurrency(r) }

// IsCurrencyLetter reports whether r is a letter that names a currency behind a number.
func IsCurrencyLetter(r rune) bool { return r == '원' || r == '円' || r == '元' }

// IsCurrency reports whether r is the sign of a currency.
func IsCurrency(r rune) bool {
	switch r {
	case '$', '€', '£', '¥', '₽', '₹', '₫', '₩', '₺', '₴', '₦', '฿', '₱', '₪', '₸', '₼', '₾', '₡', '₲', '₵', '₮', '៛', '₭', '৳', '﷼', '¢', '₨':
		return true
	}
	return false
}

// IsDigit reports whether r is a digit of folded text.
func IsDigit(r rune) bool { return r >= '0' && r <= '9' }

// IsLetter reports whether r is a plain Latin letter of folded text.
func IsLetter(r rune) bool { return r >= 'a' && r <= 'z' }

// IsAlnum reports whether r is either.
func IsAlnum(r rune) bool { return IsDigit(r) || IsLetter(r) }

// Tag returns an octet that most other keys do not share; no other key shares that of an ASCII character.
func Tag(key rune) byte {
	if key < 0x80 {
		return byte(key)
	}
	return byte(key^key>>7) | 0x80
}

// Tagged gives the tags of up to eight runes.
func (p *Page) Tagged(from, n int) uint64 {
	return FirstTags(Eight(p.Tags, from), min(n, 8))
}

// FirstTags keeps the tags of the first runes, of which there are one to eight.
func FirstTags(tags uint64, n int) uint64 {
	free := BitsBeyond(n)
	return tags << free >> free
}

// BitsBeyond is how many bits of a register are those of other bytes than its first ones.
func BitsBeyond(n int) uint { return uint(64-8*n) & 63 }

// Hash mixes the tags of some letters.
func Hash(tags uint64) uint32 { return uint32(tags * 0x9E3779B97F4A7C15 >> 32) }

package otp

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The kind of a rune is a byte: its script, and for which of the passes over
// the page it matters. A pass looks at eight kinds at a time and stops only
// where there is something to do.
const (
	inkBit    = 1 << (iota + 3) // seen, and no letter of a spaced script: a phrase may begin with it
	hotBit                      // a digit, capital or sign by which findCandidates stops
	evenBit                     // dense, and the second half of a word of two
	markedBit                   // with diacritics
	offerBit                    // the sign of a share or price
)

const scriptBits = spaced | dense | digit

// glyphs tabulates what is known of the runes of a page, by how they are
// written. Most mails are hardly more than ASCII, and the first lines of these
// tables stay in the processor's nearest cache.
type glyphs struct {
	all  [folded]glyph
	keys [128]byte // as the trie knows them, by how they are folded
}

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
func (x *lexicon) tabulate() {
	g := &x.glyphs
	for r := range rune(folded) {
		low := x.fold(r)
		kind := x.kindOf(low)
		if r >= 'A' && r <= 'Z' {
			kind |= hotBit
		}
		g.all[r] = newGlyph(low, tag(x.key(low)), kind)
	}
	for _, r := range [...]rune{hardBreak, cellBreak} {
		g.all[r] = newGlyph(r, 0, 0)
	}
	g.all[softBreak] = newGlyph(softBreak, ' ', 0)
	for r := range rune(len(g.keys)) {
		g.keys[r] = byte(x.key(x.fold(r)))
	}
	g.keys[softBreak], g.keys[hardBreak], g.keys[cellBreak] = ' ', 0, 0
}

// kindOf is the kind of a folded rune, as far as that does not depend on where
// it stands and how it is written.
func (x *lexicon) kindOf(low rune) byte {
	k := x.classOf(low)
	if k != spaced && low > ' ' {
		k |= inkBit
	}
	if low > ' ' && low <= '~' && !isLetter(low) && low != ',' {
		k |= hotBit
	}
	if x.key(low) != low && low != '-' {
		k |= markedBit
	}
	if offering(low) {
		k |= offerBit
	}
	return k
}

// prepare works out what is looked up rune by rune: the folded rune, the tag
// of its key and its kind.
func (p *page) prepare() {
	n := len(p.raw)
	p.low = slices.Grow(p.low[:0], n)[:n]
	p.tags = slices.Grow(p.tags[:0], n+8)[:n+8]
	p.kind = slices.Grow(p.kind[:0], n+8)[:n+8]
	clear(p.tags[n:])
	clear(p.kind[n:])
	for i := 0; i < n; i++ {
		if i = p.prepareRun(i); i < n {
			p.prepareOne(i, p.raw[i])
		}
	}
}

// prepareRun prepares runes that the tables tell all of, and answers where they
// end.
func (p *page) prepareRun(start int) int {
	raw, all := p.raw[start:], &p.x.glyphs.all
	low, tags, kind := p.low[start:][:len(raw)], p.tags[start:][:len(raw)], p.kind[start:][:len(raw)]
	for i, r := range raw {
		if uint32(r) >= folded {
			return start + i
		}
		g := all[r]
		if g.kind()&dense != 0 {
			return start + i
		}
		low[i], tags[i], kind[i] = g.low(), g.tag(), g.kind()
	}
	return len(p.raw)
}

// prepareOne prepares a rune that the tables do not tell all of.
func (p *page) prepareOne(i int, r rune) {
	var low rune
	var t, k byte
	switch {
	case r < folded:
		g := p.x.glyphs.all[r]
		low, t, k = g.low(), g.tag(), g.kind()
	case plainHan(r):
		if low, t, k = r, tag(r), dense|inkBit; counter(r) {
			k |= offerBit
		}
	default:
		low = p.x.fold(r)
		t, k = tag(p.x.key(low)), p.x.kindOf(low)
	}
	if k&dense != 0 && p.secondHalf(i) {
		k |= evenBit
	}
	p.low[i], p.tags[i], p.kind[i] = low, t, k
}

// plainHan is true of the letters of Chinese, Japanese and Korean that there
// are most of. No table of Unicode has to be asked for them.
func plainHan(r rune) bool { return r >= 0x4E00 && r < 0x9FFD || r >= 0xAC00 && r <= 0xD7A3 }

// secondHalf says whether a dense rune belongs to the word of the one before:
// two of them count as a word, whatever letters and digits stand between.
func (p *page) secondHalf(i int) bool {
	for i--; i >= 0 && p.kind[i]&scriptBits != other; i-- {
		if p.kind[i]&dense != 0 {
			return p.kind[i]&evenBit == 0
		}
	}
	return false
}

// everyByte times a byte has it in every byte of a register.
const everyByte = 0x0101010101010101

// eight gives eight bytes of a slice, the first in the lowest bits.
func eight(b []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(b[i : i+8 : i+8])
}

// next is the first rune from i on whose kind has one of some bits, or the
// length of the page.
func (p *page) next(i int, some byte) int {
	for ; i < len(p.low); i += 8 {
		if w := eight(p.kind, i) & (everyByte * uint64(some)); w != 0 {
			return i + bits.TrailingZeros64(w)/8
		}
	}
	return len(p.low)
}

// nextIn is next as far as a place, which is the answer if there is no such rune.
func (p *page) nextIn(i, end int, some byte) int {
	for ; i < end; i += 8 {
		if w := eight(p.kind, i) & (everyByte * uint64(some)); w != 0 {
			return min(end, i+bits.TrailingZeros64(w)/8)
		}
	}
	return end
}

// lettersEnd is where a run of letters of a spaced script ends.
func (p *page) lettersEnd(i int) int {
	for ; i < len(p.low); i += 8 {
		if w := ^eight(p.kind, i) & (everyByte * uint64(spaced)); w != 0 {
			return i + bits.TrailingZeros64(w)/8
		}
	}
	return len(p.low)
}

// keyOf is a rune of a page as the trie knows it.
func (x *lexicon) keyOf(low rune) rune {
	if uint32(low) < uint32(len(x.glyphs.keys)) {
		return rune(x.glyphs.keys[low])
	}
	return x.strip(low)
}

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
)

const scriptBits = spaced | dense | digit

// glyph is what is known of an ASCII rune. Most mails are hardly more than
// ASCII, and this small table stays in the processor's nearest cache.
type glyph struct {
	low  byte // folded
	key  byte // as the trie knows it
	kind byte
}

// glyphs tabulates the ASCII part of an alphabet. The breaks between lines and
// cells, which no text can hold, stand for themselves; no phrase goes on over
// those of blocks and cells, which have no key.
func (x *lexicon) glyphs() (g [128]glyph) {
	for r := range rune(len(g)) {
		low := x.fold(r)
		g[r] = glyph{low: byte(low), key: byte(x.key(low)), kind: x.kindOf(low)}
		if r >= 'A' && r <= 'Z' {
			g[r].kind |= hotBit
		}
	}
	g[softBreak] = glyph{low: softBreak, key: ' '}
	g[hardBreak], g[cellBreak] = glyph{low: hardBreak}, glyph{low: cellBreak}
	return g
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
		if i = p.prepareASCII(i); i < n {
			p.study(i, p.raw[i])
		}
	}
}

// prepareASCII prepares a run of ASCII and answers where it ends.
func (p *page) prepareASCII(i int) int {
	raw, table := p.raw[i:], &p.x.ascii
	low, tags, kind := p.low[i:][:len(raw)], p.tags[i:][:len(raw)], p.kind[i:][:len(raw)]
	for k, r := range raw {
		if uint32(r) >= uint32(len(table)) {
			return i + k
		}
		g := &table[r]
		low[k], tags[k], kind[k] = rune(g.low), g.key, g.kind
	}
	return len(p.raw)
}

// study does for a rune beyond ASCII what a table does for the others.
func (p *page) study(i int, r rune) {
	low := p.x.fold(r)
	k := p.x.kindOf(low)
	if k&dense != 0 && p.secondHalf(i) {
		k |= evenBit
	}
	p.low[i], p.tags[i], p.kind[i] = low, tag(p.x.key(low)), k
}

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

// next is the first rune from i on whose kind has one of some bits, or the
// length of the page.
func (p *page) next(i int, some byte) int {
	for ; i < len(p.low); i += 8 {
		if w := binary.LittleEndian.Uint64(p.kind[i:]) & (everyByte * uint64(some)); w != 0 {
			return i + bits.TrailingZeros64(w)/8
		}
	}
	return len(p.low)
}

// lettersEnd is where a run of letters of a spaced script ends.
func (p *page) lettersEnd(i int) int {
	for ; i < len(p.low); i += 8 {
		if w := ^binary.LittleEndian.Uint64(p.kind[i:]) & (everyByte * uint64(spaced)); w != 0 {
			return i + bits.TrailingZeros64(w)/8
		}
	}
	return len(p.low)
}

// keyOf is a rune of a page as the trie knows it.
func (x *lexicon) keyOf(low rune) rune {
	if uint32(low) < uint32(len(x.ascii)) {
		return rune(x.ascii[low].key)
	}
	return x.strip(low)
}

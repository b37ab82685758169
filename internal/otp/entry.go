package otp

import "slices"

// entries says where in a text a phrase may begin, by its first four letters
// or all that it has, so that the trie is hardly walked in vain. Phrases that
// may begin inside a word are told apart; they are few, so that their first
// three letters rule out nearly every place.
type entries struct {
	start, inner bitset
	closed       bitset // of fewer than four letters
	open         bitset // of fewer than four letters and a star
	innerShort   bitset
	threes       [1 << 9]uint64 // of the first letters of the inner ones
}

// bitset is a set of hashes.
type bitset [1 << 11]uint64

func (b *bitset) set(h uint32)      { b[h>>6] |= 1 << (h & 63) }
func (b *bitset) has(h uint32) bool { return b[h>>6]&(1<<(h&63)) != 0 }

// gram hashes the first letters of a phrase; those it has not are 0.
func gram(a, b, c, d rune) uint32 {
	return (uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA6B ^ uint32(c)*0xC2B2AE35 ^ uint32(d)*0x27D4EB2F) >> 15
}

// add notes the first letters of a phrase, up to a star.
func (e *entries) add(keys []rune, left bool) {
	var k [4]rune
	n, short := copy(k[:], keys), &e.closed
	if i := slices.Index(k[:], star); i >= 0 {
		n, short = i, &e.open
		clear(k[i:])
	}
	h := gram(k[0], k[1], k[2], k[3])
	if n == len(k) {
		e.start.set(h)
	} else {
		short.set(h)
	}
	if !left || n < len(k)-1 { // shorter ones begin with a word
		return
	}
	h3 := trio(0).next(k[0]).next(k[1]).next(k[2])
	e.threes[h3>>6] |= 1 << (h3 & 63)
	if n == len(k) {
		e.inner.set(h)
	} else {
		e.innerShort.set(h)
	}
}

// trio is a rolling hash of three letters.
type trio uint32

func (t trio) next(r rune) trio { return (t<<5 ^ trio(r)) & 0x7FFF }

// mayBe says whether a phrase may begin with such letters inside a word.
func (e *entries) mayBe(h trio) bool { return e.threes[h>>6]>>(h&63)&1 != 0 }

// mayInside asks the same of the letters themselves.
func (e *entries) mayInside(k []rune) bool {
	return e.inner.has(gram(k[0], k[1], k[2], k[3])) || e.innerShort.has(gram(k[0], k[1], k[2], 0))
}

// may says whether a phrase may begin with the runes from i on. One of few
// letters and no star has to be a word.
func (p *page) may(i int) bool {
	e, k := &p.x.entry, p.keys[i:i+4]
	if e.start.has(gram(k[0], k[1], k[2], k[3])) {
		return true
	}
	one, two, three := gram(k[0], 0, 0, 0), gram(k[0], k[1], 0, 0), gram(k[0], k[1], k[2], 0)
	return e.open.has(three) || e.open.has(two) || e.open.has(one) ||
		p.boundary(i+3) && e.closed.has(three) || p.boundary(i+2) && e.closed.has(two) || p.boundary(i+1) && e.closed.has(one)
}

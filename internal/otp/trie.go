package otp

import "slices"

// trie holds every phrase of every lexicon, letter by letter. Its edges lie in
// one open-addressed table, an edge to a word, so that building it takes a few
// milliseconds and following an edge one look into memory.
type trie struct {
	edges []uint64 // node<<43 | rune<<22 | flags<<20 | next node; 0 is free
	used  int
	heads []int32 // per node, its first term, or -1
	stars []bool  // per node, whether a star goes on from it
	terms []phrase
	entry entries
}

// phrase is one phrase of a lexicon.
type phrase struct {
	class class
	lang  uint8 // index of its language
	size  uint8 // letters
	left  bool  // whether letters may go on before it
	exact int32 // where its letters with their marks lie, or -1 if they have none
	more  int32 // the next term of the same node, or -1
}

// star stands in a phrase for the rest of a word.
const star = '*'

// The bits of an edge. The flags spare most steps a look at the node.
const (
	nodeBits = 20
	runeBits = 21
	keyShift = nodeBits + 2
	nextMask = 1<<nodeBits - 1
	hasTerm  = 1 << nodeBits
	hasStar  = 2 << nodeBits
)

func newTrie(nodes int) *trie {
	size := 1 << 10
	for size*3 < nodes*4 {
		size *= 2
	}
	return &trie{edges: make([]uint64, size), heads: append(make([]int32, 0, nodes), -1), stars: append(make([]bool, 0, nodes), false)}
}

func slot(key uint64, size int) int {
	return int((key*0x9E3779B97F4A7C15)>>32) & (size - 1)
}

// edge finds the edge of a rune, and 0 where there is none.
func (t *trie) edge(node int32, r rune) uint64 {
	key := uint64(node)<<runeBits | uint64(r)
	for i := slot(key, len(t.edges)); ; i = (i + 1) & (len(t.edges) - 1) {
		if e := t.edges[i]; e>>keyShift == key || e == 0 {
			return e
		}
	}
}

// step follows the edge of a rune; it answers 0 where there is none.
func (t *trie) step(node int32, r rune) int32 {
	return int32(t.edge(node, r) & nextMask)
}

// seal writes onto the edges what is at their nodes. It comes last.
func (t *trie) seal() {
	for i, e := range t.edges {
		if n := e & nextMask; n != 0 {
			if t.heads[n] >= 0 {
				e |= hasTerm
			}
			if t.stars[n] {
				e |= hasStar
			}
			t.edges[i] = e
		}
	}
}

// reach follows the edge of a rune, and makes it where there is none.
func (t *trie) reach(node int32, r rune) int32 {
	if n := t.step(node, r); n != 0 {
		return n
	}
	if t.used*4 >= len(t.edges)*3 {
		t.rehash()
	}
	n := int32(len(t.heads))
	t.heads, t.stars = append(t.heads, -1), append(t.stars, false)
	t.stars[node] = t.stars[node] || r == star
	t.put(uint64(node)<<runeBits|uint64(r), uint64(n))
	return n
}

func (t *trie) put(key, next uint64) {
	i := slot(key, len(t.edges))
	for t.edges[i] != 0 {
		i = (i + 1) & (len(t.edges) - 1)
	}
	t.edges[i] = key<<keyShift | next
	t.used++
}

func (t *trie) rehash() {
	old := t.edges
	t.edges, t.used = make([]uint64, 2*len(old)), 0
	for _, e := range old {
		if e != 0 {
			t.put(e>>keyShift, e&nextMask)
		}
	}
}

// end ends a phrase at a node.
func (t *trie) end(node int32, p phrase) {
	if t.settle(node, &p); p.class == 0 {
		return
	}
	p.more = t.heads[node]
	t.heads[node] = int32(len(t.terms))
	t.terms = append(t.terms, p)
}

// settle decides between two sections of one lexicon that list the same
// phrase: what says that it is no code wins, so that an exception to a brace
// need only be written down.
func (t *trie) settle(node int32, p *phrase) {
	const yes, no = classCode | classWord, classNot | classVoid | classSkip
	for i := t.heads[node]; i >= 0; i = t.terms[i].more {
		switch o := &t.terms[i]; {
		case o.lang != p.lang:
		case p.class&no != 0:
			o.class &^= yes
		case o.class&no != 0:
			p.class &^= yes
		}
	}
}

// entries says where in a text a phrase may begin, by its first four letters
// or all that it has, so that the trie is hardly walked in vain. Phrases that
// may begin inside a word are told apart.
type entries struct {
	start, inner, short, shortInner bits
}

// bits is a set of hashes.
type bits [1 << 11]uint64

func (b *bits) set(h uint32)      { b[h>>6] |= 1 << (h & 63) }
func (b *bits) has(h uint32) bool { return b[h>>6]&(1<<(h&63)) != 0 }

// gram hashes the first letters of a phrase; those it has not are 0.
func gram(a, b, c, d rune) uint32 {
	return (uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA6B ^ uint32(c)*0xC2B2AE35 ^ uint32(d)*0x27D4EB2F) >> 15
}

// add notes the first letters of a phrase, up to a star.
func (e *entries) add(keys []rune, left bool) {
	var k [4]rune
	n := copy(k[:], keys)
	if i := slices.Index(k[:], star); i >= 0 {
		n = i
		clear(k[i:])
	}
	h := gram(k[0], k[1], k[2], k[3])
	if n == len(k) {
		e.start.set(h)
	} else {
		e.short.set(h)
	}
	switch {
	case !left:
	case n == len(k):
		e.inner.set(h)
	case n == len(k)-1: // shorter ones begin with a word
		e.shortInner.set(h)
	}
}

// may says whether a phrase may begin with these letters.
func (e *entries) may(k []rune, inner bool) bool {
	a, b, c, d := k[0], k[1], k[2], k[3]
	if inner {
		return e.inner.has(gram(a, b, c, d)) || e.shortInner.has(gram(a, b, c, 0))
	}
	return e.start.has(gram(a, b, c, d)) || e.short.has(gram(a, b, c, 0)) ||
		e.short.has(gram(a, b, 0, 0)) || e.short.has(gram(a, 0, 0, 0))
}

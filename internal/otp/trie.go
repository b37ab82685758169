package otp

// trie holds every phrase of every lexicon, letter by letter. Its edges lie in
// one open-addressed table, so that building it costs a few milliseconds and
// walking it a few nanoseconds a letter.
type trie struct {
	keys  []uint64 // node<<32 | rune; 0 is free
	next  []int32
	used  int
	heads []int32  // per node, its first term, or -1
	stars []bool   // per node, whether a star goes on from it
	terms []phrase // all terms
	entry [1 << 12]uint64
}

// star stands in a phrase for the rest of a word.
const star = '*'

// phrase is one phrase of a lexicon.
type phrase struct {
	class       class
	left, right bool   // whether letters may go on before it and after it
	exact       []rune // for short phrases: the marks must be as written
	more        int32  // the next term of the same node, or -1
}

func newTrie(edges int) *trie {
	size := 1 << 10
	for size < edges*2 {
		size *= 2
	}
	return &trie{keys: make([]uint64, size), next: make([]int32, size), heads: append(make([]int32, 0, edges), -1), stars: append(make([]bool, 0, edges), false)}
}

func slot(key uint64, size int) int {
	return int((key*0x9E3779B97F4A7C15)>>33) & (size - 1)
}

// step follows the edge of a rune; it answers 0 where there is none.
func (t *trie) step(node int32, r rune) int32 {
	key := uint64(node)<<32 | uint64(r)
	for i := slot(key, len(t.keys)); ; i = (i + 1) & (len(t.keys) - 1) {
		switch t.keys[i] {
		case key:
			return t.next[i]
		case 0:
			return 0
		}
	}
}

// add enters a phrase under its runes.
func (t *trie) add(runes []rune, p phrase) {
	node := int32(0)
	for _, r := range runes {
		n := t.step(node, r)
		if n == 0 {
			n = t.grow(node, r)
		}
		node = n
	}
	p.more = t.heads[node]
	t.heads[node] = int32(len(t.terms))
	t.terms = append(t.terms, p)
	if p.left {
		h := pairHash(runes)
		t.entry[h>>6] |= 1 << (h & 63)
	}
}

func (t *trie) grow(node int32, r rune) int32 {
	if t.used*2 >= len(t.keys) {
		t.rehash()
	}
	n := int32(len(t.heads))
	t.heads, t.stars = append(t.heads, -1), append(t.stars, false)
	t.stars[node] = t.stars[node] || r == star
	t.put(uint64(node)<<32|uint64(r), n)
	return n
}

func (t *trie) put(key uint64, n int32) {
	i := slot(key, len(t.keys))
	for t.keys[i] != 0 {
		i = (i + 1) & (len(t.keys) - 1)
	}
	t.keys[i], t.next[i] = key, n
	t.used++
}

func (t *trie) rehash() {
	keys, next := t.keys, t.next
	t.keys, t.next, t.used = make([]uint64, 2*len(keys)), make([]int32, 2*len(keys)), 0
	for i, k := range keys {
		if k != 0 {
			t.put(k, next[i])
		}
	}
}

// pairHash maps the first two runes of a phrase to 18 bits; the entry filter
// says at which letters inside a word a phrase may begin.
func pairHash(r []rune) uint32 {
	if len(r) < 2 {
		return 0
	}
	return (uint32(r[0])*0x9E3779B1 ^ uint32(r[1])*0x85EBCA6B) >> 14
}

func (t *trie) mayEnter(a, b rune) bool {
	h := (uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA6B) >> 14
	return t.entry[h>>6]&(1<<(h&63)) != 0
}

package lexicon

// trie holds every phrase of every lexicon, letter by letter. A node names its
// first child itself, and nodes of one phrase lie one behind the other, so that
// a phrase is mostly followed within a line of the processor's cache. The other
// children lie in one open-addressed table.
type trie struct {
	nodes []node
	edges []uint64 // node<<43 | rune<<20 | child; 0 is free
	used  int
	terms []phrase
	entry entries
	pairs [26][26]int32 // the nodes that two small letters lead to
}

// node is a place in the trie. Node 0 is the root, and no child.
type node struct {
	key   rune   // of the first child, or -1
	child int32  // the first, or 0
	head  int32  // its first term, or -1
	more  uint16 // of the further children, a bit for the lower bits of each key
	star  bool   // whether a star goes on from it
}

// bare is a node without children and terms.
var bare = node{key: -1, head: -1}

// phrase is one phrase of a lexicon.
type phrase struct {
	class Class
	lang  uint8 // index of its language
	size  uint8 // letters
	left  bool  // whether letters may go on before it
	plain bool  // whether its letters have no marks
	exact int32 // where its letters with their marks lie, or -1 if they have none
	more  int32 // the next term of the same node, or -1
}

// star stands in a phrase for the rest of a word.
const star = '*'

// The bits of an edge.
const (
	nodeBits = 20
	runeBits = 21
	nextMask = 1<<nodeBits - 1
)

// newTrie makes a trie with room for so many nodes, further children (a power of
// two) and terms.
func newTrie(nodes, further, terms int) *trie {
	return &trie{nodes: append(make([]node, 0, nodes), bare), edges: make([]uint64, further), terms: make([]phrase, 0, terms)}
}

func slot(key uint64, size int) int {
	return int((key*0x9E3779B97F4A7C15)>>32) & (size - 1)
}

// step follows the edge of a rune; it returns 0 where there is none.
func (t *trie) step(from int32, r rune) int32 {
	n := &t.nodes[from]
	if n.key == r {
		return n.child
	}
	if n.more>>(r&15)&1 == 0 {
		return 0
	}
	return t.findChild(from, r)
}

// findChild looks for a child that is not the first.
func (t *trie) findChild(from int32, r rune) int32 {
	key := uint64(from)<<runeBits | uint64(r)
	for i := slot(key, len(t.edges)); ; i = (i + 1) & (len(t.edges) - 1) {
		if e := t.edges[i]; e>>nodeBits == key || e == 0 {
			return int32(e & nextMask)
		}
	}
}

// addEdge follows the edge of a rune, and makes it where there is none.
func (t *trie) addEdge(from int32, r rune) int32 {
	if n := t.step(from, r); n != 0 {
		return n
	}
	child := int32(len(t.nodes))
	t.nodes = append(t.nodes, bare)
	n := &t.nodes[from]
	n.star = n.star || r == star
	if n.child == 0 {
		n.key, n.child = r, child
		return child
	}
	n.more |= 1 << (r & 15)
	if t.used*4 >= len(t.edges)*3 {
		t.rehash()
	}
	t.put(uint64(from)<<runeBits|uint64(r), uint64(child))
	return child
}

// index notes where two letters lead to, which is asked most.
func (t *trie) index() {
	for a := range t.pairs {
		if first := t.step(0, 'a'+rune(a)); first != 0 {
			for b := range t.pairs[a] {
				t.pairs[a][b] = t.step(first, 'a'+rune(b))
			}
		}
	}
}

func (t *trie) put(key, next uint64) {
	i := slot(key, len(t.edges))
	for t.edges[i] != 0 {
		i = (i + 1) & (len(t.edges) - 1)
	}
	t.edges[i] = key<<nodeBits | next
	t.used++
}

func (t *trie) rehash() {
	old := t.edges
	t.edges, t.used = make([]uint64, 2*len(old)), 0
	for _, e := range old {
		if e != 0 {
			t.put(e>>nodeBits, e&nextMask)
		}
	}
}

// end ends a phrase at a node.
func (t *trie) end(node int32, p phrase) {
	if t.mergeSections(node, &p); p.class == 0 {
		return
	}
	p.more = t.nodes[node].head
	t.nodes[node].head = int32(len(t.terms))
	t.terms = append(t.terms, p)
}

// mergeSections decides between two sections of one lexicon that list the same
// phrase: what says that it is no code wins, so that an exception to a brace
// need only be written down.
func (t *trie) mergeSections(node int32, p *phrase) {
	const yes, no = Code | Word, Not | Void | classSkip
	for i := t.nodes[node].head; i >= 0; i = t.terms[i].more {
		switch o := &t.terms[i]; {
		case o.lang != p.lang:
		case p.class&(Number|Where) != 0:
			o.class &^= Not
		case o.class&(Number|Where) != 0:
			p.class &^= Not
		case p.class&no != 0:
			o.class &^= yes
		case o.class&no != 0:
			p.class &^= yes
		}
	}
}

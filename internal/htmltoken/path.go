package htmltoken

import "hash/maphash"

// Path has the names of the open elements, the outermost first: those whose ends have not been read yet. How long a search in it takes does
// not depend on how many there are, so that the time for a document is proportional to its length, however deep it nests. The zero
// value is an empty path.
type Path struct {
	open  []openElement
	lists [lists]int32 // of the elements whose names have the same hash: the innermost one, counted from 1; 0: there is none
	seed  maphash.Seed // random, so that a sender cannot choose names with the same hash
}

// lists is how many lists the elements are distributed over.
const lists = 64

// usual is how many elements are open at once in a usual mail.
const usual = 16

// openElement is an element of a Path.
type openElement struct {
	name   string
	list   int32             // of Path.lists
	next   int32             // the next one of the list further out, counted from 1; 0: there is none
	bounds [boundaries]int32 // the innermost element that bounds a search, from this one on outwards; -1: there is none
}

// boundary is a kind of elements that a search for an open element does not leave.
type boundary int

const (
	scope      boundary = iota // endsScope
	item                       // endsItem
	table                      // isTable
	boundaries                 // how many there are
	root                       // none
)

// Reset empties a path, which keeps its memory but none of its names.
func (p *Path) Reset() {
	clear(p.open[:cap(p.open)])
	*p = Path{open: p.open[:0], seed: p.seed}
}

// Len returns how many elements are open.
func (p *Path) Len() int { return len(p.open) }

// Push opens an element.
func (p *Path) Push(name string) {
	n, none := int32(len(p.open)), int32(-1)
	e := openElement{name: name, list: p.listOf(name), bounds: [boundaries]int32{none, none, none}}
	for bound, is := range [boundaries]func(string) bool{scope: endsScope, item: endsItem, table: isTable} {
		if is(name) {
			e.bounds[bound] = n
		}
	}
	p.push(e, n)
}

// push adds an element that has been at an index, or would be.
func (p *Path) push(e openElement, at int32) {
	n := int32(len(p.open))
	for bound, i := range e.bounds {
		switch {
		case i == at:
			e.bounds[bound] = n
		case n > 0:
			e.bounds[bound] = p.open[n-1].bounds[bound]
		default:
			e.bounds[bound] = -1
		}
	}
	e.next, p.lists[e.list] = p.lists[e.list], n+1
	if p.open == nil {
		p.open = make([]openElement, 0, usual)
	}
	p.open = append(p.open, e)
}

// Cut closes all elements but the first n.
func (p *Path) Cut(n int) {
	for i := len(p.open) - 1; i >= n; i-- {
		p.lists[p.open[i].list] = p.open[i].next
	}
	p.open = p.open[:n]
}

// Remove closes the element at i. Those within it stay open.
func (p *Path) Remove(i int) {
	inner := p.open[i+1:]
	p.Cut(i)
	for k := range inner { // push writes at most the element before the one that is read
		p.push(inner[k], int32(i+1+k))
	}
}

// Innermost returns the index of the innermost element of a name, or -1 if there is none.
func (p *Path) Innermost(name string) int { return p.innermost(len(p.open), name) }

// innermost returns the index of the innermost of the first n elements that is called name, or -1 if there is none.
func (p *Path) innermost(n int, name string) int {
	if len(p.open) == 0 {
		return -1
	}
	for i := p.lists[p.listOf(name)]; i > 0; i = p.open[i-1].next {
		if int(i) <= n && p.open[i-1].name == name {
			return int(i) - 1
		}
	}
	return -1
}

// listOf returns the list of the elements of a name.
func (p *Path) listOf(name string) int32 {
	if p.seed == (maphash.Seed{}) {
		p.seed = maphash.MakeSeed()
	}
	return int32(maphash.String(p.seed, name) % lists)
}

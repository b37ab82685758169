package htmltoken

// Path has the names of the open elements, the outermost first: those whose ends have not been read yet. How long a search in it takes does
// not depend on how many there are, so that the time for a document is proportional to its length, however deep it nests. The zero
// value is an empty path.
type Path struct {
	open  []openElement
	lists [ownLists + sharedLists]int32 // of the elements of Element.list: the innermost one, counted from 1; 0: there is none
}

// usual is how many elements are open at once in a usual mail.
const usual = 16

// openElement is an element of a Path.
type openElement struct {
	*Element
	next  int32             // the next one of the list further out, counted from 1; 0: there is none
	inner [boundaries]int32 // the innermost element that bounds a search, from this one on outwards; -1: there is none
}

// boundary is a kind of elements that a search for an open element does not leave.
type boundary uint8

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
	*p = Path{open: p.open[:0]}
}

// Len returns how many elements are open.
func (p *Path) Len() int { return len(p.open) }

// Push opens an element.
func (p *Path) Push(e *Element) {
	if p.open == nil {
		p.open = make([]openElement, 0, usual)
	}
	n := len(p.open)
	p.open = append(p.open, openElement{Element: e, next: p.lists[e.list]})
	p.lists[e.list] = int32(n + 1)
	for bound, is := range e.bounds {
		inner := int32(-1)
		if is {
			inner = int32(n)
		} else if n > 0 {
			inner = p.open[n-1].inner[bound]
		}
		p.open[n].inner[bound] = inner
	}
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
	for k := range inner { // Push writes at most the element before the one that is read
		p.Push(inner[k].Element)
	}
}

// Innermost returns the index of the innermost element of a name, or -1 if there is none.
func (p *Path) Innermost(name string) int {
	if len(p.open) == 0 {
		return -1
	}
	return p.innermost(len(p.open), ElementOf(name))
}

// innermost returns the index of the innermost of the first n elements that has the name of e, or -1 if there is none.
func (p *Path) innermost(n int, e *Element) int {
	for i := p.lists[e.list]; i > 0; i = p.open[i-1].next {
		if int(i) <= n && p.open[i-1].Name == e.Name {
			return int(i) - 1
		}
	}
	return -1
}

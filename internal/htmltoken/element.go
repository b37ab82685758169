package htmltoken

import "hash/maphash"

// Element is what a Path has to know of the elements of a name.
type Element struct {
	Name      string
	list      uint8 // of Path.lists
	implies   implication
	bounds    [boundaries]bool // the searches that do not leave it
	endsWith  boundary         // of the search for the element that its end tag ends
	paragraph bool             // its start tag ends an open p
	heading   bool
}

// implication is which open elements a start tag ends, other than a p or a heading.
type implication uint8

const (
	impliesNone  implication = iota
	impliesItem              // an item of the same list
	impliesTerm              // a term of the same list, or its description
	impliesCell              // a cell of the same row
	impliesRow               // a row of the same table
	impliesGroup             // a group of rows, or the caption, of the same table
	impliesSame              // an element of the same name
	impliesHead              // the head
)

// ElementOf looks up a name in lower case. The result is never changed.
func ElementOf(name string) *Element {
	if name != "" {
		for i := placeOf(name); elements[i] != nil; i = (i + 1) % places {
			if elements[i].Name == name {
				return elements[i]
			}
		}
	}
	return newElement(name, ownLists+uint8(maphash.String(seed, name)%sharedLists))
}

// places is how many places elements has. Few of its elements are not where placeOf says.
const places = 512

// placeOf returns where to look for a name first. A map takes twice as long, and most tags are short.
func placeOf(name string) int {
	n := len(name)
	return (int(name[0]) + 37*int(name[n-1]) + 11*int(name[n/2]) + 97*n) % places
}

// elements are those of HTML that mails are made of, and of earlier versions. Each has a list of a Path of its own; other names share
// lists, by their hash.
var (
	elements = tabulate("a", "abbr", "address", "area", "article", "aside", "b", "big", "blockquote", "body", "br", "button", "caption",
		"center", "code", "col", "colgroup", "dd", "del", "details", "dialog", "dir", "div", "dl", "dt", "em", "fieldset", "figcaption",
		"figure", "font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "i", "img",
		"input", "ins", "kbd", "label", "legend", "li", "link", "main", "map", "mark", "menu", "meta", "nav", "nobr", "noscript", "object",
		"ol", "option", "p", "pre", "q", "s", "samp", "script", "search", "section", "select", "small", "span", "strike", "strong", "style",
		"sub", "summary", "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "time", "title", "tr", "tt",
		"u", "ul", "var", "video", "wbr")
	seed = maphash.MakeSeed() // random, so that a sender cannot choose names that share a list
)

// The lists of a Path: first those of the elements, then those of other names.
const (
	ownLists    = 128
	sharedLists = 64
)

// The elements that a start tag may end.
var (
	liElement, ddElement, dtElement = ElementOf("li"), ElementOf("dd"), ElementOf("dt")
	tdElement, thElement, trElement = ElementOf("td"), ElementOf("th"), ElementOf("tr")
	tbodyElement, theadElement      = ElementOf("tbody"), ElementOf("thead")
	tfootElement, captionElement    = ElementOf("tfoot"), ElementOf("caption")
	headElement, pElement           = ElementOf("head"), ElementOf("p")
)

func tabulate(names ...string) (all [places]*Element) {
	for list, name := range names {
		i := placeOf(name)
		for all[i] != nil {
			i = (i + 1) % places
		}
		all[i] = newElement(name, uint8(list))
	}
	return all
}

func newElement(name string, list uint8) *Element {
	e := &Element{Name: name, list: list, paragraph: endsParagraph(name), heading: isHeading(name)}
	e.bounds = [boundaries]bool{scope: endsScope(name), item: endsItem(name), table: isTable(name)}
	switch name {
	case "li":
		e.implies = impliesItem
	case "dd", "dt":
		e.implies = impliesTerm
	case "td", "th":
		e.implies = impliesCell
	case "tr":
		e.implies = impliesRow
	case "tbody", "thead", "tfoot", "caption", "colgroup":
		e.implies = impliesGroup
	case "a", "button", "nobr":
		e.implies = impliesSame
	case "body":
		e.implies = impliesHead
	}
	switch name {
	case "table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption":
		e.endsWith = table
	case "body", "html":
		e.endsWith = root
	}
	return e
}

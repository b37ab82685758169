package htmltoken

// Implied returns how many of the open elements, the outermost first, a start tag of an element leaves open. The others end there although
// they have no end tags, as an open p ends where a div begins (HTML §13.2.6.4.7, and §13.2.6.4.9 to 15 for tables).
func (p *Path) Implied(e *Element) int {
	n := p.Len()
	switch e.implies {
	case impliesItem:
		n = p.within(n, item, liElement)
	case impliesTerm:
		n = p.withinEither(n, item, ddElement, dtElement)
	case impliesCell:
		return p.withinEither(n, table, tdElement, thElement)
	case impliesRow:
		return p.within(n, table, trElement)
	case impliesGroup:
		n = min(p.withinEither(n, table, tbodyElement, theadElement), p.withinEither(n, table, tfootElement, captionElement))
		return p.within(n, table, trElement)
	case impliesSame:
		return p.within(n, scope, e)
	case impliesHead:
		return p.within(n, scope, headElement)
	}
	if e.paragraph {
		n = p.within(n, scope, pElement)
	}
	if n > 0 && e.heading && p.open[n-1].heading {
		n--
	}
	return n
}

// Matching returns the index of the open element that an end tag called name ends, or -1 if it ends none. An end tag within a cell of a table
// ends nothing outside of it.
func (p *Path) Matching(name string) int {
	if len(p.open) == 0 {
		return -1
	}
	e := ElementOf(name)
	if i := p.within(p.Len(), e.endsWith, e); i < p.Len() {
		return i
	}
	if e.heading && p.open[p.Len()-1].heading {
		return p.Len() - 1 // any heading's end tag ends a heading
	}
	return -1
}

// within returns the index of the innermost of the first n elements that has the name of e, or n if there is none inside of an element that
// bounds the search.
func (p *Path) within(n int, bound boundary, e *Element) int {
	return p.inBound(n, bound, p.innermost(n, e))
}

// withinEither is within for two names.
func (p *Path) withinEither(n int, bound boundary, one, other *Element) int {
	return p.inBound(n, bound, max(p.innermost(n, one), p.innermost(n, other)))
}

// inBound returns i, or n if i is -1 or the element that bounds the search is within the one at i.
func (p *Path) inBound(n int, bound boundary, i int) int {
	if i < 0 || bound != root && i < int(p.open[n-1].inner[bound]) {
		return n
	}
	return i
}

func isTable(name string) bool { return name == "table" || name == "template" || name == "html" }

// endsScope reports the elements that a search for an open element does not leave (HTML §13.2.4.2).
func endsScope(name string) bool {
	switch name {
	case "applet", "button", "caption", "html", "marquee", "object", "table", "td", "template", "th":
		return true
	}
	return false
}

// endsItem reports the elements that hold items of their own: those that a search for an open li, dd or dt does not leave.
func endsItem(name string) bool {
	switch name {
	case "address", "div", "p":
		return false
	}
	return endsScope(name) || endsParagraph(name)
}

func isHeading(name string) bool {
	return len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6'
}

// endsParagraph reports the elements whose start tag ends an open p.
func endsParagraph(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption",
		"figure", "footer", "form", "header", "hgroup", "hr", "li", "listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre", "search",
		"section", "summary", "table", "ul", "xmp":
		return true
	}
	return isHeading(name)
}

// IsVoid reports whether elements called name have neither content nor end tags (HTML §13.1.2), those of earlier versions included.
func IsVoid(name string) bool {
	switch name {
	case "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta", "param",
		"source", "track", "wbr":
		return true
	}
	return false
}

package htmltoken

// Implied returns how many of the open elements, the outermost first, a start tag called name leaves open. The others end there although
// they have no end tags, as an open p ends where a div begins (HTML §13.2.6.4.7, and §13.2.6.4.9 to 15 for tables).
func (p *Path) Implied(name string) int {
	n := p.Len()
	switch name {
	case "li":
		n = p.within(n, item, "li", "")
	case "dd", "dt":
		n = p.within(n, item, "dd", "dt")
	case "td", "th":
		return p.within(n, table, "td", "th")
	case "tr":
		return p.within(n, table, "tr", "")
	case "tbody", "thead", "tfoot", "caption", "colgroup":
		return p.within(min(p.within(n, table, "tbody", "thead"), p.within(n, table, "tfoot", "caption")), table, "tr", "")
	case "a", "button", "nobr":
		return p.within(n, scope, name, "")
	case "body":
		return p.within(n, scope, "head", "")
	}
	if endsParagraph(name) {
		n = p.within(n, scope, "p", "")
	}
	if n > 0 && isHeading(name) && isHeading(p.open[n-1].name) {
		n--
	}
	return n
}

// Matching returns the index of the open element that an end tag called name ends, or -1 if it ends none. An end tag within a cell of a table
// ends nothing outside of it.
func (p *Path) Matching(name string) int {
	bound := scope
	switch name {
	case "table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption":
		bound = table
	case "body", "html":
		bound = root
	}
	if i := p.within(p.Len(), bound, name, ""); i < p.Len() {
		return i
	}
	if isHeading(name) && p.Len() > 0 && isHeading(p.open[p.Len()-1].name) {
		return p.Len() - 1 // any heading's end tag ends a heading
	}
	return -1
}

// within returns the index of the innermost of the first n elements that is called one or other, or n if there is none inside of an
// element that bounds the search.
func (p *Path) within(n int, bound boundary, one, other string) int {
	i := p.innermost(n, one)
	if other != "" {
		i = max(i, p.innermost(n, other))
	}
	if i < 0 || bound != root && i < int(p.open[n-1].bounds[bound]) {
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

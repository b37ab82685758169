package sanitize

import (
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/apart"
	"github.com/gonebox/gonebox/internal/htmltoken"
)

// blockKind is how an element is set apart from what is around it.
type blockKind uint8

const (
	inlineLook    blockKind = iota
	boxLook                 // within a line
	blockLook               // on lines of its own
	paragraphLook           // between empty lines
	itemLook                // an item of a list
	cellLook                // a cell of a row
)

// whiteSpace is what becomes of white space.
type whiteSpace uint8

const (
	collapsed whiteSpace = iota
	lines                // line ends are kept
	preserved            // all of it is kept
)

// listKind is how the items of a list are marked: 'a' by letters, and so on.
type listKind byte

const (
	noList       listKind = 0
	bareList     listKind = '-' // not at all
	bulletList   listKind = '*'
	numberList   listKind = '1'
	lowerLetters listKind = 'a'
	upperLetters listKind = 'A'
	lowerRoman   listKind = 'i'
	upperRoman   listKind = 'I'
)

func blockKindOf(name string) blockKind {
	switch name {
	case "blockquote", "dir", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "listing", "menu", "ol", "p", "plaintext", "pre", "ul", "xmp":
		return paragraphLook // they have space above and below them
	case "li", "dd", "dt":
		return itemLook
	case "td", "th":
		return cellLook
	case "button", "sup", "sub":
		return boxLook
	case "address", "article", "aside", "body", "caption", "center", "details", "dialog", "div", "fieldset", "figcaption", "footer", "form", "header",
		"hgroup", "html", "legend", "main", "nav", "search", "section", "summary", "table", "tbody", "tfoot", "thead", "tr":
		return blockLook
	}
	return inlineLook
}

// attributes applies the attributes of an element, and what its name says about its content.
func (e *textElement) attributes(attrs []htmltoken.Attr) {
	switch e.name {
	case "ul", "menu", "dir":
		e.list = bulletList
	case "ol":
		e.list, e.number = numberList, 1
	case "pre", "listing", "plaintext", "xmp", "textarea":
		e.space = preserved
	case "sup", "sub":
		e.raised = true
	}
	for i := len(attrs) - 1; i >= 0; i-- { // the first of a name counts
		switch a := &attrs[i]; a.Name {
		case "hidden":
			e.hides = true
		case "style":
			e.declare(a.Value())
		case "type":
			if v := a.Value(); e.name == "ol" && len(v) == 1 && strings.Contains("1aAiI", v) {
				e.list = listKind(v[0])
			}
		case "start", "value":
			if n, err := strconv.Atoi(strings.TrimSpace(a.Value())); err == nil && (e.name == "ol" || e.name == "li") && n > 0 && n < 1e6 {
				e.number = n
			}
		}
	}
}

// declare applies the declarations of a style attribute.
func (e *textElement) declare(css string) {
	for decl := range strings.SplitSeq(css, ";") {
		name, val, _ := strings.Cut(decl, ":")
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "display":
			e.hides = e.hides || apart.HasWord(val, "none")
			e.arrange(name, val)
		case "visibility":
			e.hides = e.hides || apart.HasWord(val, "hidden") || apart.HasWord(val, "collapse")
		case "white-space":
			switch {
			case apart.HasWord(val, "pre-line"):
				e.space = lines
			case apart.HasWord(val, "pre"), apart.HasWord(val, "break-spaces"):
				e.space = preserved
			case apart.HasWord(val, "normal"), apart.HasWord(val, "nowrap"):
				e.space = collapsed
			}
		case "list-style", "list-style-type":
			if strings.Contains(strings.ToLower(val), "none") && (e.list != noList || e.name == "li") {
				e.list = bareList
			}
		default:
			e.arrange(name, val)
		}
	}
}

// arrange applies what the style says about how the element stands among its neighbours.
func (e *textElement) arrange(property, val string) {
	if property != "display" && e.look != inlineLook {
		return // the other properties say something about elements in a line only
	}
	layout := apart.Declared(property, val)
	if layout == 0 {
		return
	}
	isBlock := e.look == blockLook || e.look == paragraphLook || e.look == itemLook
	switch {
	case layout&apart.Block != 0:
		if !isBlock {
			e.look = blockLook
		}
	case layout&apart.Inline != 0:
		if isBlock {
			e.look = inlineLook
		}
	case property == "display":
		if e.look != cellLook {
			e.look = boxLook
		}
	case e.look == inlineLook:
		e.look = boxLook
		e.raised = e.raised || layout&apart.Raised != 0
	}
	e.items = e.items || layout&apart.Items != 0
}

// isUnread reports the elements whose content is not part of the text.
func isUnread(name string) bool {
	switch name {
	case "applet", "datalist", "frameset", "head", "iframe", "math", "noembed", "noframes", "script", "select", "style", "svg", "template", "title", "xml":
		return true
	}
	return false
}

// belongsInHead reports the elements that do not end a head.
func belongsInHead(name string) bool {
	switch name {
	case "base", "basefont", "bgsound", "head", "html", "link", "meta", "noframes", "noscript", "script", "style", "template", "title", "xml":
		return true
	}
	return false
}

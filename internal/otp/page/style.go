package page

import (
	"strings"

	"github.com/gonebox/gonebox/internal/apart"
)

// elementKind is how an element breaks and sets the text around it.
type elementKind uint8

const (
	blockElement  elementKind = 1 << iota
	cellElement               // of a table
	emptyElement              // has no content
	rawElement                // has content that is not text
	strongElement             // sets its text apart
	headElement               // a heading
	struckElement             // crosses its text out
	boxElement                // stands apart from its neighbours on the line

	inlineElement elementKind = 0
)

// breaking are the kinds of which an inline element has none.
const breaking = blockElement | cellElement | emptyElement | rawElement

// kindOfElement returns the kind of an element that is more than inline.
func kindOfElement(name string) elementKind {
	switch name {
	case "td", "th":
		return cellElement
	case "h1", "h2", "h3":
		return blockElement | strongElement | headElement
	case "p", "div", "h4", "h5", "h6", "table", "tr", "tbody", "thead", "tfoot", "ul", "ol", "li", "dl", "dt", "dd",
		"section", "article", "header", "footer", "main", "nav", "aside", "blockquote", "center", "pre", "form", "fieldset", "body",
		"html", "address", "figure", "caption", "figcaption", "legend", "summary", "details", "dialog", "menu", "dir", "hgroup", "search":
		return blockElement
	case "br", "hr", "img", "meta", "link", "input", "area", "base", "col", "embed", "source", "track", "wbr":
		return emptyElement
	case "style", "script", "title", "textarea", "select", "svg", "template", "object", "iframe", "xml", "noframes", "noembed", "math", "audio", "video":
		return rawElement
	case "b", "strong", "code", "kbd", "mark", "big", "tt", "samp", "u":
		return strongElement
	case "s", "del", "strike":
		return struckElement
	case "button", "sup", "sub":
		return boxElement
	}
	return inlineElement
}

// style is what an element's look hands down to the text in it.
type style uint8

const (
	hiddenStyle style = 1 << iota
	quotedStyle
	tinyStyle // the letters are not to be seen; an element inside may undo it
	bigStyle  // the letters are large; likewise
	wideStyle // the letters are spaced
	headStyle // of a heading
	struckStyle
	raisedStyle // above or below the line: the mark of a note, an exponent
)

// isHidden reports whether the text is not shown.
func (s style) isHidden() bool { return s&(hiddenStyle|tinyStyle) != 0 }

// isOwnText reports whether the text is shown, and the sender's own.
func (s style) isOwnText() bool { return s&(hiddenStyle|tinyStyle|quotedStyle) == 0 }

// isLarge reports whether the text stands out.
func (s style) isLarge() bool { return s&(bigStyle|wideStyle|headStyle) != 0 }

// inherit is the style of a new element before its attributes.
func (s style) inherit(kind elementKind) style {
	s.add(headStyle, kind&headElement != 0)
	s.add(struckStyle, kind&struckElement != 0)
	return s
}

// add adds a look if something holds.
func (s *style) add(look style, holds bool) {
	if holds {
		*s |= look
	}
}

// add adds a kind if something holds.
func (k *elementKind) add(kind elementKind, holds bool) {
	if holds {
		*k |= kind
	}
}

// resize sets how large the letters are, in pixels.
func (s *style) resize(n float32) {
	*s &^= tinyStyle | bigStyle
	s.add(tinyStyle, n <= 2)
	s.add(bigStyle, n >= 20)
}

// isQuoteClass reports whether v is a class name under which mail programs put the mail that
// is answered or forwarded.
func isQuoteClass(v string) bool {
	if len(v) < len("moz-cite") {
		return false
	}
	for _, m := range [...]string{"gmail_quote", "yahoo_quoted", "moz-cite", "divRplyFwdMsg", "appendonsend", "OLK_SRC_BODY", "protonmail_quote", "zmail_extra"} {
		if strings.Contains(v, m) {
			return true
		}
	}
	return false
}

// setFont reads the size in the shorthand of a font: "bold 28px/1.2 Courier".
func (s *style) setFont(value string) {
	for f := range strings.FieldsSeq(value) {
		size, _, _ := strings.Cut(f, "/")
		if n, ok := apart.Pixels(size); ok && size[len(size)-1] > '9' { // else it is a weight
			s.resize(n)
			return
		}
	}
}

package page

import (
	"strconv"
	"strings"
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

	inlineElement elementKind = 0
)

// breaking are the kinds of which an inline element has none.
const breaking = blockElement | cellElement | emptyElement | rawElement

// kindOfElement knows the elements that are more than inline.
func kindOfElement(name string) elementKind {
	switch name {
	case "td", "th":
		return cellElement
	case "h1", "h2", "h3":
		return blockElement | strongElement | headElement
	case "p", "div", "h4", "h5", "h6", "table", "tr", "tbody", "thead", "tfoot", "ul", "ol", "li", "dl", "dt", "dd",
		"section", "article", "header", "footer", "main", "nav", "aside", "blockquote", "center", "pre", "form", "fieldset", "body",
		"html", "address", "figure", "caption":
		return blockElement
	case "br", "hr", "img", "meta", "link", "input", "area", "base", "col", "embed", "source", "track", "wbr":
		return emptyElement
	case "style", "script", "title", "textarea", "select", "svg", "template", "object", "iframe", "xml", "noframes", "noembed", "math", "audio", "video":
		return rawElement
	case "b", "strong", "code", "kbd", "mark", "big", "tt", "samp", "u":
		return strongElement
	case "s", "del", "strike":
		return struckElement
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
)

// unseen says whether the text is not shown.
func (s style) unseen() bool { return s&(hiddenStyle|tinyStyle) != 0 }

// read says whether the text is shown, and the sender's own.
func (s style) read() bool { return s&(hiddenStyle|tinyStyle|quotedStyle) == 0 }

// large says whether the text stands out.
func (s style) large() bool { return s&(bigStyle|wideStyle|headStyle) != 0 }

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

// resize sets how large the letters are, in pixels.
func (s *style) resize(n float32) {
	*s &^= tinyStyle | bigStyle
	s.add(tinyStyle, n <= 2)
	s.add(bigStyle, n >= 20)
}

// quoteMark knows the class names under which mail programs put the mail that
// is answered or forwarded.
func quoteMark(v string) bool {
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

// declare applies the declarations of a style attribute.
func (s *style) declare(css string) {
	for css != "" {
		d := css
		if i := strings.IndexByte(css, ';'); i >= 0 {
			d, css = css[:i], css[i+1:]
		} else {
			css = ""
		}
		if i := strings.IndexByte(d, ':'); i > 0 {
			s.declareOne(d[:i], d[i+1:])
		}
	}
}

// declareOne applies a declaration. Most properties are none of those that
// matter, as their first and last letters tell.
func (s *style) declareOne(key, value string) {
	if !isAlpha(key[0]) || !isAlpha(key[len(key)-1]) {
		if key = strings.TrimSpace(key); key == "" {
			return
		}
	}
	first, last := key[0]|0x20, key[len(key)-1]|0x20
	switch {
	case last == 'y' && (first == 'd' || first == 'v' || first == 'o'), last == 'r' && first == 'c', (last == 'e' || last == 't') && first == 'f',
		(last == 't' || last == 'h') && first == 'm', last == 'g' && first == 'l':
		s.set(lowerASCII(key), value)
	}
}

func (s *style) set(key, value string) {
	switch key {
	case "display":
		s.add(hiddenStyle, hasWord(value, "none"))
	case "visibility":
		s.add(hiddenStyle, hasWord(value, "hidden"))
	case "color":
		s.add(hiddenStyle, hasWord(value, "transparent"))
	case "opacity", "max-height", "max-width":
		n, ok := pixels(value)
		s.add(hiddenStyle, ok && n < 0.1)
	case "font-size":
		if n, ok := pixels(value); ok {
			s.resize(n)
		}
	case "font":
		s.setFont(value)
	case "text-decoration", "text-decoration-line":
		s.add(struckStyle, strings.Contains(value, "line-through"))
	case "letter-spacing":
		n, ok := pixels(value)
		s.add(wideStyle, ok && n >= 2)
	}
}

// setFont reads the size in the shorthand of a font: "bold 28px/1.2 Courier".
func (s *style) setFont(value string) {
	for f := range strings.FieldsSeq(value) {
		size, _, _ := strings.Cut(f, "/")
		if n, ok := pixels(size); ok && size[len(size)-1] > '9' { // else it is a weight
			s.resize(n)
			return
		}
	}
}

func hasWord(value, word string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= len(word) && strings.EqualFold(value[:len(word)], word)
}

// em is the size of one em in pixels where nothing sets another.
const em = 16

// pixels reads a CSS length.
func pixels(v string) (float32, bool) {
	v = strings.TrimSpace(v)
	n := 0
	for n < len(v) && (v[n] >= '0' && v[n] <= '9' || v[n] == '.' || v[n] == '-') {
		n++
	}
	f, err := strconv.ParseFloat(v[:n], 32)
	if err != nil {
		return 0, false
	}
	switch unit := strings.TrimSpace(v[n:]); {
	case hasWord(unit, "em"), hasWord(unit, "rem"):
		return float32(f) * em, true
	case hasWord(unit, "pt"):
		return float32(f) * 4 / 3, true
	case hasWord(unit, "%"):
		return float32(f) * em / 100, true
	}
	return float32(f), true
}

package page

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// startTag is a start tag and what it says. Mails are made of rows, whose tags are the
// same to the letter, so that most need be read but once.
type startTag struct {
	source  string // from its name to its end
	element *htmltoken.Element
	href    string
	alt     string // what is shown instead of an image
	around  style
	style   style
	kind    elementKind
	void    bool // closes itself
	items   bool // its children stand apart from one another
}

// Tags are remembered in sets of two, so that two tags of a row that fall into the same
// set do not drive each other out; that saves a seventh of the time for an HTML mail of
// 100 KiB. tagBits is the logarithm of the number of sets, and minTag how many bytes such
// a tag has at least; others are soon read.
const (
	tagBits = 4
	minTag  = 24
)

// tagSet is two tags that were read, the later one first.
type tagSet [2]startTag

// cachedTag finds the start tag that rest begins with among those that were read.
func (h *htmlReader) cachedTag(rest string) *startTag {
	if len(rest) < minTag || rest[0] != '<' {
		return nil
	}
	around, set := h.top(), &h.tags[tagHash(rest)]
	for i := range set {
		if t := &set[i]; t.source != "" && t.around == around && strings.HasPrefix(rest, t.source) {
			return t
		}
	}
	return nil
}

// read reads the present start tag of an element, the first token of rest. It remembers the tag if its content is markup.
func (h *htmlReader) read(rest string, element *htmltoken.Element) *startTag {
	around, name := h.top(), element.Name
	kind := kindOfElement(name)
	h.tag = startTag{element: element, around: around, kind: kind, style: around.inherit(kind)}
	h.tag.style.add(raisedStyle, name == "sup" || name == "sub")
	h.tag.void = h.z.SelfClosing && len(name) > 1 && kind&breaking == 0
	for i := range h.z.Attrs {
		h.tag.attribute(h.z.Attrs[i].Name, h.z.Attrs[i].Source)
	}
	if name == "noscript" { // mail programs run no scripts
		h.z.NotRaw()
		return &h.tag
	}
	if after := h.z.Rest(); after != "" && len(rest)-len(after) >= minTag {
		h.tag.source = rest[:len(rest)-len(after)]
		set := &h.tags[tagHash(rest)]
		set[1], set[0] = set[0], h.tag
	}
	return &h.tag
}

// tagHash tells tags apart by their first bytes, minTag of which there have to be.
func tagHash(s string) uint32 {
	a, b, c := eightOf(s), eightOf(s[8:]), eightOf(s[16:])
	return Hash(a^bits.RotateLeft64(b, 21)^bits.RotateLeft64(c, 42)) >> (32 - tagBits)
}

// attribute notes what an attribute says.
func (t *startTag) attribute(key, value string) {
	switch key {
	case "style":
		if t.kind&rawElement == 0 && t.element.Name != "img" { // which hand down no style
			t.declare(value)
		}
	case "href":
		t.href = value
	case "alt":
		t.alt = value
	case "hidden":
		t.style |= hiddenStyle
	case "class", "id":
		t.style.add(quotedStyle, isQuoteClass(value))
	case "type":
		t.style.add(quotedStyle, t.element.Name == "blockquote" && value == "cite")
	case "size":
		n, _ := strconv.Atoi(value)
		t.style.add(bigStyle, t.element.Name == "font" && n >= 5)
	}
}

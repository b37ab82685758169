package page

import (
	"math/bits"
	"strconv"
	"strings"
)

// startTag is a start tag and what it says. Mails are made of rows, whose tags are the
// same to the letter, so that most need be read but once.
type startTag struct {
	source string // from its name to its end
	name   string
	href   string
	alt    string // what is shown instead of an image
	around style
	style  style
	kind   elementKind
	void   bool // closes itself
}

// tagBits is the logarithm of how many tags are remembered, and minTag how many
// bytes such a tag has at least; others are soon read.
const (
	tagBits = 5
	minTag  = 24
)

// start reads a start tag, or finds it among those that were read.
func (h *htmlReader) start() *startTag {
	rest, around := h.s[h.i:], h.top()
	if len(rest) < minTag {
		h.tag = startTag{around: around}
		h.readTag(&h.tag)
		return &h.tag
	}
	t := &h.tags[tagHash(rest)]
	if t.source != "" && t.around == around && strings.HasPrefix(rest, t.source) {
		h.i += len(t.source)
		return t
	}
	h.tag = startTag{around: around}
	start := h.i
	h.readTag(&h.tag)
	if h.tag.source = h.s[start:h.i]; len(h.tag.source) >= minTag && h.i < len(h.s) {
		*t = h.tag
	}
	return &h.tag
}

// tagHash tells tags apart by their first bytes, minTag of which there have to be.
func tagHash(s string) uint32 {
	a, b, c := eightOf(s), eightOf(s[8:]), eightOf(s[16:])
	return Hash(a^bits.RotateLeft64(b, 21)^bits.RotateLeft64(c, 42)) >> (32 - tagBits)
}

// readTag reads the name and the attributes of a start tag up to its end.
func (h *htmlReader) readTag(t *startTag) {
	t.name = h.name()
	t.kind = kindOfElement(t.name)
	t.style = t.around.inherit(t.kind)
	for h.i < len(h.s) {
		c := h.s[h.i]
		switch {
		case c == '>':
			h.i++
			return
		case c <= ' ' || c == '/':
			t.void = c == '/' && h.i+1 < len(h.s) && h.s[h.i+1] == '>' && len(t.name) > 1 && t.kind&breaking == 0
			h.i++
			continue
		}
		t.attribute(h.attribute())
	}
}

// attribute notes what an attribute says.
func (t *startTag) attribute(key, value string) {
	switch key {
	case "style":
		if t.kind&rawElement == 0 && t.name != "img" { // which hand down no style
			t.style.declare(value)
		}
	case "href":
		t.href = value
	case "alt":
		t.alt = value
	case "hidden":
		t.style |= hiddenStyle
	case "class", "id":
		t.style.add(quotedStyle, quoteMark(value))
	case "type":
		t.style.add(quotedStyle, t.name == "blockquote" && value == "cite")
	case "size":
		n, _ := strconv.Atoi(value)
		t.style.add(bigStyle, t.name == "font" && n >= 5)
	}
}

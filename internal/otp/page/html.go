package page

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// maxDepth bounds the stack of open elements; deeper ones inherit.
const maxDepth = 256

// element is an open HTML element with what it hands down.
type element struct {
	name   string
	span   int32 // the span it opened, counted from 1
	kind   elementKind
	style  style
	opened bool // it opened a link
	items  bool // its children stand apart
	box    bool // it stands apart on its line
	number int  // from 1 on, in the order of the mail
}

// htmlReader turns HTML into lines of a page: one for each block.
type htmlReader struct {
	p      *Page
	z      *htmltoken.Tokenizer
	stack  []element
	path   *htmltoken.Path // the names of stack
	hidden []rune          // text that is not shown: preheaders, decoys
	last   joint           // to the text before
	opened int             // how many elements have been opened
	tag    startTag        // the one that was read last
	tags   [1 << tagBits]tagSet
}

// readHTML adds an HTML text. It reads as mail programs show: no scripts,
// styles, comments or attributes but what stands for an image; what is hidden
// comes last, as a preheader.
func (p *Page) readHTML(s string) {
	p.tokens.Reset(s)
	h := &htmlReader{p: p, z: &p.tokens, stack: p.stack, path: &p.path, hidden: p.hidden}
	for !p.isFull() {
		rest := h.z.Rest()
		if t := h.cachedTag(rest); t != nil && !h.implies(t.element) {
			h.z.Skip(len(t.source))
			h.open(t)
			continue
		}
		if !h.z.Next() {
			break
		}
		switch h.z.Kind {
		case htmltoken.Text:
			h.text(h.z.Text)
		case htmltoken.StartTag:
			element := htmltoken.ElementOf(h.z.Name)
			h.endImplied(element)
			h.open(h.read(rest, element))
		case htmltoken.EndTag:
			h.close(h.z.Name)
		}
	}
	p.closeLink()
	p.stack, p.hidden = h.stack, h.hidden
	p.open(InPreheader)
	for _, r := range h.hidden {
		if r == HardBreak {
			p.breakLine(HardBreak)
		} else {
			p.write(r)
		}
	}
	p.breakLine(HardBreak)
}

func (h *htmlReader) top() style {
	if len(h.stack) == 0 {
		return 0
	}
	return h.stack[len(h.stack)-1].style
}

// text writes a text between two tags.
func (h *htmlReader) text(s string) {
	st := h.top()
	shown := st.isOwnText()
	if shown && s != "" {
		if st&raisedStyle != 0 && isNoteMark(s) {
			return
		}
		h.join(s)
	}
	for i := 0; i < len(s) && !h.p.isFull(); {
		c := s[i]
		n := 0
		if shown && c < utf8.RuneSelf && c >= ' ' && c != '&' {
			var ink bool
			n, ink = h.p.writeASCII(s[i:])
			h.p.large = h.p.large || ink && st.isLarge()
		}
		switch {
		case n > 0:
		case c == '&':
			n = h.entity(s[i:], st)
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			h.put(r, st)
		}
		i += n
	}
}

func (h *htmlReader) put(r rune, st style) {
	switch {
	case st&quotedStyle != 0:
	case st.isHidden():
		if len(h.hidden) < maxRunes/16 {
			h.hidden = append(h.hidden, r)
		}
	case r <= ' ':
		h.p.writeGap(' ')
	default:
		h.p.large = h.p.large || st.isLarge()
		h.p.write(r)
	}
}

// entity writes the character reference that s begins with, or the ampersand
// that begins none, and returns its length.
func (h *htmlReader) entity(s string, st style) int {
	end := strings.IndexByte(s[:min(len(s), 34)], ';')
	if end < 2 {
		h.put('&', st)
		return 1
	}
	for _, r := range unescape(s[:end+1]) {
		h.put(r, st)
	}
	return end + 1
}

// unescape is html.UnescapeString that does not allocate for what is written
// most.
func unescape(s string) string {
	switch s {
	case "&nbsp;":
		return "\u00A0"
	case "&amp;":
		return "&"
	case "&zwnj;":
		return "\u200C"
	}
	return html.UnescapeString(s)
}

// open opens an element.
func (h *htmlReader) open(t *startTag) {
	st := t.style
	switch {
	case t.kind&rawElement != 0:
		for h.z.Next() && (h.z.Kind != htmltoken.EndTag || h.z.Name != t.element.Name) { // skips its content
		}
		return
	case t.kind&emptyElement != 0:
		switch t.element.Name {
		case "br", "hr":
			h.separate(st)
		case "img":
			h.writeAlt(t.alt, st)
		case "input":
			h.last.element = 0
		}
		return
	case t.kind&cellElement != 0:
		if !st.isHidden() {
			h.p.writeGap(CellBreak)
		}
	case t.kind&blockElement != 0:
		h.separate(st)
	}
	box := t.kind&boxElement != 0 || len(h.stack) > 0 && h.stack[len(h.stack)-1].items
	h.last.apart = h.last.apart || box && !st.isHidden()
	opened := t.element.Name == "a" && t.href != "" && st.isOwnText() && h.p.openLink(t.href)
	if !t.void && len(h.stack) < maxDepth {
		span := h.p.openSpan(h.emphasis(t.kind, st))
		h.opened++
		h.stack = append(h.stack, element{
			name: t.element.Name, span: span, kind: t.kind, style: st, opened: opened, items: t.items, box: box, number: h.opened,
		})
		h.path.Push(t.element)
	}
}

// separate ends a line of what is shown, or of what is hidden.
func (h *htmlReader) separate(st style) {
	if st.isHidden() {
		if n := len(h.hidden); n > 0 && h.hidden[n-1] != HardBreak {
			h.hidden = append(h.hidden, HardBreak)
		}
		return
	}
	h.p.breakLine(HardBreak)
}

// close pops the stack down to the named element, if it is among the last few.
func (h *htmlReader) close(name string) {
	for n := len(h.stack) - 1; n >= 0 && n >= len(h.stack)-32; n-- {
		if h.stack[n].name != name {
			continue
		}
		for _, e := range h.stack[n:] {
			if e.opened {
				h.p.closeLink()
			}
			h.p.closeSpan(e.span)
			if e.kind&blockElement != 0 {
				h.separate(e.style)
			}
			h.last.apart = h.last.apart || e.box && !e.style.isHidden()
		}
		if h.stack[n].kind&cellElement != 0 && !h.stack[n].style.isHidden() {
			h.p.writeGap(CellBreak)
		}
		h.stack = h.stack[:n]
		h.path.Cut(n)
		return
	}
	if kindOfElement(name)&blockElement != 0 {
		h.separate(h.top())
	}
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// lowerASCII lowers a tag or property name; most are lower case already.
func lowerASCII(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}

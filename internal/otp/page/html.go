package page

import (
	"html"
	"strings"
	"unicode/utf8"
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
}

// htmlReader turns HTML into lines of a page: one for each block.
type htmlReader struct {
	p      *Page
	s      string
	i      int
	stack  []element
	hidden []rune   // text that is not shown: preheaders, decoys
	tag    startTag // the one that was read last
	tags   [1 << tagBits]startTag
}

// readHTML adds an HTML text. It reads as mail programs show: no scripts,
// styles, comments or attributes but what stands for an image; what is hidden
// comes last, as a preheader.
func (p *Page) readHTML(s string) {
	h := &htmlReader{p: p, s: s, stack: p.stack, hidden: p.hidden}
	for h.i < len(s) && !p.full() {
		if s[h.i] == '<' && h.markup() {
			continue
		}
		h.text()
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

// text writes the run of text up to the next tag.
func (h *htmlReader) text() {
	st := h.top()
	start, end := h.i, h.i
	shown := st.read()
	for h.i < len(h.s) && (h.s[h.i] != '<' || h.i == start) && !h.p.full() {
		c := h.s[h.i]
		if shown && c < utf8.RuneSelf && c >= ' ' && c != '&' {
			if h.i >= end {
				end = h.tagFrom(h.i + 1)
			}
			h.ascii(end, st)
			continue
		}
		switch {
		case c == '&':
			h.entity(st)
		case c < utf8.RuneSelf:
			h.i++
			h.put(rune(c), st)
		default:
			r, n := utf8.DecodeRuneInString(h.s[h.i:])
			h.i += n
			h.put(r, st)
		}
	}
}

// tagFrom gives the place of the next '<'.
func (h *htmlReader) tagFrom(i int) int {
	if n := strings.IndexByte(h.s[i:], '<'); n >= 0 {
		return i + n
	}
	return len(h.s)
}

// ascii writes the ASCII letters that come next, or the one control character.
func (h *htmlReader) ascii(end int, st style) {
	n, ink := h.p.ascii(h.s[h.i:end])
	h.i += n
	h.p.large = h.p.large || ink && st.large()
	if n == 0 {
		h.put(rune(h.s[h.i]), st)
		h.i++
	}
}

func (h *htmlReader) put(r rune, st style) {
	switch {
	case st&quotedStyle != 0:
	case st.unseen():
		if len(h.hidden) < maxRunes/16 {
			h.hidden = append(h.hidden, r)
		}
	case r <= ' ':
		h.p.gap(' ')
	default:
		h.p.large = h.p.large || st.large()
		h.p.write(r)
	}
}

// entity writes one character reference, or the ampersand that begins none.
func (h *htmlReader) entity(st style) {
	rest := h.s[h.i:min(len(h.s), h.i+34)]
	end := strings.IndexByte(rest, ';')
	if end < 2 {
		h.i++
		h.put('&', st)
		return
	}
	for _, r := range unescape(rest[:end+1]) {
		h.put(r, st)
	}
	h.i += end + 1
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

// markup reads a tag or comment; it answers false where '<' is but text.
func (h *htmlReader) markup() bool {
	rest := h.s[h.i:]
	if len(rest) < 2 {
		return false
	}
	switch c := rest[1]; {
	case isAlpha(c):
		h.i++
		h.open()
	case c == '/':
		h.i += 2
		name := h.name()
		h.skipTag()
		h.close(name)
	case strings.HasPrefix(rest, "<!--"):
		h.skipPast("-->")
	case c == '!' || c == '?':
		h.skipTag()
	default:
		return false
	}
	return true
}

func (h *htmlReader) skipPast(mark string) {
	n := strings.Index(h.s[h.i:], mark)
	if n < 0 {
		h.i = len(h.s)
		return
	}
	h.i += n + len(mark)
}

// skipTag passes over the rest of a tag of which nothing is wanted.
func (h *htmlReader) skipTag() {
	if h.i < len(h.s) && h.s[h.i] == '>' {
		h.i++
		return
	}
	h.skipPast(">")
}

func (h *htmlReader) name() string {
	i, seen := h.i, byte(0)
	for i < len(h.s) && htmlBytes[h.s[i]]&inName != 0 {
		seen |= htmlBytes[h.s[i]]
		i++
	}
	name := h.s[h.i:i]
	if h.i = i; seen&upperCase != 0 {
		return strings.ToLower(name)
	}
	return name
}

// open reads a start tag.
func (h *htmlReader) open() {
	t := h.start()
	st := t.style
	switch {
	case t.kind&rawElement != 0:
		h.skipRaw(t.name)
		return
	case t.kind&emptyElement != 0:
		switch t.name {
		case "br", "hr":
			h.separate(st)
		case "img":
			h.instead(t.alt, st)
		}
		return
	case t.kind&cellElement != 0:
		if !st.unseen() {
			h.p.gap(CellBreak)
		}
	case t.kind&blockElement != 0:
		h.separate(st)
	}
	opened := t.name == "a" && t.href != "" && st.read() && h.p.openLink(t.href)
	if !t.void && len(h.stack) < maxDepth {
		span := h.p.openSpan(h.emphasis(t.kind, st))
		h.stack = append(h.stack, element{name: t.name, span: span, kind: t.kind, style: st, opened: opened})
	}
}

// separate ends a line of what is shown, or of what is hidden.
func (h *htmlReader) separate(st style) {
	if st.unseen() {
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
		}
		if h.stack[n].kind&cellElement != 0 && !h.stack[n].style.unseen() {
			h.p.gap(CellBreak)
		}
		h.stack = h.stack[:n]
		return
	}
	if kindOfElement(name)&blockElement != 0 {
		h.separate(h.top())
	}
}

// skipRaw passes over an element whose content is not text.
func (h *htmlReader) skipRaw(name string) {
	for h.i < len(h.s) {
		n := strings.Index(h.s[h.i:], "</")
		if n < 0 {
			h.i = len(h.s)
			return
		}
		h.i += n + 2
		if h.name() == name {
			h.skipTag()
			return
		}
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

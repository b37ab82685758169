package otp

import (
	"html"
	"strconv"
	"strings"
)

// elementKind is how an element breaks the text around it.
type elementKind uint8

const (
	inlineElement elementKind = iota
	blockElement
	cellElement
	emptyElement // has no content
	rawElement   // has content that is not text
)

var kinds = func() map[string]elementKind {
	m := map[string]elementKind{"td": cellElement, "th": cellElement}
	for kind, names := range map[elementKind]string{
		blockElement: "p div h1 h2 h3 h4 h5 h6 table tr tbody thead tfoot ul ol li dl dt dd section article header footer main nav " +
			"aside blockquote center pre form fieldset body html address figure caption",
		emptyElement: "br hr img meta link input area base col embed source track wbr",
		rawElement:   "style script title textarea select svg template object iframe xml noframes math audio video",
	} {
		for n := range strings.FieldsSeq(names) {
			m[n] = kind
		}
	}
	return m
}()

// style is what an element's look hands down to the text in it.
type style struct {
	hidden bool
	quoted bool
	tiny   bool // the letters are not to be seen; an element inside may undo it
	big    bool // the letters are large; likewise
	wide   bool // the letters are spaced
	head   bool // of a heading
	struck bool // the letters are crossed out
}

// unseen says whether the text is not shown.
func (s style) unseen() bool { return s.hidden || s.tiny }

// large says whether the text stands out.
func (s style) large() bool { return s.big || s.wide || s.head }

// inherit is the style of a new element before its attributes.
func (s style) inherit(name string) style {
	switch name {
	case "h1", "h2", "h3":
		s.head = true
	case "s", "del", "strike":
		s.struck = true
	}
	return s
}

// attributes reads the attributes of a start tag up to its end.
func (h *htmlReader) attributes(st style, name string, kind elementKind) (_ style, href string, void bool) {
	for h.i < len(h.s) {
		c := h.s[h.i]
		switch {
		case c == '>':
			h.i++
			return st, href, void
		case c <= ' ' || c == '/':
			void = c == '/' && h.i+1 < len(h.s) && h.s[h.i+1] == '>' && len(name) > 1 && kind == inlineElement
			h.i++
			continue
		}
		key, value := h.attribute()
		switch key {
		case "style":
			st.declare(value)
		case "href":
			href = strings.TrimSpace(html.UnescapeString(value))
		case "hidden":
			st.hidden = true
		case "class", "id":
			st.quoted = st.quoted || quoteMark(value)
		case "type":
			st.quoted = st.quoted || name == "blockquote" && value == "cite"
		case "size":
			n, _ := strconv.Atoi(value)
			st.big = st.big || name == "font" && n >= 5
		}
	}
	return st, href, void
}

func (h *htmlReader) attribute() (key, value string) {
	start := h.i
	for h.i < len(h.s) && !endsKey(h.s[h.i]) {
		h.i++
	}
	if h.i == start {
		h.i++ // a stray '='
	}
	key = lowerASCII(h.s[start:h.i])
	j := h.i
	for j < len(h.s) && h.s[j] <= ' ' {
		j++
	}
	if j >= len(h.s) || h.s[j] != '=' {
		return key, ""
	}
	j++
	for j < len(h.s) && h.s[j] <= ' ' {
		j++
	}
	h.i = j
	return key, h.value()
}

// endsKey says whether a byte ends the name of an attribute.
func endsKey(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '\f', '=', '>', '/':
		return true
	}
	return false
}

func (h *htmlReader) value() string {
	if h.i >= len(h.s) {
		return ""
	}
	q := h.s[h.i]
	if q == '"' || q == '\'' {
		start := h.i + 1
		n := strings.IndexByte(h.s[start:], q)
		if n < 0 {
			h.i = len(h.s)
			return ""
		}
		h.i = start + n + 1
		return h.s[start : start+n]
	}
	start := h.i
	for h.i < len(h.s) && h.s[h.i] > ' ' && h.s[h.i] != '>' {
		h.i++
	}
	return h.s[start:h.i]
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
		var d string
		d, css, _ = strings.Cut(css, ";")
		key, value, ok := strings.Cut(d, ":")
		if !ok {
			continue
		}
		s.set(lowerASCII(strings.TrimSpace(key)), value)
	}
}

func (s *style) set(key, value string) {
	switch key {
	case "display":
		s.hidden = s.hidden || hasWord(value, "none")
	case "visibility":
		s.hidden = s.hidden || hasWord(value, "hidden")
	case "color":
		s.hidden = s.hidden || hasWord(value, "transparent")
	case "opacity", "max-height", "max-width":
		n, ok := pixels(value, 16)
		s.hidden = s.hidden || ok && n < 0.1
	case "font-size":
		if n, ok := pixels(value, 16); ok {
			s.tiny, s.big = n <= 2, n >= 20
		}
	case "text-decoration", "text-decoration-line":
		s.struck = s.struck || strings.Contains(value, "line-through")
	case "letter-spacing":
		n, ok := pixels(value, 16)
		s.wide = s.wide || ok && n >= 2
	}
}

func hasWord(value, word string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= len(word) && strings.EqualFold(value[:len(word)], word)
}

// pixels reads a CSS length; em is the size of one em.
func pixels(v string, em float32) (float32, bool) {
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

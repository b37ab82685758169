package page

import (
	"strings"

	"github.com/gonebox/gonebox/internal/apart"
)

// declare applies the declarations of a style attribute.
func (t *startTag) declare(css string) {
	for css != "" {
		d := css
		if i := strings.IndexByte(css, ';'); i >= 0 {
			d, css = css[:i], css[i+1:]
		} else {
			css = ""
		}
		if i := strings.IndexByte(d, ':'); i > 0 {
			t.declareOne(d[:i], d[i+1:])
		}
	}
}

// declareOne applies a declaration. Most properties are none of those that
// matter, as their first and last letters tell.
func (t *startTag) declareOne(key, value string) {
	if !isAlpha(key[0]) || !isAlpha(key[len(key)-1]) {
		if key = strings.TrimSpace(key); key == "" {
			return
		}
	}
	first, last := key[0]|0x20, key[len(key)-1]|0x20
	switch {
	case last == 'y' && (first == 'd' || first == 'v' || first == 'o'), last == 'r' && first == 'c', (last == 'e' || last == 't') && first == 'f',
		(last == 't' || last == 'h') && first == 'm', last == 'g' && first == 'l':
		key = lowerASCII(key)
		t.style.set(key, value)
		t.applyLayout(key, value)
	case last == 'n' && (first == 'm' || first == 'p' || first == 'v'), (last == 'g' || last == 't') && first == 'p':
		t.applyLayout(lowerASCII(key), value)
	}
}

func (s *style) set(key, value string) {
	switch key {
	case "display":
		s.add(hiddenStyle, apart.HasWord(value, "none"))
	case "visibility":
		s.add(hiddenStyle, apart.HasWord(value, "hidden"))
	case "color":
		s.add(hiddenStyle, apart.HasWord(value, "transparent"))
	case "opacity", "max-height", "max-width":
		n, ok := apart.Pixels(value)
		s.add(hiddenStyle, ok && n < 0.1)
	case "font-size":
		if n, ok := apart.Pixels(value); ok {
			s.resize(n)
		}
	case "font":
		s.setFont(value)
	case "text-decoration", "text-decoration-line":
		s.add(struckStyle, strings.Contains(value, "line-through"))
	case "letter-spacing":
		n, ok := apart.Pixels(value)
		s.add(wideStyle, ok && n >= 2)
	}
}

// applyLayout applies what a declaration says of how an element stands among its neighbours.
func (t *startTag) applyLayout(key, value string) {
	layout := apart.Declared(key, value)
	if layout == 0 {
		return
	}
	if t.kind&breaking == 0 && layout&apart.Margin != 0 {
		t.kind |= boxElement
		t.style.add(raisedStyle, layout&apart.Raised != 0)
	}
	if layout&apart.Inline != 0 {
		t.kind &^= blockElement
	}
	t.kind.add(blockElement, layout&apart.Block != 0)
	t.kind.add(boxElement, layout&apart.Box != 0)
	t.kind.add(cellElement, layout&apart.Cell != 0)
	t.items = t.items || layout&apart.Items != 0
}

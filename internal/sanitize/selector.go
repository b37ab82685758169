package sanitize

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Limits of a selector. One beyond them is dropped.
const (
	maxSelector = 512 // bytes
	maxParts    = 8   // compounds
	maxTests    = 8   // of one compound
)

// selector is a complex selector (Selectors Level 4 §3.1): compounds, and how each stands to the next.
type selector struct {
	parts       []compound // the subject first, then outwards
	specificity uint32     // ids<<16 | classes<<8 | types
	rule        *rule
}

// compound is what one element has to be.
type compound struct {
	tag, id     string // empty: any
	classes     []string
	attrs       []attrTest
	link        bool // :link
	first, last bool // :first-child, :last-child
	child       bool // the next part is the parent, not just any ancestor
}

// attrTest is [name], [name=value], or [name~=value].
type attrTest struct {
	name, value string
	op          string // "", "=" or "~="
}

// parseSelector reads one selector. Whatever is not understood makes ok false.
func parseSelector(text string) (s selector, ok bool) {
	text = strings.TrimSpace(withoutComments(text))
	if text == "" || len(text) > maxSelector {
		return selector{}, false
	}
	for text != "" {
		var c compound
		if c, text, ok = s.parseCompound(text); !ok || len(s.parts) == maxParts {
			return selector{}, false
		}
		s.parts = append(s.parts, c)
		rest := strings.TrimLeft(text, cssSpace)
		if below, found := strings.CutPrefix(rest, ">"); found {
			rest = strings.TrimLeft(below, cssSpace)
			s.parts[len(s.parts)-1].child = true
		} else if len(rest) == len(text) && rest != "" {
			return selector{}, false
		}
		text = rest
	}
	// A combinator was read with the part before it; reversed, it belongs to the part behind it.
	outer := s.parts[:len(s.parts)-1]
	if s.parts[len(outer)].child {
		return selector{}, false
	}
	slices.Reverse(s.parts)
	for i := range outer {
		s.parts[i].child = s.parts[i+1].child
	}
	s.parts[len(s.parts)-1].child = false
	return s, true
}

const cssSpace = " \t\n\r\f"

// parseCompound reads the compound that text begins with, and adds its specificity.
func (s *selector) parseCompound(text string) (c compound, rest string, ok bool) {
	rest = text
	if after, found := strings.CutPrefix(rest, "*"); found {
		rest = after
	} else if c.tag, rest = identifier(rest); c.tag != "" {
		c.tag = strings.ToLower(c.tag)
		s.specificity++
	}
	for tests := 0; rest != ""; tests++ {
		kind := rest[0]
		if strings.IndexByte(".#[:", kind) < 0 {
			break
		}
		if rest, ok = c.parseTest(kind, rest[1:]); !ok || tests == maxTests {
			return compound{}, "", false
		}
		if kind == '#' {
			s.specificity += 1 << 16
		} else {
			s.specificity += 1 << 8
		}
	}
	return c, rest, len(rest) < len(text)
}

// parseTest reads one test behind the character that says which kind it is.
func (c *compound) parseTest(kind byte, text string) (rest string, ok bool) {
	if kind == '[' {
		return c.parseAttr(text)
	}
	name, rest := identifier(text)
	switch {
	case name == "":
		return "", false
	case kind == '.':
		c.classes = append(c.classes, name)
		return rest, true
	case kind == '#':
		ok = c.id == "" || c.id == name
		c.id = name
		return rest, ok
	}
	switch strings.ToLower(name) {
	case "link":
		c.link = true
	case "first-child":
		c.first = true
	case "last-child":
		c.last = true
	default:
		return "", false
	}
	return rest, !strings.HasPrefix(rest, "(")
}

func (c *compound) parseAttr(text string) (rest string, ok bool) {
	t := attrTest{}
	t.name, rest = identifier(strings.TrimLeft(text, cssSpace))
	t.name = strings.ToLower(t.name)
	rest = strings.TrimLeft(rest, cssSpace)
	for _, op := range []string{"=", "~="} {
		if value, found := strings.CutPrefix(rest, op); found {
			t.op, rest = op, strings.TrimLeft(value, cssSpace)
			break
		}
	}
	if t.op != "" {
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			t.value, rest, ok = strings.Cut(rest[1:], rest[:1])
		} else {
			t.value, rest = identifier(rest)
			ok = t.value != ""
		}
		if !ok || strings.Contains(t.value, `\`) {
			return "", false
		}
	}
	c.attrs = append(c.attrs, t)
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, cssSpace), "]")
	return rest, ok && t.name != ""
}

// element is an element of the mail with what selectors ask about it.
type element struct {
	node    *html.Node
	id      string
	classes []string
}

// maxClasses is how many classes of one element are looked at.
const maxClasses = 32

// read makes e the element of n.
func (e *element) read(n *html.Node) {
	e.node, e.id, e.classes = n, value(n, "id"), e.classes[:0]
	for name := range strings.FieldsSeq(value(n, "class")) {
		if e.classes = append(e.classes, name); len(e.classes) == maxClasses {
			break
		}
	}
}

// matches reports whether the selector's subject is the last element of path, which leads there from the root. Each
// descent may begin at any ancestor; the nearest that fits is as good as any, since it leaves the most ancestors for what
// is further out. So the cost is the length of path times that of the selector, whatever they are.
func (s *selector) matches(path []element, work *int) bool {
	subject := true
	for parts := s.parts; len(parts) > 0; subject = false {
		n := 1 // parts that must be child of one another
		for parts[n-1].child {
			n++
		}
		for !chainMatches(parts[:n], path, work) {
			if subject || len(path) == 0 {
				return false
			}
			path = path[:len(path)-1]
		}
		path, parts = path[:len(path)-n], parts[n:]
	}
	return true
}

// chainMatches reports whether the elements at the end of path are what parts ask, each the child of the next.
func chainMatches(parts []compound, path []element, work *int) bool {
	for i := range parts {
		if i == len(path) || !parts[i].matches(&path[len(path)-1-i], work) {
			return false
		}
	}
	return true
}

// matches subtracts from work what it costs. Once nothing is left, nothing matches.
func (c *compound) matches(e *element, work *int) bool {
	*work -= 1 + len(c.classes)*len(e.classes)/4 + len(c.attrs)*len(e.node.Attr)
	if *work < 0 || c.tag != "" && c.tag != e.node.Data || c.id != "" && c.id != e.id {
		return false
	}
	for _, name := range c.classes {
		if !slices.Contains(e.classes, name) {
			return false
		}
	}
	for _, t := range c.attrs {
		if !t.matches(e.node) {
			return false
		}
	}
	if c.link && (e.node.Data != "a" || value(e.node, "href") == "") {
		return false
	}
	return !(c.first && hasSibling(e.node, before, work) || c.last && hasSibling(e.node, after, work))
}

func (t attrTest) matches(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == t.name && a.Namespace == "" {
			switch t.op {
			case "":
				return true
			case "=":
				return a.Val == t.value
			}
			return t.value != "" && slices.Contains(strings.Fields(a.Val), t.value)
		}
	}
	return false
}

func before(n *html.Node) *html.Node { return n.PrevSibling }
func after(n *html.Node) *html.Node  { return n.NextSibling }

// hasSibling reports whether an element is found in the direction of step.
func hasSibling(n *html.Node, step func(*html.Node) *html.Node, work *int) bool {
	for n = step(n); n != nil && *work > 0; n = step(n) {
		if n.Type == html.ElementNode {
			return true
		}
		*work--
	}
	return false
}

package css

import (
	"slices"
	"strings"
)

// Limits of a selector. One beyond them is dropped.
const (
	maxSelector = 512 // bytes
	maxParts    = 8   // compounds
	maxTests    = 8   // of one compound
)

// Selector is a complex selector (Selectors Level 4 §3.1): compounds, and how each stands to the next.
type Selector struct {
	Parts       []Compound // the subject first, then outwards
	Specificity uint32     // ids<<16 | classes<<8 | types
}

// Compound is what one element has to be.
type Compound struct {
	Tag, ID     string // empty: any
	Classes     []string
	Attrs       []AttrTest
	Link        bool // :link
	First, Last bool // :first-child, :last-child
	Child       bool // the next part is the parent, not just any ancestor
}

// AttrTest is [name] or [name=value], with one of the other operators for =, and with or without i for any case of letters.
type AttrTest struct {
	Name  string
	value string
	op    string // "", or one of attrOps
	fold  bool
}

// attrOps are the operators that compare an attribute (Selectors Level 4 §6.1, §6.2).
var attrOps = [...]string{"=", "~=", "|=", "^=", "$=", "*="}

// MaxCompared is how much of an attribute's value is compared with a part of it, in bytes.
const MaxCompared = 1 << 10

// ParseSelector reads one selector. Whatever is not understood makes ok false.
func ParseSelector(text string) (s Selector, ok bool) {
	text = strings.TrimSpace(WithoutComments(text))
	if text == "" || len(text) > maxSelector {
		return Selector{}, false
	}
	for text != "" {
		var c Compound
		if c, text, ok = s.parseCompound(text); !ok || len(s.Parts) == maxParts {
			return Selector{}, false
		}
		s.Parts = append(s.Parts, c)
		rest := strings.TrimLeft(text, Space)
		if below, found := strings.CutPrefix(rest, ">"); found {
			rest = strings.TrimLeft(below, Space)
			s.Parts[len(s.Parts)-1].Child = true
		} else if len(rest) == len(text) && rest != "" {
			return Selector{}, false
		}
		text = rest
	}
	// A combinator was read with the part before it; reversed, it belongs to the part behind it.
	outer := s.Parts[:len(s.Parts)-1]
	if s.Parts[len(outer)].Child {
		return Selector{}, false
	}
	slices.Reverse(s.Parts)
	for i := range outer {
		s.Parts[i].Child = s.Parts[i+1].Child
	}
	s.Parts[len(s.Parts)-1].Child = false
	return s, true
}

// parseCompound reads the compound that text begins with, and adds its specificity.
func (s *Selector) parseCompound(text string) (c Compound, rest string, ok bool) {
	rest = text
	if after, found := strings.CutPrefix(rest, "*"); found {
		rest = after
	} else if c.Tag, rest = Identifier(rest); c.Tag != "" {
		c.Tag = strings.ToLower(c.Tag)
		s.Specificity++
	}
	for tests := 0; rest != ""; tests++ {
		kind := rest[0]
		if strings.IndexByte(".#[:", kind) < 0 {
			break
		}
		if rest, ok = c.parseTest(kind, rest[1:]); !ok || tests == maxTests {
			return Compound{}, "", false
		}
		if kind == '#' {
			s.Specificity += 1 << 16
		} else {
			s.Specificity += 1 << 8
		}
	}
	return c, rest, len(rest) < len(text)
}

// parseTest reads one test behind the character that says which kind it is.
func (c *Compound) parseTest(kind byte, text string) (rest string, ok bool) {
	if kind == '[' {
		return c.parseAttr(text)
	}
	name, rest := Identifier(text)
	switch {
	case name == "":
		return "", false
	case kind == '.':
		c.Classes = append(c.Classes, name)
		return rest, true
	case kind == '#':
		ok = c.ID == "" || c.ID == name
		c.ID = name
		return rest, ok
	}
	switch strings.ToLower(name) {
	case "link":
		c.Link = true
	case "first-child":
		c.First = true
	case "last-child":
		c.Last = true
	default:
		return "", false
	}
	return rest, !strings.HasPrefix(rest, "(")
}

func (c *Compound) parseAttr(text string) (rest string, ok bool) {
	t := AttrTest{}
	t.Name, rest = Identifier(strings.TrimLeft(text, Space))
	t.Name = strings.ToLower(t.Name)
	rest = strings.TrimLeft(rest, Space)
	for _, op := range attrOps {
		if value, found := strings.CutPrefix(rest, op); found {
			t.op, rest = op, strings.TrimLeft(value, Space)
			break
		}
	}
	if t.op != "" {
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			t.value, rest, ok = strings.Cut(rest[1:], rest[:1])
		} else {
			t.value, rest = Identifier(rest)
			ok = t.value != ""
		}
		if !ok || strings.Contains(t.value, `\`) {
			return "", false
		}
		flag, after := Identifier(strings.TrimLeft(rest, Space))
		switch strings.ToLower(flag) {
		case "i":
			t.fold, t.value, rest = true, strings.ToLower(t.value), after
		case "s":
			rest = after
		}
	}
	c.Attrs = append(c.Attrs, t)
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, Space), "]")
	return rest, ok && t.Name != ""
}

// Accepts reports whether an attribute's value is what t asks for.
func (t AttrTest) Accepts(val string) bool {
	switch {
	case t.op == "":
		return true
	case len(val) <= MaxCompared || t.op == "=":
	case t.op == "$=":
		val = val[len(val)-MaxCompared:]
	default:
		val = val[:MaxCompared]
	}
	if t.fold {
		val = strings.ToLower(val)
	}
	switch t.op {
	case "=":
		return val == t.value
	case "|=":
		return val == t.value || strings.HasPrefix(val, t.value+"-")
	}
	if t.value == "" {
		return false
	}
	switch t.op {
	case "^=":
		return strings.HasPrefix(val, t.value)
	case "$=":
		return strings.HasSuffix(val, t.value)
	case "*=":
		return strings.Contains(val, t.value)
	}
	return slices.Contains(strings.Fields(val), t.value)
}

// Match reports whether the subject of a selector is the last element of path, which leads there from the root. fits reports whether
// an element is what a compound asks for. Each descent may begin at any ancestor; the nearest that fits is as good as any, since it
// leaves the most ancestors for what is further out. So fits is called at most as often as path and the selector are long, multiplied.
func Match[E any](s *Selector, path []E, fits func(*Compound, *E) bool) bool {
	subject := true
	for parts := s.Parts; len(parts) > 0; subject = false {
		n := 1 // parts that must be child of one another
		for parts[n-1].Child {
			n++
		}
		for !matchChain(parts[:n], path, fits) {
			if subject || len(path) == 0 {
				return false
			}
			path = path[:len(path)-1]
		}
		path, parts = path[:len(path)-n], parts[n:]
	}
	return true
}

// matchChain reports whether the elements at the end of path are what parts ask, each the child of the next.
func matchChain[E any](parts []Compound, path []E, fits func(*Compound, *E) bool) bool {
	for i := range parts {
		if i == len(path) || !fits(&parts[i], &path[len(path)-1-i]) {
			return false
		}
	}
	return true
}

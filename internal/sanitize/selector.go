package sanitize

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/css"
)

// selector is a selector with the rule that it is of.
type selector struct {
	css.Selector
	rule *rule
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

// matches reports whether the selector's subject is the last element of path, as css.Match does. It subtracts from work what it costs.
func (s *selector) matches(path []element, work *int) bool {
	return css.Match(&s.Selector, path, func(c *css.Compound, e *element) bool { return compoundMatches(c, e, work) })
}

// compoundMatches reports whether e is what c asks for. It subtracts from work what it costs. Once nothing is left, nothing matches.
func compoundMatches(c *css.Compound, e *element, work *int) bool {
	*work -= 1 + len(c.Classes)*len(e.classes)/4 + len(c.Attrs)*len(e.node.Attr)
	if *work < 0 || c.Tag != "" && c.Tag != e.node.Data || c.ID != "" && c.ID != e.id {
		return false
	}
	for _, name := range c.Classes {
		if !slices.Contains(e.classes, name) {
			return false
		}
	}
	for _, t := range c.Attrs {
		*work -= css.MaxCompared / 64
		if !attrMatches(t, e.node) {
			return false
		}
	}
	if c.Link && (e.node.Data != "a" || value(e.node, "href") == "") {
		return false
	}
	return !(c.First && hasSibling(e.node, before, work) || c.Last && hasSibling(e.node, after, work))
}

// attrMatches reports whether n has the attribute that t asks for.
func attrMatches(t css.AttrTest, n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == t.Name && a.Namespace == "" {
			return t.Accepts(a.Val)
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

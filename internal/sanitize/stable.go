package sanitize

import (
	"strings"

	"golang.org/x/net/html"
)

// position is where in the output an element is written: what is open around it, as far as that can make a parser read the
// output as another tree than the one it was written from. Only then a second round is needed; most mails do without.
type position struct {
	parent             string
	depth              int
	inP, inA, inHeader bool // within p, a, or h1 to h6
}

// maxStableDepth is well below the depth at which the parser gives up.
const maxStableDepth = 400

// isStable reports whether a parser that reads the output finds an element called name, written at at, in the same position of
// the tree. In doubt it returns false, which costs a second round.
func (at position) isStable(name string) bool {
	switch {
	case at.depth > maxStableDepth, at.inP && closesP[name], at.inA && name == "a", at.inHeader && isHeading(name):
		return false
	case onlyIn[name] != nil:
		return onlyIn[name][at.parent]
	}
	return !tableParts[at.parent]
}

// keepsText reports whether a parser that reads the output finds text, written at at, unchanged in the same position.
func (at position) keepsText(text string) bool {
	return !(tableParts[at.parent] || at.parent == "pre") || tableParts[at.parent] && strings.Trim(text, " \t\n\f\r") == "" ||
		at.parent == "pre" && !strings.HasPrefix(text, "\n")
}

// child returns the position of the children of n, which is at at.
func (at position) child(n *html.Node) position {
	at.parent = n.Data
	at.depth++
	at.inP = at.inP || n.Data == "p"
	at.inA = at.inA || n.Data == "a"
	at.inHeader = at.inHeader || isHeading(n.Data)
	return at
}

func isHeading(name string) bool {
	return len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '6'
}

// closesP are the elements whose start tag ends an open p (HTML §13.2.6.4.7), and table, which does unless in quirks
// mode.
var closesP = set("address", "article", "aside", "blockquote", "center", "dd", "dl", "dt", "div", "figcaption", "figure",
	"footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "ul")

// tableParts contain nothing but other parts of the table and white space.
var tableParts = set("table", "colgroup", "tbody", "thead", "tfoot", "tr")

// onlyIn are elements that stay where they are under certain parents only.
var onlyIn = map[string]map[string]bool{
	"caption": set("table"), "colgroup": set("table"), "tbody": set("table"), "thead": set("table"), "tfoot": set("table"),
	"col": set("colgroup"), "tr": set("tbody", "thead", "tfoot"), "td": set("tr"), "th": set("tr"),
	"li": set("ol", "ul"), "dd": set("dl"), "dt": set("dl"),
}

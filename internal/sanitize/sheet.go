package sanitize

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/css"
)

// Limits of the style sheets of one mail, together. What is beyond them is left out, so that a mail with too many rules
// keeps the first of them.
const (
	maxSheets       = 256 << 10 // bytes read
	maxRules        = 4096
	maxSelectors    = 8192
	maxDeclarations = 16384
	maxMediaDepth   = 3 // media rules within media rules

	// maxWork bounds the matching of rules to elements: tests of a compound selector, and declarations applied. An
	// ordinary mail of 100 KiB takes some 50,000.
	maxWork = 2_000_000
)

// sheet is what the style elements of a mail say, in the order of the mail.
type sheet struct {
	byID, byClass, byTag map[string][]*selector // by what the subject must be, most telling first
	universal            []*selector

	rules, selectors, declarations int // read so far
	work                           int // left for matching

	serial int // the number of the last element that was looked up
}

// rule is a style rule.
type rule struct {
	order        int // its number in the mail
	condition    string
	declarations []declaration

	serial, index int // see sheet.lookup
}

// newSheet reads the style elements below doc, nil if there is nothing of use in them. Where the parser moved them to does
// not matter; those in what is dropped with its content do not count.
func newSheet(doc *html.Node) *sheet {
	sh := &sheet{
		byID: map[string][]*selector{}, byClass: map[string][]*selector{}, byTag: map[string][]*selector{}, work: maxWork,
	}
	left := maxSheets
	sh.collect(doc, &left)
	if sh.selectors == 0 {
		return nil
	}
	return sh
}

// collect reads the style elements below n, of left bytes at most.
func (sh *sheet) collect(n *html.Node, left *int) {
	for c := range n.ChildNodes() {
		switch {
		case c.Type != html.ElementNode || c.Namespace != "":
		case c.Data == "style":
			sh.styleElement(c, left)
		case c.Data == "head" || !dropped[c.Data]:
			sh.collect(c, left)
		}
	}
}

// styleElement reads a style element, unless its type or its media attribute exclude it or it is larger than left.
func (sh *sheet) styleElement(n *html.Node, left *int) {
	kind := strings.ToLower(strings.TrimSpace(value(n, "type")))
	when, ok := parseMedia(value(n, "media"))
	if n.FirstChild == nil || kind != "" && kind != "text/css" || !ok {
		return
	}
	text := n.FirstChild.Data
	if *left -= len(text); *left >= 0 {
		sh.parse(text, when, 0)
	}
}

// parse reads a list of rules (CSS Syntax Module Level 3 §5.4.1). Its cost is the length of text times the depth of media
// rules.
func (sh *sheet) parse(text string, when condition, depth int) {
	for i := css.RuleStart(text, 0); i < len(text); i = css.RuleStart(text, i) {
		if text[i] == '@' {
			i = sh.parseAt(text, i, when, depth)
			continue
		}
		open := css.IndexOutside(text, i, "{")
		if open == len(text) {
			return
		}
		end := css.IndexOutside(text, open+1, "}")
		sh.add(text[i:open], text[open+1:end], when)
		i = min(end+1, len(text))
	}
}

// parseAt reads the at-rule that begins at i, and returns the index behind it. Of all at-rules only @media counts.
func (sh *sheet) parseAt(text string, i int, when condition, depth int) int {
	open := css.IndexOutside(text, i, ";{")
	if open == len(text) || text[open] == ';' {
		return min(open+1, len(text))
	}
	end := css.IndexOutside(text, open+1, "}")
	if name, prelude := css.Identifier(text[i+1 : open]); strings.EqualFold(name, "media") && depth < maxMediaDepth {
		if inner, ok := parseMedia(prelude); ok {
			if both, ok := when.and(inner); ok {
				sh.parse(text[open+1:end], both, depth+1)
			}
		}
	}
	return min(end+1, len(text))
}

// add adds a rule if anything of it may stay.
func (sh *sheet) add(selectors, block string, when condition) {
	r := &rule{order: sh.rules, condition: when.String()}
	for text := range css.Declarations(css.WithoutComments(block)) {
		if d, ok := parseDeclaration(text); ok && sh.declarations < maxDeclarations && len(d.value) <= maxStyle {
			sh.declarations++
			r.declarations = append(r.declarations, d)
		}
	}
	if len(r.declarations) == 0 || sh.rules == maxRules {
		return
	}
	sh.rules++
	for text := range css.SplitOutside(selectors, ",") {
		if s, ok := css.ParseSelector(text); ok && sh.selectors < maxSelectors {
			sh.selectors++
			sh.index(&selector{s, r})
		}
	}
}

// index files s under what its subject must be.
func (sh *sheet) index(s *selector) {
	switch subject := s.Parts[0]; {
	case subject.ID != "":
		sh.byID[subject.ID] = append(sh.byID[subject.ID], s)
	case len(subject.Classes) > 0:
		name := subject.Classes[0]
		sh.byClass[name] = append(sh.byClass[name], s)
	case subject.Tag != "":
		sh.byTag[subject.Tag] = append(sh.byTag[subject.Tag], s)
	default:
		sh.universal = append(sh.universal, s)
	}
}

// match is a rule that holds for an element, by the most specific of its selectors that do.
type match struct {
	*rule
	specificity uint32
}

// lookup appends the rules for the last element of path to found, in the order of the cascade without importance: by
// specificity, then as they stand in the mail.
func (sh *sheet) lookup(path []element, found []match) []match {
	sh.serial++
	e := &path[len(path)-1]
	if e.id != "" {
		found = sh.try(sh.byID[e.id], path, found)
	}
	for i, name := range e.classes {
		if !slices.Contains(e.classes[:i], name) {
			found = sh.try(sh.byClass[name], path, found)
		}
	}
	found = sh.try(sh.byTag[e.node.Data], path, found)
	found = sh.try(sh.universal, path, found)
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.specificity, b.specificity), cmp.Compare(a.order, b.order))
	})
	return found
}

// try appends the rules of those candidates that match the last element of path to found.
func (sh *sheet) try(candidates []*selector, path []element, found []match) []match {
	for _, s := range candidates {
		if sh.work <= 0 {
			break
		}
		if !s.matches(path, &sh.work) {
			continue
		}
		if r := s.rule; r.serial != sh.serial {
			r.serial, r.index = sh.serial, len(found)
			found = append(found, match{r, s.Specificity})
			sh.work -= len(r.declarations)
		} else if m := &found[r.index]; m.specificity < s.Specificity {
			m.specificity = s.Specificity
		}
	}
	return found
}

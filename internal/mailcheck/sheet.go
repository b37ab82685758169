package mailcheck

import (
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/css"
)

// Limits of the style sheets of one mail, together. What is beyond them is not checked.
const (
	maxSheets    = 512 << 10 // octets
	maxSelectors = 8192
	maxSelector  = 512 // octets; a longer one is not matched
	maxDepth     = 16  // rules within rules

	// maxWork bounds the matching of rules to elements: tests of a compound selector, and features of rules that match.
	maxWork = 4_000_000
)

// sheet is what the style elements of a mail say, by what the subject of a rule must be.
type sheet struct {
	byID, byClass, byTag map[string][]*rule
	universal            []*rule
	selectors            int
	left                 int // octets that may still be read
	work                 int // left for matching
}

// rule is one selector with the declarations that it has.
type rule struct {
	css.Selector
	uses *uses

	once    bool // the selector asks for less than the one in the mail, so it counts for one element
	applied bool // to an element
}

func newSheet() *sheet {
	return &sheet{byID: map[string][]*rule{}, byClass: map[string][]*rule{}, byTag: map[string][]*rule{}, left: maxSheets, work: maxWork}
}

// read reads the style sheet text, which begins at offset in the HTML. always: it applies in all circumstances.
func (s *scan) read(text string, offset int, always bool) {
	if s.sheet.left -= len(text); s.sheet.left < 0 {
		return
	}
	if at := strings.Index(text, "/*"); at >= 0 {
		s.found(s.comments, 1, offset+at)
	}
	s.rules(text, offset, always, 0)
}

// rules reads a list of rules (CSS Syntax Module Level 3 §5.4.1). Its cost is the length of text times the depth of rules in rules.
func (s *scan) rules(text string, offset int, always bool, depth int) {
	for i := css.RuleStart(text, 0); i < len(text); i = css.RuleStart(text, i) {
		if text[i] == '@' {
			i = s.atRule(text, i, offset, always, depth)
			continue
		}
		open := css.IndexOutside(text, i, "{")
		if open == len(text) {
			return
		}
		end := css.IndexOutside(text, open+1, "}")
		var u uses
		s.declarations(&u, text[open+1:end], offset+open+1)
		s.add(text[i:open], offset+i, &u, always)
		i = min(end+1, len(text))
	}
}

// atRule reads the at-rule that begins at i, and returns the index behind it.
func (s *scan) atRule(text string, i, offset int, always bool, depth int) int {
	open := css.IndexOutside(text, i, ";{")
	name, prelude := css.Identifier(text[i+1 : open])
	name = strings.ToLower(name)
	s.each(s.atRules[name], offset+i)
	if name == "media" {
		s.query(prelude, offset+open-len(prelude))
	}
	if open == len(text) || text[open] == ';' {
		return min(open+1, len(text))
	}
	end := css.IndexOutside(text, open+1, "}")
	inner := text[open+1 : end]
	switch {
	case depth == maxDepth:
	case name == "font-face" || name == "page":
		var u uses
		s.declarations(&u, inner, offset+open+1)
		s.mention(&u)
	default: // rules that hold under a condition, or the frames of an animation
		s.rules(inner, offset+open+1, always && name == "layer", depth+1)
	}
	return min(end+1, len(text))
}

// query finds what a media query asks for.
func (s *scan) query(prelude string, offset int) {
	for i := range len(prelude) {
		if prelude[i] != '(' {
			continue
		}
		rest := strings.TrimLeft(prelude[i+1:], css.Space)
		if name, _ := css.Identifier(rest); name != "" {
			s.each(s.media[strings.ToLower(name)], offset+i)
		}
	}
}

// add adds a rule. What it declares is found even if no element matches, but weighs nothing then.
func (s *scan) add(selectors string, offset int, u *uses, always bool) {
	s.mention(u)
	group := false
	for text := range css.SplitOutside(selectors, ",") {
		if group {
			s.found(s.grouping, 1, offset)
		}
		group = true
		s.selector(text, offset)
		offset += len(text) + 1
		universal := css.IndexOutside(text, 0, "*") < len(text) // a reset, which would weigh by every element
		if !always || universal || len(u.all) == 0 && !u.size && !u.tall || s.sheet.selectors == maxSelectors {
			continue
		}
		text, once := simplify(text)
		if parsed, ok := css.ParseSelector(text); ok {
			s.sheet.selectors++
			last := slices.ContainsFunc(parsed.Parts, func(c css.Compound) bool { return c.Last })
			s.sheet.index(&rule{Selector: parsed, uses: u, once: once || last})
		}
	}
}

// simplify leaves out of a selector what asks for siblings or for the place among them, so that it can be matched while elements are read.
// less reports whether anything was left out.
func simplify(selector string) (simple string, less bool) {
	if len(selector) > maxSelector {
		return selector, false
	}
	for {
		next := css.IndexOutside(selector, 0, "+~")
		if next == len(selector) {
			break
		}
		selector, less = selector[next+1:], true
	}
	for from := 0; ; {
		colon := css.IndexOutside(selector, from, ":")
		if colon == len(selector) {
			return selector, less
		}
		name, rest := css.Identifier(selector[colon+1:])
		if !structural(strings.ToLower(name)) {
			from = colon + 1
			continue
		}
		if strings.HasPrefix(rest, "(") {
			rest = rest[min(css.IndexOutside(rest, 1, ")")+1, len(rest)):]
		}
		before := selector[:colon]
		if before == "" || strings.HasSuffix(before, ">") || css.IsSpace(before[len(before)-1]) {
			before += "*"
		}
		selector, from, less = before+rest, len(before), true
	}
}

// structural reports the pseudo-classes that hold or not for an element whatever the reader does.
func structural(name string) bool {
	switch name {
	case "empty", "first-of-type", "has", "is", "last-of-type", "not", "nth-child", "nth-last-child", "nth-last-of-type", "nth-of-type",
		"only-child", "only-of-type", "root", "where":
		return true
	}
	return false
}

// index files r under what its subject must be.
func (sh *sheet) index(r *rule) {
	switch subject := r.Parts[0]; {
	case subject.ID != "":
		sh.byID[subject.ID] = append(sh.byID[subject.ID], r)
	case len(subject.Classes) > 0:
		sh.byClass[subject.Classes[0]] = append(sh.byClass[subject.Classes[0]], r)
	case subject.Tag != "":
		sh.byTag[subject.Tag] = append(sh.byTag[subject.Tag], r)
	default:
		sh.universal = append(sh.universal, r)
	}
}

// selector finds the kinds of selectors in text.
func (s *scan) selector(text string, offset int) {
	tests, space := 0, false // of the present compound; whether white space came before it
	begin := func() {
		if tests == 0 && space {
			s.found(s.descendant, 1, offset)
		}
		space = false
	}
	for i := css.RuleStart(text, 0); i < len(text); {
		switch c := text[i]; {
		case css.IsSpace(c):
			space, tests = tests > 0 || space, 0
			i++
			continue
		case c == '>' || c == '+' || c == '~':
			s.found(map[byte]trigger{'>': s.childOf, '+': s.adjacent, '~': s.sibling}[c], 1, offset+i)
			tests, space = 0, false
			i++
			continue
		}
		begin()
		i = s.simple(text, i, offset, tests)
		tests++
	}
}

// simple finds the kind of the simple selector at i, and returns where it ends. before is how many the compound has before it.
func (s *scan) simple(text string, i, offset, before int) int {
	c := text[i]
	kind, chained := s.element, false
	switch c {
	case ':':
		return s.pseudo(text, i, offset)
	case '[':
		s.found(s.attribute, 1, offset+i)
		return min(css.IndexOutside(text, i+1, "]")+1, len(text))
	case '*':
		s.found(s.universal, 1, offset+i)
		return i + 1
	case '.':
		kind, chained = s.class, before > 0
	case '#':
		kind, chained = s.id, before > 0
	}
	rest := text[i:]
	if c == '.' || c == '#' {
		rest = rest[1:]
	}
	name, after := css.Identifier(rest)
	if name == "" {
		return css.TokenEnd(text, i)
	}
	s.found(kind, 1, offset+i)
	if chained {
		s.found(s.chaining, 1, offset+i)
	}
	return len(text) - len(after)
}

// pseudo finds the pseudo-class or pseudo-element at i, and returns where it ends.
func (s *scan) pseudo(text string, i, offset int) int {
	start := i
	for i < len(text) && text[i] == ':' {
		i++
	}
	name, rest := css.Identifier(text[i:])
	s.each(s.pseudos[strings.ToLower(name)], offset+start)
	i = len(text) - len(rest)
	if strings.HasPrefix(rest, "(") {
		i = min(css.IndexOutside(text, i+1, ")")+1, len(text))
	}
	return i
}

// element is an open element, with what selectors ask about it.
type element struct {
	name, id string
	classes  []string
	attrs    []attr
	first    bool // child of its parent
	children int
}

type attr struct{ name, value string }

// apply calls fn for the rules whose selectors match the last element of path.
func (sh *sheet) apply(path []element, fn func(*uses)) {
	e := &path[len(path)-1]
	try := func(rules []*rule) {
		for _, r := range rules {
			if sh.work <= 0 {
				return
			}
			if !(r.once && r.applied) && r.matches(path, &sh.work) {
				r.applied = true
				sh.work -= len(r.uses.all) + len(r.uses.properties)
				fn(r.uses)
			}
		}
	}
	if e.id != "" {
		try(sh.byID[e.id])
	}
	for _, name := range e.classes {
		try(sh.byClass[name])
	}
	try(sh.byTag[e.name])
	try(sh.universal)
}

// matches reports whether the subject is the last element of path, as css.Match does. It subtracts from work what it costs.
func (r *rule) matches(path []element, work *int) bool {
	return css.Match(&r.Selector, path, func(c *css.Compound, e *element) bool { return compoundMatches(c, e, work) })
}

// compoundMatches reports whether e is what c asks for, as far as it is known where e begins: any element may be the last child.
func compoundMatches(c *css.Compound, e *element, work *int) bool {
	*work -= 1 + len(c.Classes)*len(e.classes)/4 + len(c.Attrs)*(len(e.attrs)+css.MaxCompared/64)
	if *work < 0 || c.Tag != "" && c.Tag != e.name || c.ID != "" && c.ID != e.id || c.First && !e.first {
		return false
	}
	for _, name := range c.Classes {
		if !slices.Contains(e.classes, name) {
			return false
		}
	}
	for _, t := range c.Attrs {
		i := slices.IndexFunc(e.attrs, func(a attr) bool { return a.name == t.Name })
		if i < 0 || !t.Accepts(e.attrs[i].value) {
			return false
		}
	}
	return !c.Link || e.name == "a" && slices.ContainsFunc(e.attrs, func(a attr) bool { return a.name == "href" && a.value != "" })
}

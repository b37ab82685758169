package mailcheck

import (
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/css"
	"github.com/gonebox/gonebox/internal/htmltoken"
)

// Limits of what is read of a mail's HTML. What is beyond them is not checked.
const (
	maxHTML       = 4 << 20 // octets
	maxOpen       = 256     // open elements; those within are found, but match no rules
	maxClasses    = 32      // of an element
	maxStyle      = 64 << 10
	maxOpenAttrs  = 16 // of an element that a selector asks about
	maxAttrLength = css.MaxCompared
)

// scan is the search of one mail's HTML for features.
type scan struct {
	*triggers
	z     *htmltoken.Tokenizer
	sheet *sheet
	path  []element      // the open elements, the outermost first
	names htmltoken.Path // their names
	hits  []hit          // by feature
	seen  []int          // by feature: the number of the last element that had it

	declared map[string]int // by property: the number of the last element that declared it

	elements int // so far, without html, head and meta, which show nothing
	inBody   int // so far, those of the body and scripts
	body     bool
	closed   bool // </body> was read

	noAlt, noSize imageFault
}

// hit is what was found of a feature.
type hit struct {
	mentioned bool // somewhere, even where it does not apply
	once      bool // by a trigger that counts once
	weight    int  // how often it applies
	offset    int  // where it is first
}

// imageFault counts images that lack something.
type imageFault struct{ count, offset int }

func (f *imageFault) add(offset int) {
	if f.count++; f.count == 1 {
		f.offset = offset
	}
}

// found records that a feature was found so many times.
func (s *scan) found(t trigger, times, offset int) {
	h := &s.hits[t.feature]
	if !h.mentioned || offset < h.offset {
		h.mentioned, h.offset = true, offset
	}
	if t.weighs && !(t.once && h.once) {
		h.weight += times
		h.once = h.once || t.once
	}
}

// each records features that were found once.
func (s *scan) each(found []trigger, offset int) {
	for _, t := range found {
		s.found(t, 1, offset)
	}
}

// mention records features of declarations that may apply to no element.
func (s *scan) mention(u *uses) {
	for _, use := range u.all {
		s.found(trigger{feature: use.feature}, 0, use.offset)
	}
}

// newScan reads src.
func newScan(t *triggers, features int, src string) *scan {
	src = src[:min(len(src), maxHTML)]
	s := &scan{triggers: t, sheet: newSheet(), hits: make([]hit, features), seen: make([]int, features), declared: make(map[string]int), z: htmltoken.New(src)}
	s.styles()
	s.z.Reset(src)
	for s.next() {
		switch s.z.Kind {
		case htmltoken.StartTag:
			s.start()
		case htmltoken.EndTag:
			s.end()
		case htmltoken.Text:
			s.body = s.body || len(s.path) == 0 && strings.TrimLeft(s.z.Text, css.Space) != ""
		}
	}
	return s
}

// next reads the next token. Mail programs run no scripts, and show what noscript holds.
func (s *scan) next() bool {
	ok := s.z.Next()
	if ok && s.z.Kind == htmltoken.StartTag && s.z.Name == "noscript" {
		s.z.NotRaw()
	}
	return ok
}

// styles reads the style elements.
func (s *scan) styles() {
	style, always := false, true
	for s.next() {
		switch s.z.Kind {
		case htmltoken.StartTag:
			kind, _ := s.z.Attr("type")
			media, _ := s.z.Attr("media")
			style = s.z.Name == "style" && (kind == "" || strings.EqualFold(strings.TrimSpace(kind), "text/css"))
			media = strings.ToLower(strings.TrimSpace(media))
			always = media == "" || media == "all" || media == "screen"
		case htmltoken.Text:
			if style {
				s.read(s.z.Text, s.z.Offset(), always)
			}
			style = false
		}
	}
}

// start reads a start tag.
func (s *scan) start() {
	name, offset := s.z.Name, s.z.Offset()
	if isTablePart(name) && s.names.Innermost("table") < 0 && s.names.Innermost("template") < 0 {
		return // browsers ignore it (HTML §13.2.6.4.7)
	}
	switch name {
	case "html", "head", "meta":
	case "body":
		if s.body = true; s.hits[s.triggers.body.feature].weight == 0 {
			s.found(s.triggers.body, 1, offset)
			s.elements++
		}
	default:
		s.count(name)
	}
	s.tag(name, offset)
	s.cut(s.names.Implied(htmltoken.ElementOf(name)))
	s.implyRows(name)
	e := s.open(name)
	s.styled(&e, offset)
	if htmltoken.IsVoid(name) || s.z.SelfClosing && name != "div" && s.inSVG(name) {
		return
	}
	if len(s.path) < maxOpen {
		s.push(e)
	}
}

// isTablePart reports the elements that exist in tables alone.
func isTablePart(name string) bool {
	switch name {
	case "caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr":
		return true
	}
	return false
}

// inSVG reports whether an element is one of an image of XML, in which a tag may end itself.
func (s *scan) inSVG(name string) bool {
	return name == "svg" || s.names.Innermost("svg") >= 0
}

// count counts an element, and where the body begins.
func (s *scan) count(name string) {
	switch name {
	case "link", "title", "style", "script", "base", "noscript", "template":
	default:
		if !s.body && s.hits[s.triggers.body.feature].weight == 0 {
			s.elements++ // the body that browsers add
		}
		s.body = true
	}
	s.elements++
	if s.body || name == "script" {
		s.inBody++
	}
}

// implyRows opens the elements of a table that browsers add.
func (s *scan) implyRows(name string) {
	parent := ""
	if len(s.path) > 0 {
		parent = s.path[len(s.path)-1].name
	}
	if parent == "table" && (name == "tr" || name == "td" || name == "th") {
		s.imply("tbody")
		parent = "tbody"
	}
	if (parent == "tbody" || parent == "thead" || parent == "tfoot") && (name == "td" || name == "th") {
		s.imply("tr")
	}
}

func (s *scan) imply(name string) {
	s.elements++
	s.inBody++
	if len(s.path) < maxOpen {
		s.push(element{name: name, first: s.child()})
	}
}

// child counts a child of the innermost open element, and reports whether it is the first.
func (s *scan) child() bool {
	if len(s.path) == 0 {
		return false
	}
	parent := &s.path[len(s.path)-1]
	parent.children++
	return parent.children == 1
}

// end reads an end tag.
func (s *scan) end() {
	if s.z.Name == "body" {
		s.closed = true
		if s.hits[s.triggers.body.feature].weight == 0 {
			s.found(s.triggers.body, 1, s.z.Offset())
		}
	}
	if i := s.names.Matching(s.z.Name); i >= 0 {
		s.cut(i)
	}
}

// push opens an element.
func (s *scan) push(e element) {
	s.path = append(s.path, e)
	s.names.Push(htmltoken.ElementOf(e.name))
}

// cut closes all open elements but the first n.
func (s *scan) cut(n int) {
	s.path = s.path[:n]
	s.names.Cut(n)
}

// open returns the element of the present start tag.
func (s *scan) open(name string) element {
	e := element{name: name, first: s.child()}
	e.id, _ = s.z.Attr("id")
	classes, _ := s.z.Attr("class")
	for class := range strings.FieldsSeq(classes) {
		if e.classes = append(e.classes, class); len(e.classes) == maxClasses {
			break
		}
	}
	if s.sheet.selectors == 0 {
		return e
	}
	for _, a := range s.z.Attrs[:min(len(s.z.Attrs), maxOpenAttrs)] {
		if len(a.Source) > maxAttrLength {
			continue
		}
		e.attrs = append(e.attrs, attr{a.Name, a.Value()})
	}
	return e
}

// tag finds the features that the present start tag shows.
func (s *scan) tag(name string, offset int) {
	if kind, _ := s.z.Attr("type"); name != "script" || !strings.Contains(kind, "json") {
		s.each(s.triggers.elements[name], offset)
	}
	if name == "input" || name == "button" {
		kind, _ := s.z.Attr("type")
		s.each(s.types[name+" "+strings.ToLower(strings.TrimSpace(kind))], offset)
	}
	for i, a := range s.z.Attrs {
		if slices.ContainsFunc(s.z.Attrs[:min(i, maxOpenAttrs)], func(first htmltoken.Attr) bool { return first.Name == a.Name }) {
			continue // the first one counts
		}
		s.each(s.attributes[a.Name], offset)
		switch a.Name {
		case "href", "src":
			s.address(name, a.Name, strings.TrimSpace(a.Value()), offset)
		case "name":
			s.each(s.attributes[a.Name+"="+strings.ToLower(a.Value())], offset)
		}
	}
}

// address finds the features that an address shows.
func (s *scan) address(element, attribute, address string, offset int) {
	if attribute == "href" && element != "a" && element != "area" || attribute == "src" && element != "img" {
		return
	}
	begin := strings.ToLower(address[:min(len(address), len("data:image/"))])
	for prefix, found := range s.prefixes {
		if name, prefix, _ := strings.Cut(prefix, "^"); name == attribute && strings.HasPrefix(begin, prefix) {
			s.each(found, offset)
		}
	}
	if attribute == "src" {
		path, _, _ := strings.Cut(address[:min(len(address), 4<<10)], "?")
		if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
			s.each(s.images[strings.ToLower(path[dot+1:])], offset)
		}
	}
}

// styled finds the features of the style that an element has, inline and by rules.
func (s *scan) styled(e *element, offset int) {
	element := s.elements + 1 // its number, never 0
	apply := func(u *uses) {  // by precedence, nearly: inline, then rules for an id, a class, a type
		for _, use := range u.all {
			switch {
			case s.declared[use.property] == element:
			case use.each:
				s.found(use.trigger, use.times, use.offset)
			case s.seen[use.feature] != element || !use.weighs:
				s.found(use.trigger, 1, use.offset)
				s.seen[use.feature] = element
			}
		}
		for _, property := range u.properties {
			s.declared[property] = element
		}
	}
	var inline uses
	style, _ := s.z.Attr("style")
	s.declarations(&inline, style[:min(len(style), maxStyle)], 0)
	for i := range inline.all {
		inline.all[i].offset = offset
	}
	apply(&inline)
	wide, tall := inline.size, inline.tall
	s.path = append(s.path, *e)
	s.sheet.apply(s.path, func(u *uses) {
		apply(u)
		wide, tall = wide || u.size, tall || u.tall
	})
	s.path = s.path[:len(s.path)-1]
	if e.name == "img" {
		s.image(wide, tall, offset)
	}
}

// image checks an image, whose style says whether it is wide and tall.
func (s *scan) image(wide, tall bool, offset int) {
	if _, has := s.z.Attr("alt"); !has {
		s.noAlt.add(offset)
	}
	_, width := s.z.Attr("width")
	_, height := s.z.Attr("height")
	if !(wide || width) || !(tall || height) {
		s.noSize.add(offset)
	}
}

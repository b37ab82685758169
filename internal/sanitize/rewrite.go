package sanitize

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/gonebox/gonebox/internal/css"
)

// result is what a round of sanitizing gives.
type result struct {
	html   string
	style  string // the style element for html, "" if it needs none; it is made in the first round
	nodes  int    // estimate of the nodes that a parser makes of html, as closeCount computes it
	stable bool   // doing it again would change nothing; false if that is not known
}

// rewrite parses src and writes out what the rules allow of it. In the first round scope is the class that will be set
// around the result, and styles are taken from the style elements of src; later rounds keep the classes that the first
// one set. ok is false for what the parser refuses.
func (rs *rules) rewrite(src, scope string, image Image, first bool) (r result, ok bool) {
	doc, err := html.ParseWithOptions(strings.NewReader(src), html.ParseOptionEnableScripting(false)) // so that noscript is read
	if err != nil {
		return result{}, false
	}
	w := &writer{rules: rs, scope: scope, keepClasses: !first, image: image, imageBudget: maxImages, stable: true}
	if first && rs.global["style"] != nil {
		w.styler = newStyler(doc, scope)
	}
	w.out.Grow(len(src) + len(src)/4)
	if w.styler != nil {
		w.out.Grow(2 * len(src))
	}
	body := find(doc, "body")
	if body == nil { // a frameset has none
		return result{}, false
	}
	w.newFragments(body)
	w.body(body)
	r = result{html: strings.Trim(w.out.String(), " \t\n\f\r"), stable: w.stable, nodes: w.nodes}
	if w.styler != nil {
		r.style = w.styler.styleElement()
	}
	return r, true
}

// find returns html's child of the given name.
func find(doc *html.Node, name string) *html.Node {
	for root := range doc.ChildNodes() {
		for n := range root.ChildNodes() {
			if n.Type == html.ElementNode && n.Data == name {
				return n
			}
		}
	}
	return nil
}

type writer struct {
	*rules
	scope       string
	keepClasses bool             // classes made of scope stay
	styler      *styler          // nil if there is no style sheet
	attrs       []html.Attribute // of the present element
	image       Image
	parts       map[string]inlined // those that image gave, by Content-ID
	imageBudget int                // bytes of images that may still be inlined
	fragments   fragments
	stable      bool // nothing written so far would be read back differently
	nodes       int  // estimated as by closeCount
	formatting  int  // formatting elements open
	out         strings.Builder
}

// body writes the content of body. Where body sets a style, colours or a direction, a div around the content carries
// them on.
func (w *writer) body(n *html.Node) {
	w.out.WriteString("<div")
	bare := w.out.Len()
	w.checked("dir", value(n, "dir"), nil)
	w.checked("lang", value(n, "lang"), nil)
	w.look(w.bodyStyle(n))
	if w.keepClasses {
		w.classes(value(n, "class"))
	}
	content := w.unwrap(n)
	if w.out.Len() == bare || w.elements["div"] == nil {
		w.out.Reset()
		w.children(content, position{})
		return
	}
	w.out.WriteByte('>')
	w.children(content, position{depth: 1})
	w.out.WriteString("</div>")
}

// bodyStyle returns the style attribute and the classes of the div that stands for body and html.
func (w *writer) bodyStyle(body *html.Node) (look, classes string) {
	if w.global["style"] == nil {
		return "", ""
	}
	var hints strings.Builder
	if w.styler != nil {
		w.styler.enter(body.Parent)
		writeInherited(&hints, w.styler.rootLook(value(body.Parent, "style")))
		w.styler.enter(body)
	}
	inline := value(body, "style")
	if image := imageOf(value(body, "background")); image != "" && w.images {
		inline += ";" + image
	}
	for _, old := range []struct{ attr, property string }{{"bgcolor", "background-color:"}, {"text", "color:"}} {
		if v, ok := color(value(body, old.attr)); ok {
			hints.WriteString(old.property + v + ";")
		}
	}
	if w.styler != nil {
		look, classes = w.styler.look(hints.String(), inline)
	} else {
		look, _ = style(hints.String() + inline)
	}
	if strings.Contains(look, "background") && !strings.Contains(look, "display:") {
		look += ";display:flow-root" // a body's background is behind the margins of its children as well
	}
	return look, classes
}

// writeInherited writes the declarations of the root's style that an element in its place can carry: what is inherited,
// and the background.
func writeInherited(out *strings.Builder, root string) {
	for text := range css.Declarations(root) {
		switch d, _ := parseDeclaration(text); d.name {
		case "background", "background-color", "color", "direction", "font", "font-family", "font-size", "font-style",
			"font-weight", "letter-spacing", "line-height", "text-align", "word-spacing":
			out.WriteString(d.name + ":" + d.value + ";")
		}
	}
}

// unwrap returns the element whose content is that of the mail: body, or, where a mail is sanitized again, the div that
// was put around it.
func (w *writer) unwrap(body *html.Node) *html.Node {
	div := body.FirstChild
	if w.styler == nil || div == nil || div.NextSibling != nil || div.Data != "div" || value(div, "class") != w.scope {
		return body
	}
	w.styler.enter(div)
	return div
}

func value(n *html.Node, attr string) string {
	for _, a := range n.Attr {
		if a.Key == attr && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func (w *writer) children(n *html.Node, at position) {
	for c := n.FirstChild; c != nil && w.out.Len() <= maxSource; c = c.NextSibling {
		w.node(c, at)
	}
}

// node writes a node and what is below it. The parser bounds the depth.
func (w *writer) node(n *html.Node, at position) {
	switch n.Type {
	case html.TextNode:
		w.stable = w.stable && at.keepsText(n.Data)
		w.text(n.Data)
	case html.ElementNode:
		if n.Namespace != "" || dropped[n.Data] {
			return
		}
		if w.styler != nil {
			w.styler.enter(n)
			defer w.styler.leave()
		}
		if own, ok := w.elements[n.Data]; ok {
			w.stable = w.stable && at.isStable(n.Data)
			w.element(n, own, at.child(n))
		} else {
			w.children(n, at)
		}
	}
}

func (w *writer) element(n *html.Node, own map[string]check, within position) {
	if isFormatting(n.Data) {
		w.formatting++
	}
	w.nodes += 2 + w.formatting
	w.out.WriteByte('<')
	w.out.WriteString(n.Data)
	w.attributes(n, own)
	w.out.WriteByte('>')
	if void[n.Data] {
		return
	}
	if n.Data == "pre" && n.FirstChild != nil && n.FirstChild.Type == html.TextNode && strings.HasPrefix(n.FirstChild.Data, "\n") {
		w.out.WriteByte('\n') // the parser takes one newline away
	}
	w.children(n, within)
	if isFormatting(n.Data) {
		w.formatting--
	}
	w.nodes += 2 + w.formatting
	w.out.WriteString("</")
	w.out.WriteString(n.Data)
	w.out.WriteByte('>')
}

// attributes writes what is allowed, the first of each name, as browsers read it.
func (w *writer) attributes(n *html.Node, own map[string]check) {
	attrs := w.withBackground(n)
	if w.styler != nil {
		attrs = w.withStyle(n, attrs)
	}
	for i, a := range attrs {
		if a.Namespace != "" || repeated(attrs[:i], a.Key) {
			continue
		}
		switch {
		case w.fragment(n, a):
		case a.Key == "style" && w.global["style"] != nil:
			if w.styler == nil {
				a.Val, _ = style(a.Val)
			}
			w.style(a.Val)
		case a.Key == "class" && w.styler != nil:
			w.attr(a.Key, a.Val)
		case a.Key == "class" && w.keepClasses:
			w.classes(a.Val)
		case a.Key == "src" && n.Data == "img" && w.images:
			w.src(a.Val)
		case a.Key == "href" && (n.Data == "a" || n.Data == "area"):
			if v, ok := w.href(a.Val); ok {
				w.attr("href", v)
				w.attr("rel", "noopener noreferrer nofollow")
				w.attr("target", "_blank")
			}
		default:
			w.checked(a.Key, a.Val, own)
		}
	}
}

// withStyle returns the attributes of n with the style and the classes that the style sheets give it. They stand where the
// parser puts them when it reads them back: it sorts the attributes of formatting elements.
func (w *writer) withStyle(n *html.Node, attrs []html.Attribute) []html.Attribute {
	own := ""
	if i := slices.IndexFunc(attrs, func(a html.Attribute) bool { return a.Key == "style" && a.Namespace == "" }); i >= 0 {
		own = attrs[i].Val
	}
	look, classes := w.styler.look("", own)
	w.attrs = w.attrs[:0]
	for _, a := range attrs {
		if a.Key != "style" && a.Key != "class" {
			w.attrs = append(w.attrs, a)
		}
	}
	if look != "" {
		w.attrs = append(w.attrs, html.Attribute{Key: "style", Val: look})
	}
	if classes != "" {
		w.attrs = append(w.attrs, html.Attribute{Key: "class", Val: classes})
	}
	if isFormatting(n.Data) {
		slices.SortStableFunc(w.attrs, func(a, b html.Attribute) int { return cmp.Compare(a.Key, b.Key) })
	}
	return w.attrs
}

// look writes the attributes that carry an element's style, where they are not empty.
func (w *writer) look(style, classes string) {
	if style != "" {
		w.style(style)
	}
	if classes != "" {
		w.attr("class", classes)
	}
}

// classes writes the classes of an earlier round.
func (w *writer) classes(v string) {
	for name := range strings.FieldsSeq(v) {
		if !strings.HasPrefix(name, w.scope+"-") {
			return
		}
	}
	w.look("", v)
}

// repeated looks at a few attributes only: a tag has few, and of one with more the check passes all the same.
func repeated(earlier []html.Attribute, key string) bool {
	for i := range earlier {
		if earlier[i].Key == key {
			return true
		}
	}
	return false
}

func (w *writer) checked(key, val string, own map[string]check) {
	c := own[key]
	if c == nil {
		c = w.global[key]
	}
	if c == nil {
		return
	}
	if v, ok := c(val); ok {
		w.attr(key, v)
	}
}

func (w *writer) attr(key, val string) {
	w.out.WriteByte(' ')
	w.out.WriteString(key)
	w.out.WriteString(`="`)
	w.text(val)
	w.out.WriteByte('"')
}

// text writes s as text or as a quoted attribute value, and stops where the output is too large anyhow.
func (w *writer) text(s string) {
	for w.out.Len() <= maxSource {
		i := strings.IndexAny(s, "&<>\"'\r\x00")
		if i < 0 {
			w.out.WriteString(s)
			return
		}
		w.out.WriteString(s[:i])
		w.out.WriteString(escapes[s[i]])
		s = s[i+1:]
	}
}

// escapes are those of [html.Render], so that what is read and written again stays the same. A NUL is left out; a CR, which
// only an entity can bring, is white space.
var escapes = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;", '\r': " "}

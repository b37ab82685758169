package sanitize

import (
	"strings"

	"golang.org/x/net/html"
)

// rewrite parses src and writes out what the rules allow of it. settled is true if doing it again would change nothing,
// false if that is not known. ok is false for what the parser refuses.
func (rs *rules) rewrite(src string, image Image) (out string, settled, ok bool) {
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil {
		return "", false, false
	}
	w := &writer{rules: rs, image: image, imageBudget: maxImages, settled: true}
	w.out.Grow(len(src) + len(src)/4)
	body := find(doc, "body")
	if body == nil { // a frameset has none
		return "", false, false
	}
	w.body(body)
	return strings.Trim(w.out.String(), " \t\n\f\r"), w.settled, true
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
	image       Image
	imageBudget int  // bytes of images that may still be inlined
	settled     bool // nothing written so far would be read back differently
	out         strings.Builder
}

// body writes the content of body. Where body sets a style, colours or a direction, a div around the content carries
// them on.
func (w *writer) body(n *html.Node) {
	w.out.WriteString("<div")
	bare := w.out.Len()
	w.checked("dir", value(n, "dir"), nil)
	w.checked("lang", value(n, "lang"), nil)
	if look := w.bodyStyle(n); look != "" {
		w.attr("style", look)
	}
	if w.out.Len() == bare || w.elements["div"] == nil {
		w.out.Reset()
		w.children(n, place{})
		return
	}
	w.out.WriteByte('>')
	w.children(n, place{depth: 1})
	w.out.WriteString("</div>")
}

func (w *writer) bodyStyle(n *html.Node) string {
	if w.global["style"] == nil {
		return ""
	}
	var look strings.Builder
	for _, old := range []struct{ attr, property string }{{"bgcolor", "background-color:"}, {"text", "color:"}} {
		if v, ok := color(value(n, old.attr)); ok {
			look.WriteString(old.property + v + ";")
		}
	}
	look.WriteString(value(n, "style"))
	s, _ := style(look.String())
	return s
}

func value(n *html.Node, attr string) string {
	for _, a := range n.Attr {
		if a.Key == attr && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func (w *writer) children(n *html.Node, at place) {
	for c := n.FirstChild; c != nil && w.out.Len() <= maxSource; c = c.NextSibling {
		w.node(c, at)
	}
}

// node writes a node and what is below it. The parser bounds the depth.
func (w *writer) node(n *html.Node, at place) {
	switch n.Type {
	case html.TextNode:
		w.settled = w.settled && at.holds(n.Data)
		w.text(n.Data)
	case html.ElementNode:
		if n.Namespace != "" || dropped[n.Data] {
			return
		}
		if own, ok := w.elements[n.Data]; ok {
			w.settled = w.settled && at.settles(n.Data)
			w.element(n, own, at.within(n))
		} else {
			w.children(n, at)
		}
	}
}

func (w *writer) element(n *html.Node, own map[string]check, within place) {
	w.out.WriteByte('<')
	w.out.WriteString(n.Data)
	w.attributes(n, own)
	w.out.WriteByte('>')
	if void[n.Data] {
		return
	}
	if n.Data == "pre" && n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, "\n") {
		w.out.WriteByte('\n') // the parser takes one newline away
	}
	w.children(n, within)
	w.out.WriteString("</")
	w.out.WriteString(n.Data)
	w.out.WriteByte('>')
}

// attributes writes what is allowed, the first of each name, as browsers read it.
func (w *writer) attributes(n *html.Node, own map[string]check) {
	for i, a := range n.Attr {
		if a.Namespace != "" || repeated(n.Attr[:i], a.Key) {
			continue
		}
		switch {
		case a.Key == "src" && n.Data == "img" && w.images:
			w.src(a.Val)
		case a.Key == "href" && n.Data == "a":
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

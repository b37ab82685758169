package sanitize

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// maxFragment is the longest name of a place in the mail, in bytes.
const maxFragment = 128

// fragments are the places in a mail that its own links and image maps lead to. Their names are kept behind the class of the mail, so that
// they cannot be those of anything around it.
type fragments struct {
	ids, maps map[string]bool // that are there and led to
}

// newFragments looks for places that are led to among the elements that will be written.
func (w *writer) newFragments(doc *html.Node) {
	var led, found fragments
	for _, f := range []*fragments{&led, &found} {
		f.ids, f.maps = make(map[string]bool), make(map[string]bool)
	}
	w.collectFragments(doc, &led, &found)
	w.fragments = fragments{make(map[string]bool), make(map[string]bool)}
	for name := range led.ids {
		w.fragments.ids[name] = found.ids[name]
	}
	for name := range led.maps {
		w.fragments.maps[name] = found.maps[name]
	}
}

// collectFragments collects what is led to, and what is there, below n. The parser bounds the depth.
func (w *writer) collectFragments(n *html.Node, led, found *fragments) {
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || c.Namespace != "" || dropped[c.Data] {
			continue
		}
		if _, written := w.elements[c.Data]; written {
			if name, ok := fragmentOf(value(c, "href")); ok && (c.Data == "a" || c.Data == "area") {
				led.ids[name] = true
			}
			if name, ok := fragmentOf(value(c, "usemap")); ok && c.Data == "img" {
				led.maps[name] = true
			}
			found.ids[placeOf(c)] = true
			if c.Data == "map" {
				found.maps[value(c, "name")] = true
			}
		}
		w.collectFragments(c, led, found)
	}
}

// placeOf returns the name by which a link leads to an element, "" if it has none.
func placeOf(n *html.Node) string {
	if id := value(n, "id"); id != "" || n.Data != "a" {
		return id
	}
	return value(n, "name")
}

// fragmentOf returns the name that an address within the mail leads to.
func fragmentOf(address string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSpace(address), "#")
	if !ok {
		return "", false
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return name, isFragment(name)
}

// isFragment reports whether a name may be kept.
func isFragment(name string) bool {
	return name != "" && len(name) <= maxFragment && !strings.ContainsFunc(name, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:", r)
	})
}

// within returns a name behind the class of the mail.
func (w *writer) within(name string) string {
	if strings.HasPrefix(name, w.scope+"-") {
		return name
	}
	return w.scope + "-" + name
}

// fragment writes an attribute that names a place in the mail, or leads to one. It returns false for any other.
func (w *writer) fragment(n *html.Node, a html.Attribute) bool {
	switch {
	case w.scope == "" || !w.images:
		return false
	case a.Key == "href" && (n.Data == "a" || n.Data == "area"):
		name, ok := fragmentOf(a.Val)
		if ok && w.fragments.ids[name] {
			w.attr("href", "#"+w.within(name))
		}
		return ok
	case a.Key == "usemap" && n.Data == "img":
		if name, ok := fragmentOf(a.Val); ok && w.fragments.maps[name] {
			w.attr("usemap", "#"+w.within(name))
		}
	case a.Key == "id" && w.fragments.ids[a.Val]:
		w.attr("id", w.within(a.Val))
	case a.Key == "name" && n.Data == "map":
		if w.fragments.maps[a.Val] {
			w.attr("name", w.within(a.Val))
		}
	case a.Key == "name" && n.Data == "a":
		if value(n, "id") == "" && w.fragments.ids[a.Val] {
			w.attr("id", w.within(a.Val))
			w.stable = false // the parser sorts the attributes of an a
		}
	default:
		return false
	}
	return true
}

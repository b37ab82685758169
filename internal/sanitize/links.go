package sanitize

import (
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// Link is a link of HTML.
type Link struct {
	URL   string // in the form HTML would write it, with entities decoded
	Label string // what it is written on; of an image, its alt text; "" if that is not shown
	At    int    // where it stands in the text that is shown outside of links

	Picture bool // nothing but pictures are shown
}

// maxLinks bounds the links that are listed of one body.
const maxLinks = 1000

// usualLinks is how many links there is room for from the start.
const usualLinks = 16

// maxLabel bounds the label of a link, in octets.
const maxLabel = 500

// links collects the links of an HTML body. A nil links collects nothing.
type links struct {
	found []Link
	max   int
}

// Links returns the http and https addresses of an HTML body's links (a and area) in their order, at most max, and the text that is shown
// outside of them.
func Links(src string, max int) (found []Link, shown string) {
	r := newTextReader(src)
	defer r.release()
	max = min(max, maxLinks)
	r.links = &links{found: make([]Link, 0, min(max, usualLinks)), max: max}
	for len(r.links.found) < r.links.max && r.next() {
	}
	return r.links.found, string(r.out.buf)
}

// add adds a link and returns its number, counted from 1; 0 if there are enough.
func (l *links) add(url, label string, at int) int {
	if l == nil || url == "" || len(l.found) == l.max {
		return 0
	}
	l.found = append(l.found, Link{URL: url, Label: label, At: at})
	return len(l.found)
}

// area adds the link of an area.
func (l *links) area(z *htmltoken.Tokenizer, at int) {
	if l != nil && z.Name == "area" {
		alt, _ := z.Attr("alt")
		l.add(webHref(z), alt, at)
	}
}

// webHref returns the address of the present tag, if it is one of the web.
func webHref(z *htmltoken.Tokenizer) string {
	href, _ := z.Attr("href")
	if address, ok := tidyAddress(href); ok {
		if link, ok := webAddress(address); ok {
			return link
		}
	}
	return ""
}

// anchor begins a link.
func (r *textReader) anchor(e *textElement) {
	if e.href = webHref(&r.z); e.href == "" {
		return
	}
	label := ""
	for _, name := range [...]string{"title", "aria-label"} {
		if v, ok := r.z.Attr(name); ok && label == "" {
			label = v
		}
	}
	r.anchors++
	r.pictures, r.alt = 0, nil
	e.before = r.out.look()
	e.link = r.links.add(e.href, label[:min(len(label), maxLabel)], e.start)
}

// endAnchor ends a link: it writes the address, or takes the label.
func (r *textReader) endAnchor(e *textElement) {
	if r.hidden > 0 || e.hides {
		return
	}
	label := strings.TrimSpace(string(r.out.from(e.start, maxAddress)))
	if r.links != nil && e.link > 0 && r.pictures > 0 {
		r.links.found[e.link-1].Picture = slices.Equal(strings.Fields(label), r.alt)
	}
	switch {
	case r.links != nil:
		if e.link > 0 && label != "" {
			r.links.found[e.link-1].Label = label[:min(len(label), maxLabel)]
		}
		r.out.cut(e.start, e.before)
	case r.addresses != "" && label != "" && !isAddressOf(label, e.href):
		r.out.behind(strings.Replace(r.addresses, "%", e.href, 1))
		r.setApart()
	}
}

// behind writes words behind the last one, even if a line end is to follow that.
func (w *textWriter) behind(s string) {
	pending := w.pendingLines
	w.pendingLines, w.pendingSpace, w.wrote = 0, true, true
	w.words(s)
	if pending > 0 {
		w.pendingLines, w.wrote = pending, false
	}
}

// isAddressOf reports whether the label of a link is its address, so that it need not be repeated.
func isAddressOf(label, href string) bool {
	return strings.Contains(label, href) || strings.EqualFold(bareAddress(label), bareAddress(href))
}

// bareAddress returns an address without its scheme and the slash of an empty path.
func bareAddress(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	return strings.TrimSuffix(s, "/")
}

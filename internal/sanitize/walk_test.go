package sanitize_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
)

// What may be in the output, written down a second time so that a slip in the package's lists is noticed.
var (
	mailElements = words(`a abbr acronym address area article aside b bdi bdo big blockquote br caption center cite code col
		colgroup dd del dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main map mark ol
		p pre q s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr`)
	mailAttributes = words(`align alt background bgcolor border bordercolor cellpadding cellspacing clear color colspan coords dir face height
		href hspace id lang name noshade nowrap rel rowspan shape size span src start style target title type usemap valign value vspace width`)
	noticeElements = words(`a abbr b blockquote br code dd del dl dt em h1 h2 h3 h4 hr i ins kbd li mark ol p pre s small
		strong sub sup table tbody td th thead tr u ul`)
	noticeAttributes = words(`colspan dir href lang rel rowspan start target title type`)

	call = regexp.MustCompile(`([a-z-]*)\(`)
)

func words(s string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// The addresses and classes that may be in the output, for bluemonday.
var (
	safeHref   = regexp.MustCompile(`^(?:https?://[^/\\?#]|mailto:|tel:|#m[a-z2-7]{8}-|/(?:[^/\\]|$))`)
	safeSrc    = regexp.MustCompile(`^(?:https?://[^/\\?#]|data:image/(?:png|jpeg|gif|webp|bmp);base64,)`)
	safeGround = regexp.MustCompile(`^https?://[^/\\?#]`)
	safeName   = regexp.MustCompile(`^m[a-z2-7]{8}-[\pL\pN_.:-]+$`)
	safeClass  = regexp.MustCompile(`^m[a-z2-7]{8}-[0-9]{1,4}(?: m[a-z2-7]{8}-[0-9]{1,4})*$`)

	mailOracle, noticeOracle = oracle(mailElements, mailAttributes), oracle(noticeElements, noticeAttributes)

	// mediaRules are the div with the style element around a mail whose rules hold at some widths only.
	mediaRules = regexp.MustCompile(`^<div class="m[a-z2-7]{8}"><style>[^<]*</style>(?s:(.*))</div>$`)
)

// oracle returns a policy of bluemonday that leaves what the lists allow unchanged.
func oracle(elements, attributes map[string]bool) *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	for name := range elements {
		p.AllowNoAttrs().OnElements(name)
	}
	for name := range attributes {
		switch name {
		case "href":
			p.AllowAttrs(name).Matching(safeHref).OnElements("a", "area")
		case "id", "name":
			p.AllowAttrs(name).Matching(safeName).Globally()
		case "src":
			p.AllowAttrs(name).Matching(safeSrc).OnElements("img")
		case "background":
			p.AllowAttrs(name).Matching(safeGround).Globally()
		case "rel", "target":
			p.AllowAttrs(name).OnElements("a", "area")
		default:
			p.AllowAttrs(name).Globally()
		}
	}
	if elements["img"] {
		p.AllowAttrs("class").Matching(safeClass).Globally()
	}
	return p
}

// faults reads out as a browser would, in a page of its own and inside a container, and lists what must not be there.
func faults(out string, elements, attributes map[string]bool) []string {
	var found []string
	policy, content := noticeOracle, out
	if elements["img"] {
		policy = mailOracle
		if m := mediaRules.FindStringSubmatch(out); m != nil {
			content = m[1]
		}
	}
	if safe := policy.Sanitize(content); safe != content {
		found = append(found, "bluemonday changes it to "+safe)
	}
	for _, page := range []struct{ before, after string }{
		{"<!DOCTYPE html><body>", ""},
		{"<body>", ""}, // quirks mode
		{"<!DOCTYPE html><body><div id=box>", "</div><i id=after></i>"},
		{"<!DOCTYPE html><body><table><tr><td id=box>", "</td><td id=after></td></tr></table>"},
		{"<!DOCTYPE html><body><section><b><div id=box>", "</div><i id=after></i></b></section>"},
	} {
		doc, err := html.Parse(strings.NewReader(page.before + out + page.after))
		if err != nil {
			return append(found, "does not parse: "+err.Error())
		}
		w := walker{elements: elements, attributes: attributes}
		if page.after == "" {
			w.below(body(doc))
			found = append(found, w.faults...)
			continue
		}
		w.container(doc)
		found = append(found, w.faults...)
	}
	return found
}

type walker struct {
	elements, attributes map[string]bool
	faults               []string
}

func (w *walker) say(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// container checks that the box is still closed by its own end tag.
func (w *walker) container(doc *html.Node) {
	box, after := byID(doc, "box"), byID(doc, "after")
	switch {
	case box == nil || after == nil:
		w.say("the container is gone")
	case after.Parent != box.Parent || next(box) != after:
		w.say("the container was closed from within, or left open")
	}
}

func next(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

func byID(n *html.Node, id string) *html.Node {
	for d := range n.Descendants() {
		for _, a := range d.Attr {
			if a.Key == "id" && a.Val == id {
				return d
			}
		}
	}
	return nil
}

func body(doc *html.Node) *html.Node {
	for d := range doc.Descendants() {
		if d.Type == html.ElementNode && d.Data == "body" {
			return d
		}
	}
	return doc
}

func (w *walker) below(n *html.Node) {
	for _, a := range n.Attr {
		w.say("attribute %s on the body", a.Key)
	}
	for d := range n.Descendants() {
		switch d.Type {
		case html.TextNode: // that of a style element is looked at with it
		case html.ElementNode:
			w.element(d)
		default:
			w.say("node of type %d: %q", d.Type, d.Data)
		}
	}
}

func (w *walker) element(n *html.Node) {
	if n.Data == "style" && w.elements["img"] {
		w.sheet(n)
		return
	}
	if n.Namespace != "" || !w.elements[n.Data] {
		w.say("element %s %s", n.Namespace, n.Data)
	}
	values := map[string]string{}
	for _, a := range n.Attr {
		if a.Key == "class" && w.elements["img"] {
			w.class(n, a.Val)
			continue
		}
		if a.Namespace != "" || !w.attributes[a.Key] {
			w.say("attribute %s=%q on %s", a.Key, a.Val, n.Data)
		}
		values[a.Key] = a.Val
		switch a.Key {
		case "href":
			w.link(n, a.Val)
		case "src":
			w.source(n, a.Val)
		case "background":
			if !safeGround.MatchString(a.Val) || strings.ContainsAny(a.Val, `"'()<>\ `) {
				w.say("background from %q", a.Val)
			}
		case "style":
			w.style(a.Val)
		case "rel", "target":
			if n.Data != "a" && n.Data != "area" {
				w.say("%s on %s", a.Key, n.Data)
			}
		case "id", "name":
			if !safeName.MatchString(a.Val) || a.Key == "name" && n.Data != "map" {
				w.say("%s=%q on %s", a.Key, a.Val, n.Data)
			}
		case "usemap":
			if name, ok := strings.CutPrefix(a.Val, "#"); !ok || !safeName.MatchString(name) {
				w.say("usemap=%q on %s", a.Val, n.Data)
			}
		default:
			if strings.ContainsAny(a.Val, "<>") && a.Key != "alt" && a.Key != "title" {
				w.say("%s=%q", a.Key, a.Val)
			}
		}
	}
	if values["href"] != "" && !strings.HasPrefix(values["href"], "#") && (values["rel"] != "noopener noreferrer nofollow" || values["target"] != "_blank") {
		w.say("a link with rel=%q target=%q", values["rel"], values["target"])
	}
}

func (w *walker) link(n *html.Node, v string) {
	u, err := url.Parse(strings.ReplaceAll(v, "%", "%25")) // browsers do not mind broken escapes
	switch {
	case n.Data != "a" && n.Data != "area":
		w.say("href on %s", n.Data)
	case strings.HasPrefix(v, "#") && safeName.MatchString(v[1:]):
	case strings.HasPrefix(v, "mailto:"), strings.HasPrefix(v, "tel:"):
	case strings.HasPrefix(v, "/") && !w.elements["img"] && !strings.HasPrefix(v, "//") && !strings.Contains(v, `\`):
	case !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://"):
		w.say("link to %q", v)
	case err == nil && u.Host == "":
		w.say("link without a host: %q", v)
	}
}

func (w *walker) source(n *html.Node, v string) {
	if n.Data != "img" {
		w.say("src on %s", n.Data)
	}
	if strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") {
		return
	}
	kind, encoded, ok := strings.Cut(v, ";base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	kind = strings.TrimPrefix(kind, "data:")
	if !ok || err != nil || http.DetectContentType(data) != kind || len(data) > 512<<10 ||
		!words("image/png image/jpeg image/gif image/webp image/bmp")[kind] {
		w.say("image from %.60q", v)
	}
}

func (w *walker) style(v string) {
	low := strings.ToLower(v)
	for _, bad := range []string{`\`, "/*", "*/", "@", "{", "}", "<", ">", "!-", "expression", "javascript:", "//"} {
		if strings.Contains(low, bad) {
			w.say("style has %q: %q", bad, v)
		}
	}
	for _, m := range call.FindAllStringSubmatch(low, -1) {
		if !words("rgb rgba hsl hsla linear-gradient radial-gradient")[m[1]] {
			w.say("style calls %s(): %q", m[1], v)
		}
	}
	for decl := range strings.SplitSeq(low, ";") {
		switch name, _, _ := strings.Cut(decl, ":"); {
		case strings.HasPrefix(name, "position"), strings.HasPrefix(name, "z-"), strings.HasPrefix(name, "-"),
			strings.HasPrefix(name, "b") && strings.HasPrefix(name, "beh"), name == "content", name == "cursor",
			name == "filter", name == "mask", name == "src", name == "list-style-image", name == "background-image" && !strings.Contains(decl, "-gradient("),
			strings.HasPrefix(name, "animation"), strings.HasPrefix(name, "transition"), name == "transform":
			w.say("style has property %s: %q", name, v)
		}
	}
}

// check fails the test for each fault of out.
func check(t *testing.T, src, out string, elements, attributes map[string]bool) {
	t.Helper()
	for _, f := range faults(out, elements, attributes) {
		t.Errorf("%s, want none in the output\n in  %.300q\n out %.300q", f, src, out)
	}
}
